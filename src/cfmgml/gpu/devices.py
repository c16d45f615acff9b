"""Where torch computes: names of devices, and clear words where there is none."""

import importlib.util
from typing import Any

ON_NUMPY = "cpu"
KNOWN = "'cpu', 'cuda', 'cuda:0' (or another card's number) or 'torch:cpu'"


def torch_device(device: str) -> Any:
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
    torch = import_torch(device)
    if device == "torch:cpu":
        return torch.device("cpu")
    n_cards = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if int(number or 0) >= n_cards:
        raise ValueError(f"device={device!r} needs an NVIDIA card, and torch sees {n_cards}; use device='cpu'.")
    return torch.device(device)


def import_torch(device: str) -> Any:
    try:
        import torch
    except ImportError as error:
        raise ImportError(f"device={device!r} needs torch: pip install 'cfmgml[gpu]', or use device='cpu'.") from error
    return torch


def check_device(device: str) -> None:
    """Raise unless this device is here."""
    if device != ON_NUMPY:
        torch_device(device)


def has_triton() -> bool:
    return importlib.util.find_spec("triton") is not None
