"""`Compute`: in which numbers, where and with how many threads kernel values are computed, and whether it is shown."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import DTypeLike

from cfmgml.common.extras import missing_extra
from cfmgml.common.numbers import check_number

if TYPE_CHECKING:
    import torch

ON_NUMPY = "cpu"
KNOWN = "'cpu', 'cuda', 'cuda:0' (or another card's number) or 'torch:cpu'"


@dataclass(frozen=True)
class Compute:
    """From a model's parameters down to tiles; what cannot be done here is refused when it is made.

    >>> Compute(dtype="int8")
    Traceback (most recent call last):
    ValueError: dtype must be float32 or float64, got int8.
    """

    dtype: DTypeLike = "float64"  # float64, float32, or "tf32": float32 numbers from fewer bits, on a card
    device: str = ON_NUMPY
    n_jobs: int | None = None
    verbose: bool = False

    def __post_init__(self) -> None:
        if not self.on_numpy:
            torch_device(self.device)
        if self.precision == "tf32" and self.on_numpy:
            raise ValueError("dtype='tf32' is for a card: use device='cuda', or dtype='float32'.")
        if self.precision not in ("float64", "float32", "tf32"):
            raise ValueError(f"dtype must be float32 or float64, got {self.precision}.")
        if self.n_jobs is not None:
            check_number(self.n_jobs, "n_jobs", whole=True)
            if self.n_jobs == 0:
                raise ValueError("n_jobs must be None, a number of threads, or negative as in joblib; got 0.")

    @property
    def on_numpy(self) -> bool:
        return self.device == ON_NUMPY

    @cached_property
    def precision(self) -> str:
        return "tf32" if isinstance(self.dtype, str) and self.dtype == "tf32" else np.dtype(self.dtype).name

    @property
    def numbers(self) -> "np.dtype[np.float32] | np.dtype[np.float64]":
        """The type of the numbers that come out."""
        return np.dtype(np.float64) if self.precision == "float64" else np.dtype(np.float32)

    @property
    def place(self) -> "torch.device":
        return torch_device(self.device)

    @property
    def quiet(self) -> "Compute":
        return replace(self, verbose=False) if self.verbose else self


def torch_device(device: str) -> "torch.device":
    """The `torch.device` that a name stands for.

    ``"cuda"`` is an NVIDIA card; ``"torch:cpu"`` runs what the card would run on torch's CPU.

    >>> torch_device("tpu")
    Traceback (most recent call last):
    ...
    ValueError: device must be 'cpu', 'cuda', 'cuda:0' (or another card's number) or 'torch:cpu', got 'tpu'.
    """
    name, _, number = str(device).partition(":")
    if not ((name == "cuda" and (number.isdigit() or device == "cuda")) or device == "torch:cpu"):
        raise ValueError(f"device must be {KNOWN}, got {device!r}.")
    try:
        import torch
    except ImportError as error:
        raise ImportError(missing_extra(f"device={device!r} needs torch, device='cpu' does not", "gpu")) from error
    if device == "torch:cpu":
        return torch.device("cpu")
    n_cards = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if int(number or 0) >= n_cards:
        raise ValueError(f"device={device!r} needs an NVIDIA card, and torch sees {n_cards}; use device='cpu'.")
    return torch.device(device)


USUAL = Compute()
