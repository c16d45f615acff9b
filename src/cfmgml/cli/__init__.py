"""The command line: it parses, calls and shows, and computes nothing.

Results go to stdout, everything else to stderr. Exit status: 0 done, 1 failed, 2 wrong usage, 130 stopped by Ctrl-C
(143 by SIGTERM). Each command is a module here, with a function of its name and its HELP.
"""

import contextlib
import importlib
import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterator, Sequence
from types import FrameType
from typing import Annotated

import typer
from typer.core import TyperGroup

from cfmgml.cli._console import say, show
from cfmgml.common.printable import screened

COMMANDS = {  # in the order in which one needs them, each with a line for the list; None: its help's first sentence
    "demo": "Learn handwritten digits, compare methods, write a page.",
    "build": "Make a file of bags from pictures, texts, graphs, ...",
    "train": None,
    "predict": "Predict labels of bags, of their graphs, of nodes.",
    "evaluate": "Compare methods on your own bags by cross-validation.",
    "inspect": "Say what is in a data set, a store or a model.",
    "serve": "Show a model in the browser.",
    "reproduce": "Run the paper's experiments: tables and a report.",
    "bench": "Measure this library against its peers, from a clone.",
}
INTERRUPTED = 130
TERMINATED = 143


class InOrder(TyperGroup):
    """Lists commands in the order in which one needs them."""

    def list_commands(self, ctx: object) -> list[str]:
        return [name for name in COMMANDS if name in self.commands]


app = typer.Typer(
    name="cfmgml",
    cls=InOrder,
    help="Learn from bags of graphs with several labels; predict labels for the bag and for every graph in it.\n\n"
    "\b\nYour own pictures, from a folder to labelled regions:\n"
    "  cfmgml build images photos --labels labels.csv -o photos.bags\n"
    "  cfmgml train photos.bags -o photos.cfmgml\n"
    "  cfmgml predict photos.cfmgml new --level graph -o regions.csv",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; what goes wrong becomes one line on stderr and an exit status."""
    with screened(), _one_line_warnings(), _terminable():
        try:
            status = app(args=None if arguments is None else list(arguments), prog_name="cfmgml", standalone_mode=False)
        except (KeyboardInterrupt, typer.Abort):
            status = INTERRUPTED
        except BrokenPipeError:  # the reader, such as `head`, has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python complains when it flushes
            return 1
        except (ValueError, OSError, ImportError, MemoryError) as error:
            return _fail(str(error) or type(error).__name__)
        except Exception as error:
            # typer brings its own click or uses the installed one, by version: know its errors by what they can do.
            if not hasattr(error, "format_message"):
                raise
            if (
                type(error).__name__ == "NoArgsIsHelpError"
            ):  # commands without one of them: what there is to choose from
                for line in error.format_message().splitlines():
                    say(line)
                return 2
            asked = getattr(getattr(error, "ctx", None), "command_path", "cfmgml")
            said = error.format_message().replace("Value error, ", "").rstrip(".")
            return _fail(f"{said}. Try: {asked} --help", getattr(error, "exit_code", 2))
    if status == INTERRUPTED:  # newer typers return it, older ones raise
        return _fail("stopped.", INTERRUPTED)
    return status if isinstance(status, int) else 0


def _fail(message: str, status: int = 1) -> int:
    say(f"cfmgml: {' '.join(message.split())}")
    return status


@contextlib.contextmanager
def _one_line_warnings() -> Iterator[None]:
    """What the library warns users of, as a line on stderr without the place in the code."""

    def show(message: Warning | str, *where: object, **more: object) -> None:
        say(f"cfmgml: {message}")

    with warnings.catch_warnings():
        warnings.filterwarnings("always", category=UserWarning, module=r"cfmgml(\.|$)")
        warnings.showwarning = show
        yield


@contextlib.contextmanager
def _terminable() -> Iterator[None]:
    """Let SIGTERM unwind like Ctrl-C, so that a file being written is cleaned up."""
    if threading.current_thread() is not threading.main_thread():  # signals are the main thread's
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        raise SystemExit(TERMINATED)

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _print_version(wanted: bool) -> None:
    if wanted:
        from cfmgml import __version__

        show(f"cfmgml {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _front_door(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        show(context.get_help())


for _name, _line in COMMANDS.items():
    _module = importlib.import_module(f"cfmgml.cli.{_name}")
    if _name == "build":
        app.add_typer(_module.build, short_help=_line)
    else:
        _kind = getattr(_module, "Command", None)
        app.command(_name, cls=_kind, help=_module.HELP, short_help=_line)(getattr(_module, _name))
