"""Graphs that are the same by what is in them, whatever they are called.

A text that was collected twice makes the same graph twice. Where one copy is trained on and the other tested, a model
is asked what it was told (`cfmgml.data.overlap`).
"""

import numpy as np

from cfmgml.common.typing import HashArray, IntArray
from cfmgml.data.bags import BagDataset
from cfmgml.data.graphs import GraphBatch

N_ROUNDS = 4  # of refinement: how far around a node is looked
CHUNK = 2**22  # numbers of attributes at a time


def graph_digests(graphs: GraphBatch) -> HashArray:
    """A hash of each graph's structure, node and edge labels and node attributes, (n_graphs,), in linear time.

    The order of nodes does not count, nor do names and weights. Structure is seen as Weisfeiler-Lehman refinement sees
    it: what four rounds cannot tell apart is the same.

    >>> graphs = GraphBatch(
    ...     node_ptr=[0, 2, 4, 6], edge_ptr=[0, 1, 2, 3], edges=[[0, 2, 4], [1, 3, 5]], node_labels=[7, 8, 8, 7, 7, 7]
    ... )
    >>> first, turned, other = graph_digests(graphs).tolist()
    >>> first == turned, first == other
    (True, False)
    """
    from cfmgml.kernels.weisfeiler_lehman import mix, refine, refine_along  # with scikit-learn: workers would wait

    arcs = None if graphs.edge_labels is None else graphs.arcs_as_stored
    colour = _node_hashes(graphs)
    total = np.zeros(graphs.n_graphs, dtype=np.uint64)
    for number in range(N_ROUNDS + 1):
        if number == 0:
            colour = mix(colour)
        else:
            colour = refine(colour, *graphs.adjacency) if arcs is None else refine_along(colour, arcs)
        sums = np.append(np.uint64(0), np.cumsum(mix(colour)))  # modulo 2^64, as differences are
        total = mix(total + np.diff(sums[graphs.node_ptr]))
    return total


def _node_hashes(graphs: GraphBatch) -> HashArray:
    from cfmgml.kernels.weisfeiler_lehman import mix

    hashes = np.ones(graphs.n_nodes, dtype=np.uint64)  # not 0, which mixes to 0: graphs without labels have a structure
    if graphs.node_labels is not None:
        hashes += mix(graphs.node_labels.astype(np.int64).view(np.uint64) + np.uint64(1))
    attributes = graphs.node_attributes
    if attributes is not None and attributes.shape[1]:
        words = np.ascontiguousarray(attributes + 0).view(np.uint32)  # + 0: there is one zero, not two
        factors = np.random.default_rng(0).integers(2**63, size=words.shape[1], dtype=np.uint64) * 2 + 1
        step = max(CHUNK // words.shape[1], 1)
        for start in range(0, len(words), step):
            hashes[start : start + step] += mix(words[start : start + step].astype(np.uint64)) @ factors
    return hashes


def same_graphs(bags: BagDataset) -> IntArray:
    """A number for each graph, (n_graphs,); graphs that are the same by content have the same number.

    Texts without keywords have nothing in them, so they are not the same as one another.

    >>> from cfmgml.builders.texts.texts import bags_from_texts
    >>> same_graphs(bags_from_texts(["Graph kernels. Query plans.", "The graph kernels! And so.", "And so."]))
    array([0, 1, 0, 2, 3])
    """
    return numbered(content_digests(bags))


def content_digests(bags: BagDataset) -> HashArray:
    """`graph_digests`, 0 for a graph with nothing in it, such as that of a text without keywords."""
    digests = graph_digests(bags.graphs)
    blank = None if bags.builder is None else bags.builder.blank(bags.graphs)
    return digests if blank is None else np.where(blank, np.uint64(0), digests)


def numbered(digests: HashArray) -> IntArray:
    """Numbers in the order of first occurrence, the same for the same digest; each 0 has one of its own.

    >>> numbered(np.array([7, 0, 7, 5, 0], dtype=np.uint64))
    array([0, 1, 0, 2, 3])
    """
    _, first, number = np.unique(digests, return_index=True, return_inverse=True)
    number = first[number]
    empty = digests == 0
    number[empty] = len(digests) + np.flatnonzero(empty)
    _, first, number = np.unique(number, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[number]
