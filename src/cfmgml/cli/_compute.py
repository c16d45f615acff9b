"""``--device``, ``--dtype`` and ``--n-jobs``: said once, for train, predict, evaluate and serve."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from cfmgml.model.cfmgml import CfMGML

Device = Annotated[
    str | None,
    typer.Option(metavar="cpu|cuda|cuda:N", help="Where kernel values are computed.", show_default="cpu"),
]
DType = Annotated[
    str | None,
    typer.Option("--dtype", metavar="float64|float32|tf32", help="Precision of kernel values; tf32 is for a card."),
]
NJobs = Annotated[
    int | None,
    typer.Option(
        "--n-jobs", help="Threads that compute kernel values; processes where there are some. -1 for one a core."
    ),
]


def check_compute(device: str | None, dtype: str | None) -> None:
    """Refuse a device that is not here, and what is no precision, before any work."""
    from cfmgml.common.compute import Compute

    try:
        Compute(dtype or "float64", device or "cpu")
    except TypeError:
        raise typer.BadParameter(f"--dtype must be float64, float32 or tf32, got {dtype!r}.") from None


def load_model(path: Path, device: str | None, dtype: str | None, n_jobs: int | None) -> "CfMGML":
    """A model that computes as it is told to, or as it did when it was trained."""
    from cfmgml.model.cfmgml import CfMGML

    check_compute(device, dtype)
    return CfMGML.load(path).compute_with(dtype=dtype, device=device, n_jobs=n_jobs)
