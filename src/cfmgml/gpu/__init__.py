"""The same Gram matrices and the same training in torch, on a graphics card or on torch's CPU.

Modules here need numpy and torch only (and Triton, which torch brings along for cards); `gram` alone knows the kernels.
"""
