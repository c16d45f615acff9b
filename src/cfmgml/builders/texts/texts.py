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
>>> new = train.builder.rebuild(["Tumour gene expression."])
>>> new.graphs.node_names.tolist()
['tumour', 'gene', 'expression']
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal

from cfmgml.builders.texts.builder import TextBuilder
from cfmgml.builders.texts.keyword_graphs import NO_KEYWORD
from cfmgml.common.typing import ArrayLike
from cfmgml.data.bags import BagDataset

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
    features: str | None = None,
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
    features
        A description of words by vectors, which become node attributes, such as ``"letters"``; None for none.
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
    Bags whose ``builder`` has the parameters and the counts; ``info`` has the number of texts without keywords.

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
    builder = TextBuilder(
        single_graph, max_keywords, window, threshold, stop_words, stem, features, vocabulary=vocabulary
    )
    names = {"label_names": label_names, "bag_names": bag_names, "graph_names": graph_names}
    return builder.build(documents, Y, graph_Y=graph_Y, **names, n_jobs=n_jobs, verbose=verbose)
