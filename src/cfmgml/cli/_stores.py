"""What commands share for stores: options that are for them only, and where the work is done."""

from typing import Annotated

import typer

DaskAddress = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS", help="For a store: work on a Dask cluster, by its scheduler's address (tcp://HOST:8786)."
    ),
]


def only_for(what: str, **given: object) -> None:
    """Refuse options that were given and are for something else than the input is."""
    for name, value in given.items():
        if value is not None and value is not False:
            raise typer.BadParameter(f"--{name.replace('_', '-')} is for {what}.")


def engine_of(dask: str | None, n_jobs: int | None, device: str = "cpu") -> str:
    """Local processes, or this one if there is to be one only, or a cluster; a card is one process's."""
    if device != "cpu":
        only_for(
            f"device cpu; on {device} one process goes through a store",
            dask=dask,
            n_jobs=n_jobs if n_jobs != 1 else None,
        )
        return "inline"
    if dask is None:
        return "inline" if n_jobs == 1 else "joblib"
    if "://" not in dask:
        raise typer.BadParameter(f"--dask must be the address of a scheduler such as tcp://HOST:8786, got {dask!r}.")
    return dask
