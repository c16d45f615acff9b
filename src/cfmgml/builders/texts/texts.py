"""Bags of graphs from texts: `bags_from_texts`.

The paper this package follows makes a graph of each abstract with "E-FCM" (extended fuzzy cognitive maps: keywords as
nodes, fuzzy relations as edges) and gives no recipe for it; none is public. What follows is our reading:

1. A text is normalised (NFKC) and cut into words, in any script. Function words and single letters go; the rest are
   its content words. Two spellings of one word are one keyword (casefolded; English endings cut off, if ``stem``).
2. Its keywords are the ``max_keywords`` with the largest tf-idf.
3. Two keywords are related in a text if they stand at most ``window`` content words apart in one of its sentences.
   How strongly is a matter of all texts: the fuzzy weight is Dice's coefficient, ``2 n(u, v) / (n(u) + n(v))``, where
   n counts the texts that have u, that have v, and that have both that close. Edges under ``threshold`` are left out.

The counts n come from the texts themselves, never from labels. So the graphs of test texts depend on the unlabelled
text of the whole collection (transductive). To build new texts as older ones were, pass the older ones' counts on:

>>> train = bags_from_texts(["Gene expression changes. Gene expression again.", "A tumour grows fast."])
>>> new = bags_from_texts(["Tumour gene expression."], vocabulary=train.info["vocabulary"], **train.info["parameters"])
>>> new.graphs.node_names.tolist()
['tumour', 'gene', 'expression']
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from cfmgml.builders.texts.keyword_graphs import NO_KEYWORD, RECIPE_VERSION, KeywordGraph, Recipe, batch_of, join_graphs
from cfmgml.builders.texts.sentences import split_sentences
from cfmgml.builders.texts.text_graphs import Running, text_graphs
from cfmgml.common.segments import offsets, segment_max
from cfmgml.common.typing import ArrayLike
from cfmgml.data.bags import BagDataset, check_label_matrix

__all__ = ["NO_KEYWORD", "bags_from_texts"]


def bags_from_texts(
    documents: Sequence[str | Sequence[str]],
    Y: ArrayLike | None = None,
    *,
    graph_Y: ArrayLike | None = None,
    label_names: Sequence[str] | None = None,
    bag_names: Sequence[str] | None = None,
    graph_names: Sequence[str] | None = None,
    single_graph: bool = False,
    max_keywords: int | None = 40,
    window: int = 2,
    threshold: float = 0.1,
    stop_words: Literal["english"] | Collection[str] = "english",
    stem: bool = True,
    vocabulary: Mapping[str, Any] | None = None,
    n_jobs: int | None = None,
    verbose: bool | None = None,
) -> BagDataset:
    """Make each document a bag and each of its texts a graph of keywords.

    The module's text says how. Node labels are stable codes of the keywords, ``node_names`` the keywords as first
    spelt in their text, ``edge_weights`` the fuzzy weights (an edge is held in both directions; kernels ignore its
    weight unless they say otherwise). A text without keywords, an empty one too, is one node with the label and name
    `NO_KEYWORD`.

    Parameters
    ----------
    documents
        A string is a bag of its sentences (split at ``.!?`` before a capital, and the like); a list of strings is a
        bag of those, such as a paper's abstract and those of its references. A document without text is a bag of one
        graph without keywords.
    Y, graph_Y, label_names, bag_names, graph_names
        As in `BagDataset`; ``graph_Y`` and ``graph_names`` have one entry a text, in order. If only ``graph_Y`` is
        given, a bag has the labels of its graphs. Graphs that occur in several bags should have one name (see
        `shared_graph_groups`); by default they are named ``bag:position``.
    single_graph
        Join each bag's graphs into one, the paper's cfMGML(G); ``graph_Y`` is then only used for ``Y``.
    max_keywords
        Most keywords of a text; None for all.
    window
        How far apart two related keywords may stand, in content words.
    threshold
        Least weight of an edge, from 0 (every pair in a window) to 1.
    stop_words
        Words to leave out, or ``"english"`` for a short list of function words.
    stem
        Whether to cut English endings off, so that ``migration`` and ``migrating`` are one keyword; pass False for
        other languages.
    vocabulary
        The counts to use, from another data set's ``info["vocabulary"]``; by default those of these documents, where
        a text that occurs again counts once.
    n_jobs
        Worker processes; None for none, -1 for one a core. The result does not depend on it. Texts and graphs must
        travel between processes, which costs about what it saves: 9,511 abstracts (10 million letters) took 6.6 s in
        one process and 8.7 s in two workers already started, 17,443 sentences (3 million letters) 2.4 s and 3.7 s.
    verbose
        Whether to show a progress bar on stderr; None: if that is a terminal.

    Returns
    -------
    Bags whose ``info`` has ``parameters`` (to pass on as keyword arguments), ``vocabulary``, and the number of texts
    without keywords.

    Examples
    --------
    >>> bags = bags_from_texts(["Graph kernels compare graphs. Nobody knows.", ["Deep nets", "kernel nets", ""]])
    >>> bags
    BagDataset(2 bags, 5 graphs, 0 labels; no Y)
    >>> bags.graphs[0].node_names
    array(['graph', 'kernels', 'compare'], dtype='<U12')
    >>> bags.graph_names.tolist()
    ['0:0', '0:1', '1:0', '1:1', '1:2']
    """
    recipe = Recipe(max_keywords, window, threshold, stop_words, stem)
    bags = [texts_of(document, number) for number, document in enumerate(_check_documents(documents))]
    texts = (text for bag in bags for text in bag)
    graphs, known = text_graphs(texts, recipe, vocabulary, Running(n_jobs, verbose))
    info = {
        "builder": "texts",
        "parameters": {"single_graph": single_graph, **recipe.parameters},
        "recipe_version": RECIPE_VERSION,
        "n_without_keywords": sum(not graphs[text].names for bag in bags for text in bag),
        "vocabulary": known.to_json(),
    }
    names = {"label_names": label_names, "bag_names": bag_names, "graph_names": graph_names}
    return _assemble([[graphs[text] for text in bag] for bag in bags], Y, graph_Y, names, single_graph, info)


def _assemble(
    bags: list[list[KeywordGraph]],
    Y: ArrayLike | None,
    graph_Y: ArrayLike | None,
    names: Mapping[str, Sequence[str] | None],
    single_graph: bool,
    info: Mapping[str, Any],
) -> BagDataset:
    ptr = offsets(np.array([len(bag) for bag in bags]))
    if graph_Y is not None:
        graph_Y, _ = check_label_matrix(graph_Y, int(ptr[-1]), "graph_Y", "graph")
        Y = segment_max(graph_Y.astype(np.float64), ptr) if Y is None else Y
    bag_names, graph_names = names["bag_names"], names["graph_names"]
    if bag_names is None:
        bag_names = [str(number) for number in range(len(bags))]
    if graph_names is None and len(bag_names) == len(bags):  # if not, BagDataset says what is wrong
        graph_names = [f"{name}:{k}" for name, bag in zip(bag_names, bags, strict=True) for k in range(len(bag))]
    if single_graph:
        bags, ptr = [[join_graphs(bag)] for bag in bags], np.arange(len(bags) + 1)
        graph_Y, graph_names = None, bag_names
    return BagDataset(
        batch_of([graph for bag in bags for graph in bag]),
        ptr,
        Y=Y,  # type: ignore[arg-type]  # the rest becomes arrays there, too
        graph_Y=graph_Y,
        label_names=names["label_names"],  # type: ignore[arg-type]
        bag_names=bag_names,  # type: ignore[arg-type]
        graph_names=graph_names,  # type: ignore[arg-type]
        info=info,
    )


def _check_documents(documents: Any) -> list[Any]:
    if isinstance(documents, str | bytes) or not isinstance(documents, Iterable):
        raise TypeError(
            f"documents must be a list of strings or of lists of strings, got {type(documents).__name__}; "
            "for one document pass [text]."
        )
    checked = list(documents)
    if not checked:
        raise ValueError("documents must hold at least one document, got none.")
    return checked


def texts_of(document: Any, number: int) -> list[str]:
    """The texts of a document: its sentences, if it is a string."""
    if isinstance(document, str):
        return split_sentences(document) or [""]
    if isinstance(document, bytes) or not isinstance(document, Iterable):
        raise TypeError(f"document {number} must be a string or a list of strings, got {type(document).__name__}.")
    texts = list(document)
    for place, text in enumerate(texts):
        if not isinstance(text, str):
            raise TypeError(f"document {number} must hold strings; text {place} is of type {type(text).__name__}.")
    return texts or [""]
