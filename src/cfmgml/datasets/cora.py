"""Cora with topics: a paper and its references are a bag, the terms of each title a graph."""

from collections import Counter
from pathlib import Path
from typing import Literal

from cfmgml.builders.texts.keywords import Spelling, words
from cfmgml.builders.texts.texts import KEYWORDS
from cfmgml.common.cache import cached
from cfmgml.common.typing import Json
from cfmgml.data.bags import BagDataset
from cfmgml.datasets._locate import find_data
from cfmgml.datasets._records import Record, bags_of_papers, cache_key, read_records, with_references

FILE = "papers.jsonl.gz"
WHOLE_TITLE = 1000  # a window that no title fills
INFO = {
    "name": "Cora with topics",
    "description": "Papers with their references (bags) by the terms of their titles (graphs), labelled by topic.",
    "source": "Cora (McCallum et al., Information Retrieval 3 (2000) 127-163); repository APEX-WSU/CoRA.",
    "licence": "No terms found. Research use only.",
    "stand_in": "Stands in for the paper's DBLP(AI) bags (1,000 papers, 7,593 graphs), which are not public.",
}


def load_cora_topics(
    path: str | Path | None = None,
    *,
    field: str = "AI",
    min_references: int = 4,
    n_labels: int | None = None,
    cache_dir: str | Path | Literal[False] | None = None,
    **options: object,
) -> BagDataset:
    """Papers of one field with their references, of any field, by the terms of their titles.

    The terms' order is not known, so all terms of a title count as close together (a window over the whole title), and
    it is their weight alone, how often they share a title among all titles, that makes an edge (`bags_from_texts`).

    Parameters
    ----------
    path
        The folder ``cora_topics``, or the one that holds it; by default what ``CFMGML_DATA`` names.
    field
        ``"AI"``, ``"DB"``, ``"CV"`` or ``"other"``.
    min_references
        Least number of references. AI with 4 gives 1,013 bags of 7,498 graphs.
    n_labels
        Keep only the topics that most bags have, and the bags that have one of them; a graph of another topic stays,
        without label. None for all; the paper's AI set has 13, which gives 957 bags of 7,143 graphs.
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
    >>> load_cora_topics().label_names[:2].tolist()
    ['Artificial_Intelligence/Agents', 'Artificial_Intelligence/Data_Mining']
    """
    if n_labels is not None and n_labels < 1:
        raise ValueError(f"n_labels must be at least 1, or None for all, got {n_labels}.")
    file = find_data("cora_topics", path, markers=[FILE], contents=FILE) / FILE
    options = {**KEYWORDS, "window": WHOLE_TITLE, **options}
    selection = {"field": field, "min_references": min_references, "n_labels": n_labels}
    return cached(
        BagDataset,
        "cora_topics.bags",
        cache_key(file, selection, options),
        lambda: _build(file, selection, options),
        cache_dir,
    )


def _build(file: Path, selection: Json, options: Json) -> BagDataset:
    papers = read_records(file)
    bags = with_references(papers, selection["field"], selection["min_references"], lambda paper: bool(paper["terms"]))
    counts = Counter(topic for bag in bags for topic in sorted({paper["label"] for paper in bag}))
    topics = sorted(topic for topic, _ in counts.most_common(selection["n_labels"]))
    bags = [bag for bag in bags if any(paper["label"] in topics for paper in bag)]
    info = {**INFO, "selection": selection}
    return bags_of_papers(bags, _text, (lambda paper: [paper["label"]], topics), info, options)


def _text(paper: Record) -> str:
    terms = sorted(paper["terms"], key=lambda term: (-paper["terms"][term], term))
    return " ".join(word.surface for term in terms for word in words(term, Spelling(apart=False)))
