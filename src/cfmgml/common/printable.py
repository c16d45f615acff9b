"""What a terminal may be shown: `printable`, and the streams and console through which everything printed passes it.

A label, a file's name or somebody's message may hold escape sequences, which tell a terminal to do things, or
characters that turn the rest of a line around (U+202E). They are shown as JSON would write them:

>>> print(printable("cow\\x1b[2J\\u202e"))
cow\\u001b[2J\\u202e
"""

import contextlib
import json
import sys
import traceback
import unicodedata
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType

LINES = "\n\t"
JOINERS = "\u200c\u200d"  # without them Persian and Indic words and many emoji are written wrongly


def printable(text: str, kept: str = "") -> str:
    """The text with all that is not there to be seen escaped, but for the characters ``kept``.

    Control characters (newlines too), formatting characters and unpaired surrogates are escaped as in JSON, so JSON
    stays the JSON it was.
    """
    if text.isprintable():
        return text
    kept += JOINERS
    seen = (c.isprintable() or c in kept or unicodedata.category(c) == "Zs" for c in text)
    return "".join(c if is_seen else json.dumps(c)[1:-1] for c, is_seen in zip(text, seen, strict=True))


class Screen:
    """A stream that writes to another, ``unscreened``, and lets nothing through that is not `printable`."""

    def __init__(self, stream: TextIO) -> None:
        self.unscreened = stream

    def write(self, text: str) -> int:
        self.unscreened.write(printable(text, LINES))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> object:
        return getattr(self.unscreened, name)


def unscreened(stream: TextIO) -> TextIO:
    """The stream itself, for what must arrive as it is."""
    return getattr(stream, "unscreened", stream)


@contextlib.contextmanager
def screened() -> Iterator[None]:
    """Screen all that is written to stdout and stderr, and the traceback of an error that nobody catches."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = Screen(before[0]), Screen(before[1])
    try:
        yield
    except Exception:
        sys.excepthook = _show_traceback  # Python calls it when all else has ended
        raise
    finally:
        sys.stdout, sys.stderr = before


def _show_traceback(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    Screen(sys.stderr).writelines(traceback.format_exception(kind, error, trace))


def screened_console(stream: TextIO) -> "Console":
    """A rich console on a stream: what it renders is `printable`, its own colours and movements pass."""
    from rich.console import Console
    from rich.segment import Segment

    class Screened(Console):
        def render(self, renderable: "RenderableType", options: "ConsoleOptions | None" = None) -> Iterator[Segment]:
            for text, style, control in super().render(renderable, options):
                plain = None if style is None else style.update_link(None)  # an address is not seen
                yield Segment(text, style, control) if control else Segment(printable(text, LINES), plain)

    return Screened(file=unscreened(stream))
