"""What a user should know of the bags just built, kept in their ``info``: `with_remarks`, `remarks`.

Rows of a table that are about nothing, labels that are written in two ways, and graphs that are in several bags.
"""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import Any

from cfmgml.bags import BagDataset
from cfmgml.datasets._contents import same_graphs
from cfmgml.datasets._overlap import overlap_summary

SHOWN = 20  # names that are kept of many


def with_remarks(bags: BagDataset, source: str = "", unmatched: Sequence[str] = ()) -> BagDataset:
    """The bags with what there is to remark in ``info``; what is wrong with labels is warned of, too.

    ``unmatched`` are the rows of the table ``source`` that are about nothing. Folders are not kept, as nowhere in
    ``info``.
    """
    told: dict[str, Any] = {"overlap": overlap_summary(same_graphs(bags), bags.bag_ptr)}
    if unmatched:
        names = [PurePath(name).name for name in unmatched[:SHOWN]]
        told["unmatched_rows"] = {"table": PurePath(source).name, "n_rows": len(unmatched), "names": names}
    alike = alike_labels([] if bags.label_names is None else bags.label_names.tolist())
    if alike:
        told["alike_labels"] = alike
    for words in label_remarks(told):
        warnings.warn(words, stacklevel=3)
    return replace(bags, info={**bags.info, **told})


def alike_labels(names: Sequence[str]) -> list[list[str]]:
    """Labels that differ only in case or spaces.

    >>> alike_labels(["Cow", "cow", "sky", "polar bear", "polarbear"])
    [['Cow', 'cow'], ['polar bear', 'polarbear']]
    """
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault("".join(name.casefold().split()), []).append(name)
    return [group for group in groups.values() if len(group) > 1]


def label_remarks(info: Mapping[str, Any]) -> list[str]:
    """What ``info`` has to say on labels, in words."""
    rows = info.get("unmatched_rows")
    return [
        *([f"{_rows(rows)}: {_few(rows['names'], rows['n_rows'])}."] if rows else []),
        *(
            f"the labels {' and '.join(map(repr, group))} differ only in case or spaces, and count as different."
            for group in info.get("alike_labels", ())
        ),
    ]


def _rows(rows: Mapping[str, Any]) -> str:
    n = rows["n_rows"]
    nouns, verb = ("row", "is") if n == 1 else ("rows", "are")
    return f"{n:,} {nouns} of {rows['table']} {verb} about nothing that was read"


def overlap_remark(info: Mapping[str, Any]) -> str | None:
    """What ``info`` has to say on graphs that are in several bags."""
    overlap = info.get("overlap")
    if not overlap or not overlap["n_shared_graphs"]:
        return None
    return (
        f"{overlap['n_graphs']:,} graphs are {overlap['n_distinct_graphs']:,} different ones, of which "
        f"{overlap['n_shared_graphs']:,} in several bags: folds over bags would test what they train on; "
        "cfmgml evaluate --apart keeps them apart."
    )


def _few(names: Sequence[str], n: int) -> str:
    shown = ", ".join(map(repr, names[:3]))
    return f"{shown}, ..." if n > 3 else shown
