"""A text that was sent: its sentences, and where its keywords stand."""

from typing import TYPE_CHECKING, Any

from cfmgml.builders.base import part_names
from cfmgml.builders.texts.keyword_graphs import find_nodes
from cfmgml.builders.texts.keywords import Spelling, normal_form
from cfmgml.data.bags import BagDataset
from cfmgml.data.questions import InputLimits, Refused, Reply

if TYPE_CHECKING:
    from cfmgml.builders.texts.builder import TextBuilder


def answer_text(texts: str | list[str], builder: "TextBuilder", limits: InputLimits) -> Reply:
    """The sentences of a text, or the texts given, each with the places of its keywords."""
    _check_length(len(texts) if isinstance(texts, str) else sum(map(len, texts)), limits)
    parts = builder.split(texts) if isinstance(texts, str) else texts
    if any("\ud800" <= letter <= "\udfff" for part in parts for letter in part):
        raise Refused(422, "bad_text", "The text holds half of a surrogate pair, which is no character.")
    if not any(part.strip() for part in parts):
        raise Refused(422, "no_text", "There is no text.")
    if len(parts) > limits.texts:
        reason = f"The text has {len(parts):,} sentences; {limits.texts:,} are the most."
        raise Refused(413, "too_many_graphs", reason)
    n_normal = sum(len(normal_form(part)) for part in parts)
    _check_length(n_normal, limits, " in Unicode's normal form")  # where one can become 18
    bag = builder.rebuild([parts])
    shown = [_marked(part, bag, k, builder.spelling) for k, part in enumerate(parts)]
    whole = bag.n_graphs == 1 and len(parts) > 1
    return Reply(bag, [{"name": "text"}] if whole else part_names(bag, builder.part), {"texts": shown})


def _check_length(n_characters: int, limits: InputLimits, where: str = "") -> None:
    if n_characters > limits.characters:
        reason = f"The text has {n_characters:,} characters{where}; {limits.characters:,} are the most."
        raise Refused(413, "text_too_long", reason)


def _marked(text: str, bag: BagDataset, number: int, spelling: Spelling) -> dict[str, Any]:
    graph = number if bag.n_graphs > 1 else 0
    start, stop = bag.graphs.node_ptr[graph : graph + 2].tolist()
    assert bag.graphs.node_labels is not None
    nodes = find_nodes(text, bag.graphs.node_labels[start:stop], spelling)
    return {"graph": graph, "text": text, "marks": [[word.start, word.stop, start + node] for word, node in nodes]}
