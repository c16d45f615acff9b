"""Molecules as bags of fragments, or mixtures as bags of molecules, each a graph of atoms."""
