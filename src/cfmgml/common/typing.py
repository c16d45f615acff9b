"""Names for what moves through the house."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias, Union

import numpy as np
from numpy.typing import ArrayLike as ArrayLike
from numpy.typing import NDArray

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Array: TypeAlias = NDArray[Any]  # of numbers, truth values or strings: known when it is looked at
IntArray = NDArray[np.int64]
NumberArray = NDArray[np.int32]  # where memory counts
FloatArray = NDArray[np.floating[Any]]
BoolArray = NDArray[np.bool_]
HashArray = NDArray[np.uint64]
NameArray = NDArray[np.str_]
TextArray: TypeAlias = NDArray[Any]  # of numpy's StringDType: strings of any length
Index = int | slice | ArrayLike

Rows: TypeAlias = Union[FloatArray, "csr_array"]  # of shape (n, n_features)
Arrays: TypeAlias = Mapping[str, Array]  # by name, as a file holds them
DType: TypeAlias = np.dtype[np.generic]
Seed: TypeAlias = int | np.random.RandomState | None

# What has no type before somebody has looked at it.
Json: TypeAlias = dict[str, Any]  # an object as json.loads reads it
JsonView: TypeAlias = Mapping[str, Any]  # such an object that is only read
