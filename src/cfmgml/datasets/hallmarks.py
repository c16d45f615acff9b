"""Hallmarks of Cancer: an abstract is a bag, each of its sentences a graph with the experts' labels."""

import re
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Literal

from cfmgml.builders.texts.texts import bags_from_texts
from cfmgml.common.cache import cached
from cfmgml.common.typing import Json
from cfmgml.data.bags import BagDataset
from cfmgml.datasets._locate import find_data
from cfmgml.datasets._records import Record, cache_key, label_matrix, read_records

FILE = "sentences.jsonl.gz"
INFO = {
    "name": "Hallmarks of Cancer",
    "description": "PubMed abstracts (bags) by sentence (graphs), which experts labelled with the hallmarks of cancer.",
    "source": "Baker et al., Bioinformatics 32 (2016) 432-440; repository sb895/Hallmarks-of-Cancer.",
    "licence": "Annotations GPL-3.0; abstracts belong to their publishers. Research use only.",
}


def load_hallmarks(
    path: str | Path | None = None,
    *,
    labelled_only: bool = True,
    cache_dir: str | Path | Literal[False] | None = None,
    **options: object,
) -> BagDataset:
    """Abstracts about cancer by their sentences, with ten labels that experts gave the sentences.

    Parameters
    ----------
    path
        The folder ``hoc_sentences``, or the one that holds it; by default what ``CFMGML_DATA`` names.
    labelled_only
        Leave out abstracts none of whose sentences has a label: 1,580 of 1,852 stay, with 14,919 of 17,464 sentences.
        Most of these have no label of their own.
    cache_dir
        Where built bags are kept; None for the default folder, False to keep none.
    **options
        Passed to `bags_from_texts`: ``single_graph``, ``max_keywords``, ``window``, ``threshold``, ``stop_words``,
        ``stem``, ``vocabulary``, ``n_jobs``, ``verbose``.

    Returns
    -------
    Bags named by PubMed id and graphs named ``id:position``, which `load_hallmarks_texts` leads back to the sentence.

    Examples
    --------
    >>> load_hallmarks().label_names[:2].tolist()
    ['Activating invasion and metastasis', 'Avoiding immune destruction']
    """
    file = _find(path)
    selection = {"labelled_only": labelled_only}
    return cached(
        BagDataset,
        "hallmarks.bags",
        cache_key(file, selection, options),
        lambda: _build(file, selection, options),
        cache_dir,
    )


def load_hallmarks_texts(path: str | Path | None = None) -> dict[str, str]:
    """The sentence behind every graph name of `load_hallmarks`."""
    return {_name(sentence): sentence["text"] for sentence in _sentences(_find(path))}


def _build(file: Path, selection: Json, options: Json) -> BagDataset:
    sentences = _sentences(file)
    label_names = sorted({label for sentence in sentences for label in sentence["labels"]})
    abstracts = [list(group) for _, group in groupby(sentences, key=lambda sentence: sentence["bag"])]
    if selection["labelled_only"]:
        abstracts = [abstract for abstract in abstracts if any(sentence["labels"] for sentence in abstract)]
    graphs = [sentence for abstract in abstracts for sentence in abstract]
    bags = bags_from_texts(
        [[sentence["text"] for sentence in abstract] for abstract in abstracts],
        graph_Y=label_matrix([sentence["labels"] for sentence in graphs], label_names),
        label_names=label_names,
        bag_names=[abstract[0]["bag"] for abstract in abstracts],
        graph_names=[_name(sentence) for sentence in graphs],
        **options,
    )
    return replace(bags, info={**INFO, **bags.info, "selection": selection})


def _find(path: str | Path | None) -> Path:
    return find_data("hoc_sentences", path, markers=[FILE], contents=FILE) / FILE


def _sentences(file: Path) -> list[Record]:
    """All sentences, abstract by abstract; some have ``\\u03b1`` spelt out where a letter was meant."""
    sentences = [{**record, "text": _unescape(record["text"])} for record in read_records(file)]
    place = {bag: number for number, bag in enumerate(dict.fromkeys(sentence["bag"] for sentence in sentences))}
    return sorted(sentences, key=lambda sentence: (place[sentence["bag"]], sentence["sent"]))


def _unescape(text: str) -> str:
    return re.sub(r"\\u([0-9a-fA-F]{4})", lambda match: chr(int(match[1], 16)), text)


def _name(sentence: Record) -> str:
    return f"{sentence['bag']}:{sentence['sent']}"
