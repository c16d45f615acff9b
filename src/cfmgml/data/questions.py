"""One input, as somebody sends it to a server, and what a builder makes of it."""

from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

import numpy as np

if TYPE_CHECKING:
    from cfmgml.data.bags import BagDataset

MOST_LETTERS = 24  # of a node's name that is shown
Route = Literal["image", "text", "graphs", "file"]


class Refused(Exception):
    """An input that is turned away: a status, a short code for programs, and a reason for people.

    ``retry_after`` is in how many seconds it is worth another try, where that is known.
    """

    def __init__(self, status: int, code: str, reason: str, retry_after: int | None = None) -> None:
        super().__init__(reason)
        self.status = status
        self.code = code
        self.reason = reason
        self.headers = {} if retry_after is None else {"Retry-After": str(retry_after)}

    def to_json(self) -> dict[str, str]:
        return {"error": self.code, "reason": self.reason}


class InputLimits(Protocol):
    """What one input may have at most."""

    @property
    def pixels(self) -> int: ...
    @property
    def side(self) -> int: ...
    @property
    def characters(self) -> int: ...
    @property
    def texts(self) -> int: ...
    @property
    def nodes(self) -> int: ...
    @property
    def edges(self) -> int: ...
    @property
    def regions(self) -> int: ...


class Form(NamedTuple):
    """What a page asks for.

    >>> Form("text", "Notes, such as C D E | G G").route
    'text'
    """

    route: Route  # where it is sent to, and so what it is: an image's bytes, a text, graphs as JSON, a file's bytes
    title: str  # over the field
    plain: bool = False  # pictures are shown pixel by pixel, with a name under each part


class Question(NamedTuple):
    """What was sent: bytes, or a text or several."""

    content: bytes | str | list[str]
    regions: int | None = None  # the most parts that a picture should be cut into; None: as in training
    drawn: str | None = None  # the label that a drawing of it is about; None: the best


class Reply(NamedTuple):
    """One bag, and what to say of where its graphs and nodes lie."""

    bag: "BagDataset"
    graphs: list[dict[str, Any]]  # an entry a graph
    shown: dict[str, Any]  # "picture" or "texts"
    drawn: bool = False  # whether its builder's drawing goes with it


def nodes_as_words(bag: "BagDataset") -> list[dict[str, Any]]:
    """Each graph's nodes in a row as words, so that they can be marked."""
    graphs, rows = bag.graphs, []
    names = graphs.node_names if graphs.node_names is not None else graphs.node_labels
    for number, (start, stop) in enumerate(
        zip(graphs.node_ptr[:-1].tolist(), graphs.node_ptr[1:].tolist(), strict=True)
    ):
        words = [_short(str(node - start) if names is None else str(names[node])) for node in range(start, stop)]
        ends = np.cumsum([0, *(len(word) + 1 for word in words)]).tolist()
        marks = [[end, end + len(word), start + k] for k, (end, word) in enumerate(zip(ends, words, strict=False))]
        rows.append({"graph": number, "text": " ".join(words), "marks": marks})
    return rows


def _short(name: str) -> str:
    return name if len(name) <= MOST_LETTERS else f"{name[: MOST_LETTERS - 1]}…"
