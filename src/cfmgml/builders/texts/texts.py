"""Bags of graphs from texts: `bags_from_texts`.

1. A text is normalised (NFKC) and cut into words, in any script; characters of Chinese and Japanese are words of their
   own. Stop words go. Two spellings of one word are one (casefolded; English endings cut off, if ``stem``).
2. Every word is a node, and so are every two that stand side by side in a sentence, between the two. A word that comes
   2, 4, 8, ... times has further nodes, which say so. Which of them are rare, and what they weigh, is for the kernel to
   settle, from training bags: so a graph depends on its text alone.

>>> train = bags_from_texts(["Gene expression changes. Gene expression again.", "A tumour grows fast."])
>>> new = train.builder.rebuild(["Tumour gene."])
>>> new.graphs.node_names.tolist()
['tumour', 'gene', 'tumour gene']

The paper this package follows makes a graph of each abstract with "E-FCM" (extended fuzzy cognitive maps: keywords as
nodes, fuzzy relations as edges) and gives no recipe for it; none is public. Our reading of it, with `KEYWORDS` as
further arguments:

1. Of a text's words, its keywords are the ``max_keywords`` with the largest tf-idf.
2. Two keywords are related in a text if they stand at most ``window`` words apart in one of its sentences. How strongly
   is a matter of all texts: the fuzzy weight is Dice's coefficient, ``2 n(u, v) / (n(u) + n(v))``, where n counts the
   texts that have u, that have v, and that have both that close. Edges under ``threshold`` are left out.

The counts n come from the texts themselves, never from labels. So the graphs of test texts depend on the unlabelled
text of the whole collection (transductive), and new texts are built with the counts of the older ones.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from cfmgml.builders.texts.builder import FORMER_RECIPE, RECIPE, TextBuilder
from cfmgml.builders.texts.descriptions import WordDescription, register_description
from cfmgml.builders.texts.keyword_graphs import NO_KEYWORD
from cfmgml.common.typing import ArrayLike, Json
from cfmgml.data.bags import BagDataset

__all__ = ["KEYWORDS", "NO_KEYWORD", "bags_from_texts"]

# Our reading of the paper, as its experiments were run with it.
KEYWORDS: Json = {
    "pairs": False,
    "repeats": False,
    "max_keywords": 40,
    "window": 2,
    "threshold": 0.1,
    "recipe": FORMER_RECIPE,
}


def bags_from_texts(
    documents: Sequence[str | Sequence[str]],
    Y: ArrayLike | None = None,
    *,
    graph_Y: ArrayLike | None = None,
    label_names: Sequence[str] | None = None,
    bag_names: Sequence[str] | None = None,
    graph_names: Sequence[str] | None = None,
    single_graph: bool = False,
    max_keywords: int | None = None,
    window: int = 1,
    threshold: float = 0.0,
    stop_words: str | Collection[str] = "english",
    stem: bool = True,
    features: str | WordDescription | None = None,
    pairs: bool = True,
    repeats: bool = True,
    case: bool = False,
    numbers: bool = False,
    order: bool = False,
    position: bool = False,
    beginnings: int | None = None,
    recipe: int = RECIPE,
    vocabulary: Mapping[str, Any] | None = None,
    text: bool = True,
    n_jobs: int | None = None,
    verbose: bool | None = None,
) -> BagDataset:
    """Make each document a bag and each of its texts a graph of words.

    The module's text says how. Node labels are stable codes of the words, ``node_names`` the words as first spelt in
    their text; where counts make fuzzy weights, ``edge_weights`` has them (an edge is then held in both directions;
    kernels ignore its weight unless they say otherwise). A text without words, an empty one too, is one node with the
    label and name `NO_KEYWORD`.

    Parameters
    ----------
    documents
        A string is a bag of its sentences (`cfmgml.builders.texts.sentences`); a list of strings is a bag of those,
        such as a paper's abstract and those of its references. A document without text is a bag of one graph without
        words.
    Y, graph_Y, label_names, bag_names, graph_names
        As in `BagDataset`; ``graph_Y`` and ``graph_names`` have one entry a text, in order. If only ``graph_Y`` is
        given, a bag has the labels of its graphs. Graphs that occur in several bags should have one name (see
        `shared_graph_groups`); by default they are named ``bag:position``.
    single_graph
        Join each bag's graphs into one, the paper's cfMGML(G); ``graph_Y`` is then only used for ``Y``.
    max_keywords
        Most words of a text, those with the largest tf-idf over all texts; None for all.
    window
        Without ``pairs``: how far apart two words with an edge may stand.
    threshold
        Without ``pairs``: least weight of an edge, from 0 (every two words in a window) to 1.
    stop_words
        Words to leave out: a list; ``"none"``; ``"english"`` for a short list of function words; another language, by
        name or code (needs the extra ``texts``); or a file of words.
    stem
        Whether to cut English endings off, so that ``migration`` and ``migrating`` are one keyword; pass False for
        other languages.
    features
        A description of words by vectors, which become node attributes: ``"corpus"``, learned from these texts
        (`cfmgml.builders.texts.word_vectors`); ``"letters"``, by how they are spelt; or an encoder of words or
        sentences of one's own, as `EncodedWords`. None for none.
    pairs
        Whether every two neighbouring words are a node, too, instead of an edge.
    repeats
        Whether a word that comes at least 2, 4, 8, ... times in a text has a further node for each.
    case, numbers
        Whether ``US`` and ``us`` are two words, and whether digits alone are a word.
    order
        Whether edges go from a word to a later one and have a label, so that ``WeisfeilerLehman(edge_labels=
        "directed")`` tells which comes first; pairs tell it anyway.
    position
        Whether each text has a node that says where in its document it stands: first, last or between.
    beginnings
        Whether the first letters of each longer word, this many, are a node: what *angiogenesis*, *angiogenic* and
        *angiotensin* share. None for no such nodes.
    recipe
        2 cuts sentences and words as before; bags and models from then are built that way.
    vocabulary
        Where counts are used: from another data set's ``info["vocabulary"]``; by default those of these documents,
        where a text that occurs again counts once.
    text
        Whether the bags keep their texts (``graph_texts``).
    n_jobs
        Worker processes; None for none, -1 for one a core. The result does not depend on it. Texts and graphs must
        travel between processes, which costs about what it saves (former recipe): 9,511 abstracts took 6.6 s in
        one process and 8.7 s in two workers already started, 17,443 sentences (3 million letters) 2.4 s and 3.7 s.
    verbose
        Whether to show a progress bar on stderr; None: if that is a terminal.

    Returns
    -------
    Bags whose ``builder`` has the parameters and the counts; ``info`` has the number of texts without words.

    Examples
    --------
    >>> bags = bags_from_texts(["Graph kernels compare graphs. Nobody knows.", ["Deep nets", "kernel nets", ""]])
    >>> bags
    BagDataset(2 bags, 5 graphs, 0 labels; no Y)
    >>> bags.graphs[0].node_names
    array(['graph', 'kernels', 'compare', 'graph ×2', 'graph kernels', 'kernels compare', 'compare graphs'],
          dtype='<U15')
    >>> bags.graph_names.tolist()
    ['0:0', '0:1', '1:0', '1:1', '1:2']
    """
    named = features if isinstance(features, str | None) else register_description(features)
    builder = TextBuilder(
        single_graph, max_keywords, window, threshold, stop_words, stem, named, pairs, repeats, case, numbers,
        order, position, beginnings, recipe, vocabulary=vocabulary,
    )  # fmt: skip
    names = {"label_names": label_names, "bag_names": bag_names, "graph_names": graph_names}
    return builder.build(documents, Y, graph_Y=graph_Y, **names, text=text, n_jobs=n_jobs, verbose=verbose)
