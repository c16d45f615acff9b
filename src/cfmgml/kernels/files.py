"""A resolved kernel as JSON and arrays, and back: by the names of its class and parameters, never by pickle."""

import uuid

import numpy as np

from cfmgml.common.digests import digest_of
from cfmgml.common.typing import Array, Arrays, Json
from cfmgml.kernels import SAVED_KERNELS, Kernel
from cfmgml.kernels.hashed import MAX_BITS
from cfmgml.kernels.weisfeiler_lehman import MAX_ITER

MAX_KERNELS = 1000  # in a file, parts of sums and products included
MAX_NUMBER = 1e100  # products and sums of such numbers are finite
LATER = {
    "edge_labels": False,
    "min_graphs": 1,
}  # parameters of which files and digests say nothing where they are as they always were
LARGEST = {"n_iter": MAX_ITER, "n_bits": MAX_BITS, "n_attributes_": 10**7, "width_": 10**7}  # counts; else 2^63


def kernel_state(kernel: Kernel, prefix: str = "kernel") -> tuple[Json, dict[str, Array]]:
    """What `kernel_from_state` needs to make the kernel again."""
    name = type(kernel).__name__
    if SAVED_KERNELS.get(name) is not type(kernel):
        raise TypeError(
            f"a model with {kernel!r} cannot be saved: a file holds arrays and numbers, not code. "
            f"Known: {sorted(SAVED_KERNELS)}."
        )
    arrays: dict[str, Array] = {}
    params = {k: v for k, v in kernel.get_params(deep=False).items() if k not in LATER or v != LATER[k]}
    settled = {key: value for key, value in vars(kernel).items() if key.endswith("_")}
    state = {
        "class": name,
        "params": {key: _put(value, f"{prefix}.{key}", arrays) for key, value in params.items()},
        "settled": {key: _put(value, f"{prefix}.{key}", arrays) for key, value in settled.items()},
    }
    return state, arrays


def kernel_digest(kernel: Kernel) -> str:
    """A digest of a kernel as a file describes it, with all that is settled in it and in its parts.

    Kernels with the same digest have the same values. Code has none: a kernel with a function in it gets a digest that
    nothing else ever has, so that nothing is taken for its.

    >>> from cfmgml import NodeSum, SumKernel
    >>> kernel_digest(NodeSum(gamma=1.0)) == kernel_digest(NodeSum(gamma=1.0))
    True
    >>> kernel_digest(SumKernel([NodeSum(gamma=1.0)])) == kernel_digest(SumKernel([NodeSum(gamma=2.0)]))
    False
    """
    try:
        state, arrays = kernel_state(kernel)
    except TypeError:
        return f"unique {uuid.uuid4().hex}"
    return digest_of(arrays, state)


def _put(value: object, name: str, arrays: dict[str, Array]) -> object:
    if isinstance(value, np.ndarray):
        arrays[name] = value
        return {"array": name}
    if isinstance(value, Kernel):
        state, inner = kernel_state(value, name)
        arrays.update(inner)
        return {"kernel": state}
    if isinstance(value, list | tuple):
        return [_put(item, f"{name}.{k}", arrays) for k, item in enumerate(value)]
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise TypeError(f"{name} cannot be saved: it is {value!r}.")


def kernel_from_state(state: Json, arrays: Arrays) -> Kernel:
    """The kernel that `kernel_state` described; counts and numbers that none can have are refused."""
    if (n_kernels := _n_kernels(state)) > MAX_KERNELS:
        raise ValueError(f"the file's kernel has {n_kernels:,} parts, more than {MAX_KERNELS:,}.")
    try:
        return _make(state, arrays)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"the file's kernel cannot be read ({error!r}).") from error


def _make(state: Json, arrays: Arrays) -> Kernel:
    params: Json = {key: _take(key, value, arrays) for key, value in state["params"].items()}
    made = SAVED_KERNELS[state["class"]](**params)
    for key, value in state["settled"].items():
        if not key.endswith("_") or key.startswith("_"):
            raise TypeError(f"settled attribute {key!r}")  # no method may be put out of the way
        setattr(made, key, _take(key, value, arrays))
    return made


def _take(name: str, value: object, arrays: Arrays) -> object:
    if isinstance(value, dict):
        if "array" not in value:
            return _make(value["kernel"], arrays)
        return check_finite(arrays[value["array"]], name)
    if isinstance(value, list):
        return [_take(name, item, arrays) for item in value]
    if isinstance(value, float) and not abs(value) <= MAX_NUMBER:
        raise TypeError(f"{name} must be at most {MAX_NUMBER:g} in size, got {value}")
    if isinstance(value, int) and not -(2**63) <= value <= LARGEST.get(name, 2**63 - 1):
        raise TypeError(f"{name} must be {LARGEST.get(name, 2**63 - 1):,} or less, got {value!s:.30}")
    return value


def check_finite(array: Array, name: str) -> Array:
    """The array, if no number in it is so large, or none at all, that what is computed from it is not finite."""
    least, most = (float(array.min(initial=0)), float(array.max(initial=0))) if array.dtype.kind == "f" else (0, 0)
    if not -MAX_NUMBER <= least <= most <= MAX_NUMBER:  # not so for NaN
        raise TypeError(f"{name} must hold finite numbers, at most {MAX_NUMBER:g} in size")
    return array


def _n_kernels(state: object) -> int:
    if isinstance(state, dict):
        return ("class" in state) + sum(map(_n_kernels, state.values()))
    return sum(map(_n_kernels, state)) if isinstance(state, list) else 0
