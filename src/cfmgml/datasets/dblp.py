"""DBLP with abstracts: a paper and its references are a bag, each abstract a graph."""

import re
from pathlib import Path
from typing import Literal

from cfmgml.common.cache import cached
from cfmgml.common.typing import Json
from cfmgml.data.bags import BagDataset
from cfmgml.datasets._locate import find_data
from cfmgml.datasets._records import Record, bags_of_papers, cache_key, read_records, with_references

FILE = "papers.jsonl.gz"
VENUES = ("cikm", "icml", "kdd", "mm", "pods", "sigmod", "uai", "vldb")  # the rest have 56 abstracts or fewer
INFO = {
    "name": "DBLP with abstracts",
    "description": "Papers with their references (bags) by abstract (graphs), labelled by topic, venue or field.",
    "source": "DBLP citations and ACM abstracts; repositories shiruipan/TriDNR, dylanz0426/DMTE and boudinfl/acm-cr.",
    "licence": "Abstracts belong to their publishers. Research use only.",
    "stand_in": "Stands in for the paper's DBLP bags (AI 1,000 papers, 7,593 graphs; DB 1,050, 9,682; CV 1,300, "
    "10,835), which are not public. Inferred, not shipped: fields from venues, a reference's direction from the years, "
    "topics from the authors' keywords (which the graphs do not see).",
}
Target = Literal["topics", "venue", "field"]


def load_dblp(
    path: str | Path | None = None,
    *,
    field: str = "DB",
    target: Target | None = "topics",
    min_references: int = 1,
    cache_dir: str | Path | Literal[False] | None = None,
    **options: object,
) -> BagDataset:
    """Papers of one field with their references, of any field, by abstract.

    Parameters
    ----------
    path
        The folder ``dblp_acm``, or the one that holds it; by default what ``CFMGML_DATA`` names.
    field
        ``"DB"``, ``"AI"``, ``"CV"`` or ``"DM"``.
    target
        What the labels are. ``"topics"``: 14 topics, several a paper; papers whose topics are not known are left out,
        as bags and as references. ``"venue"``: 8 venues (a paper of another venue has no label). ``"field"``: the 4
        fields. None: no labels. All but the first take every paper with an abstract.
    min_references
        Least number of references that can be used. DB with ``target="field"`` and 4 gives 1,173 bags, 8,840 graphs;
        with topics and 1: DB 786 bags, 2,318 graphs; CV 479, 1,485; DM 495, 1,604; AI 3, 7 (`load_cora_topics`
        stands in for AI).
    cache_dir
        Where built bags are kept; None for the default folder, False to keep none.
    **options
        Passed to `bags_from_texts`.

    Returns
    -------
    Bags and graphs named by paper id: a paper that several bags cite is there several times, under one name.
    ``info["overlap"]`` counts that; folds should take it into account (`shared_graph_groups`).

    Examples
    --------
    >>> load_dblp(field="DB", target="venue", min_references=4).label_names.tolist()
    ['cikm', 'icml', 'kdd', 'mm', 'pods', 'sigmod', 'uai', 'vldb']
    """
    if target not in ("topics", "venue", "field", None):
        raise ValueError(f"target must be 'topics', 'venue', 'field' or None, got {target!r}.")
    file = find_data("dblp_acm", path, markers=[FILE], contents=FILE) / FILE
    selection = {"field": field, "target": target, "min_references": min_references}
    return cached(
        BagDataset,
        "dblp.bags",
        cache_key(file, selection, options),
        lambda: _build(file, selection, options),
        cache_dir,
    )


def _build(file: Path, selection: Json, options: Json) -> BagDataset:
    target = selection["target"]
    needed = "topics" if target == "topics" else "abstract"
    papers, fewest = read_records(file), selection["min_references"]
    bags = with_references(papers, selection["field"], fewest, lambda paper: bool(paper.get(needed)))

    def labels_of(paper: Record) -> list[str]:
        return paper.get("topics", []) if target == "topics" else [paper[target]]

    labels = None
    if target is not None:
        names = VENUES if target == "venue" else sorted({label for paper in papers for label in labels_of(paper)})
        labels = labels_of, names
    return bags_of_papers(bags, _text, labels, {**INFO, "selection": selection}, options)


def _text(paper: Record) -> str:
    """The abstract, without the tags that a few have."""
    return re.sub(r"</?[A-Za-z][^<>]*>", " ", paper["abstract"])
