"""Options that several commands have: where and how to compute, and those that are for stores only."""

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
DaskAddress = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS", help="For a store: work on a Dask cluster, by its scheduler's address (tcp://HOST:8786)."
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


def only_for(what: str, **given: object) -> None:
    """Refuse options that were given and are for something else than the input is; --device cpu never is."""
    for name, value in given.items():
        if value is not None and value is not False and value != "cpu":
            raise typer.BadParameter(f"--{name.replace('_', '-')} is for {what}.")


def engine_of(dask: str | None, n_jobs: int | None, device: str = "cpu") -> str:
    """Local processes, or this one if there is to be one only, or a cluster; a card is one process's."""
    if device != "cpu":
        jobs = None if n_jobs == 1 else n_jobs
        only_for(f"device cpu; on {device} one process goes through a store", dask=dask, n_jobs=jobs)
        return "inline"
    if dask is None:
        return "inline" if n_jobs == 1 else "joblib"
    if "://" not in dask:
        raise typer.BadParameter(f"--dask must be the address of a scheduler such as tcp://HOST:8786, got {dask!r}.")
    return dask
