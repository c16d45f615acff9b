"""``cfmgml serve``: a model in the browser."""

from pathlib import Path
from typing import Annotated

import typer

from cfmgml.cli._options import Device, DType, NJobs, check_compute

HELP = (
    "Show a model in the browser: drop a picture or paste a text, and see its regions or sentences labelled.\n\n"
    "Only this machine can reach it unless --host says otherwise. Stop it with Ctrl-C.\n\n\b\nExamples:\n"
    "  cfmgml serve photos.cfmgml\n  cfmgml serve photos.cfmgml --samples new --port 9000\n"
    "  cfmgml serve photos.cfmgml --allow-host models.example"
)
Host = Annotated[str, typer.Option(help="Address to listen on; 127.0.0.1 is this machine only.")]
AllowHost = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME", help="Name by which it may be asked, as behind a proxy; may be given several times."),
]
Port = Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0 takes a free one.")]


def serve(
    model_file: Annotated[Path, typer.Argument(metavar="MODEL.cfmgml", help="A model that train wrote.")],
    host: Host = "127.0.0.1",
    port: Port = 8000,
    allow_host: AllowHost = None,
    samples: Annotated[
        list[Path] | None,
        typer.Option(help="File or folder of inputs that the page offers to try; may be given several times."),
    ] = None,
    device: Device = None,
    dtype: DType = None,
    n_jobs: NJobs = None,
) -> None:
    from joblib import effective_n_jobs

    from cfmgml import web

    check_compute(device, dtype)
    limits = None if n_jobs is None else web.Limits(workers=effective_n_jobs(n_jobs))
    web.serve(
        model_file,
        host=host,
        port=port,
        limits=limits,
        allow_hosts=allow_host or (),
        device=device,
        dtype=dtype,
        samples=samples or (),
    )
