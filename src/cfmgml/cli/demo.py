"""``cfmgml demo``: handwritten digits, as a table and a page."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cfmgml.cli._console import say
from cfmgml.cli.serve import AllowHost, Host, Port
from cfmgml.common.printable import screened_console

if TYPE_CHECKING:
    from rich.table import Table

    from cfmgml.demo.digits import DemoResult

QUICK = 150, 60  # bags to train and to test
HELP = (
    "Train on bags of handwritten digits, compare with other methods, and write a page about it.\n\n"
    "Only the labels of bags are learned from; the table measures bags and single digits."
    "\n\n\b\nExamples:\n  cfmgml demo\n  cfmgml demo --quick --out demo.html\n  cfmgml demo --n-train 300 --seed 1\n"
    "  cfmgml demo --serve"
)


def demo(
    out: Annotated[Path, typer.Option(help="The page to write.")] = Path("out/demo.html"),
    n_train: Annotated[
        int | None, typer.Option(min=1, help="Bags to learn from.", show_default=f"600, or {QUICK[0]} with --quick")
    ] = None,
    n_test: Annotated[
        int | None, typer.Option(min=1, help="Bags to measure on.", show_default=f"200, or {QUICK[1]} with --quick")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Which bags are drawn.")] = 0,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer bags: a few seconds.")] = False,
    in_browser: Annotated[
        bool, typer.Option("--serve", help="Instead, show models of digits, photos and texts in the browser.")
    ] = False,
    host: Host = "127.0.0.1",
    port: Port = 8000,
    allow_host: AllowHost = None,
) -> None:
    if in_browser:
        _serve(host, port, allow_host or [])
        return
    sizes = QUICK if quick else (600, 200)
    n_train, n_test = n_train or sizes[0], n_test or sizes[1]
    if out.is_dir():
        raise ValueError(f"--out must be a file, and {out} is a folder: try --out {out / 'demo.html'}.")
    out.parent.mkdir(parents=True, exist_ok=True)  # before the work, so that a bad path fails now
    say(f"Drawing {n_train} bags to train and {n_test} to test.")

    from cfmgml.demo.digits import run_demo
    from cfmgml.demo.page import write_page

    with screened_console(sys.stderr).status("") as status:
        result = run_demo(n_train, n_test, seed, on_stage=lambda stage: status.update(f"{stage} ..."))
    screened_console(sys.stdout).print(_table(result))
    command = f"cfmgml demo --n-train {n_train} --n-test {n_test} --seed {seed}"
    write_page(result, out, command)
    say(f"Wrote {out} in {result.seconds:.0f} s. Open it in a browser.")


def _serve(host: str, port: int, allow_host: list[str]) -> None:
    from cfmgml.web.app import import_fastapi
    from cfmgml.web.server import run_server

    import_fastapi()  # before the work, so that a missing library fails now
    from cfmgml.demo.models import demo_exhibits

    say("cfmgml: Training small models, on handwritten digits, on photos and on texts, the first time ...")
    run_server(demo_exhibits(), host, port, None, allow_host)


def _table(result: "DemoResult") -> "Table":
    from rich.table import Table

    from cfmgml.demo.digits import MEASURES, best_methods

    table = Table(
        title=f"{result.n_test} test bags, {result.n_digits} digits; learned from {result.n_train} bags",
        caption="Bold: best of those that see bag labels only. SVM sees every graph's: the ceiling.",
    )
    table.add_column("measure", no_wrap=True)
    for method in result.methods:
        table.add_column(method.name, justify="right")
    for level in ("bag", "graph"):
        table.add_row(f"[italic]{level}s[/]", *[""] * len(result.methods))
        for measure in (m for m in MEASURES if m.level == level):
            best = best_methods(result, measure)
            cells = [(method.format(measure), method.name in best) for method in result.methods]
            bold = [f"[bold]{text}[/]" if is_best else text for text, is_best in cells]
            table.add_row(f"  {measure.title} {measure.arrow}", *bold)
        table.add_section()
    table.add_row("seconds to fit", *[f"{method.seconds:.1f}" for method in result.methods])
    return table
