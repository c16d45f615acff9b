"""What a user should know of the bags just built, kept in their ``info``: `with_remarks`, `remarks`.

Rows of a table that are about nothing, labels that are written in two ways, and graphs that are in several bags.
"""

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import PurePath

import numpy as np

from cfmgml.common.segments import lengths, offsets
from cfmgml.common.typing import HashArray, IntArray, Json, JsonView
from cfmgml.data.bags import BagDataset
from cfmgml.data.overlap import overlap_summary
from cfmgml.reading.contents import content_digests, numbered, same_graphs
from cfmgml.reading.matching import RowMatch

SHOWN = 20  # names that are kept of many


def with_remarks(bags: BagDataset, matched: RowMatch) -> BagDataset:
    """The bags with what there is to remark in ``info``; what is wrong with labels is warned of, too."""
    told = {"overlap": overlap_summary(same_graphs(bags), bags.bag_ptr), **remark_labels(bags.label_names, matched)}
    return replace(bags, info={**bags.info, **told})


def remark_labels(label_names: Iterable[str] | None, matched: RowMatch) -> Json:
    """What ``info`` should say of labels; it is warned of, too. Folders are not kept, as nowhere in ``info``."""
    told: Json = {}
    if matched.unmatched:
        names = [PurePath(name).name for name in matched.unmatched[:SHOWN]]
        about = {"table": PurePath(matched.source).name, "n_rows": len(matched.unmatched), "names": names}
        told["unmatched_rows"] = about
    alike = alike_labels([] if label_names is None else [str(name) for name in label_names])
    if alike:
        told["alike_labels"] = alike
    for words in label_remarks(told):
        warnings.warn(words, stacklevel=4)
    return told


class RepeatedGraphs:
    """Finds graphs that are in several bags while bags go by: eight bytes are kept of a graph."""

    def __init__(self) -> None:
        self._pieces: list[tuple[IntArray, IntArray, HashArray]] = []  # inputs and sizes of bags, digests of graphs

    def add(self, bags: BagDataset, inputs: IntArray) -> None:
        self._pieces.append((inputs, lengths(bags.bag_ptr), content_digests(bags)))

    def report(self, start: int, stop: int) -> list[list[int]]:
        """What to `recall` of the bags of these inputs, as JSON can hold it."""
        chosen = [(inputs >= start) & (inputs < stop) for inputs, _, _ in self._pieces]
        kept = [
            (inputs[mask], sizes[mask], digests[np.repeat(mask, sizes)])
            for mask, (inputs, sizes, digests) in zip(chosen, self._pieces, strict=True)
            if mask.any()
        ]
        return [np.concatenate(parts).tolist() for parts in zip(*kept, strict=True)]

    def recall(self, report: list[list[int]]) -> None:
        inputs, sizes, digests = report
        self._pieces.append((np.array(inputs), np.array(sizes), np.array(digests, dtype=np.uint64)))

    def summary(self) -> Json:
        """As ``info["overlap"]`` has it."""
        _, sizes, digests = (np.concatenate(parts) for parts in zip(*self._pieces, strict=True))
        return overlap_summary(numbered(digests), offsets(sizes))


def alike_labels(names: Sequence[str]) -> list[list[str]]:
    """Labels that differ only in case or spaces.

    >>> alike_labels(["Cow", "cow", "sky", "polar bear", "polarbear"])
    [['Cow', 'cow'], ['polar bear', 'polarbear']]
    """
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault("".join(name.casefold().split()), []).append(name)
    return [group for group in groups.values() if len(group) > 1]


def label_remarks(info: JsonView) -> list[str]:
    """What ``info`` has to say on labels, in words."""
    remarks = [
        f"the labels {' and '.join(map(repr, group))} differ only in case or spaces, and count as different."
        for group in info.get("alike_labels", ())
    ]
    rows = info.get("unmatched_rows")
    if not rows:
        return remarks
    n, shown = rows["n_rows"], ", ".join(map(repr, rows["names"][:3]))
    nouns, verb = ("row", "is") if n == 1 else ("rows", "are")
    told = f"{n:,} {nouns} of {rows['table']} {verb} about nothing that was read: {shown}{', ...' if n > 3 else ''}."
    return [told, *remarks]


def overlap_remark(info: JsonView) -> str | None:
    """What ``info`` has to say on graphs that are in several bags."""
    overlap = info.get("overlap")
    if not overlap or not overlap["n_shared_graphs"]:
        return None
    return (
        f"{overlap['n_graphs']:,} graphs are {overlap['n_distinct_graphs']:,} different ones, of which "
        f"{overlap['n_shared_graphs']:,} in several bags: folds over bags would test what they train on; "
        "cfmgml evaluate --apart keeps them apart."
    )


def blank_remark(info: JsonView) -> str | None:
    """What ``info`` has to say on texts without words.

    >>> blank_remark({"n_without_keywords": 1})
    '1 text has no words, or stop words only: all that a model can say of it is what it says of nothing.'
    """
    n = info.get("n_without_keywords", 0)
    if not n:
        return None
    nouns, one = ("text has", "it") if n == 1 else ("texts have", "them")
    return f"{n:,} {nouns} no words, or stop words only: all that a model can say of {one} is what it says of nothing."
