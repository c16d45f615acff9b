"""Names for the arrays that move through the house."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

IntArray = NDArray[np.int64]
NumberArray = NDArray[np.int32]  # where memory counts
FloatArray = NDArray[np.floating[Any]]
BoolArray = NDArray[np.bool_]
HashArray = NDArray[np.uint64]
NameArray = NDArray[np.str_]
AnyArray = NDArray[Any]
Index = int | slice | ArrayLike
Rows: TypeAlias = Any  # an array or a scipy.sparse.csr_array, of shape (n, n_features)

__all__ = ["AnyArray", "ArrayLike", "BoolArray", "FloatArray", "HashArray", "Index", "IntArray", "NameArray"]
__all__ += ["NumberArray", "Rows"]
