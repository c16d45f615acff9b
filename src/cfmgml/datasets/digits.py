"""Bags of real handwritten digits: the embedded data set.

A bag holds 2 to 5 digits from the 1,797 that come with scikit-learn (UCI Optical Recognition of Handwritten Digits, 8
x 8 pixels). Its labels are the digits in it; which graph is which digit is kept for evaluation only.
"""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.utils import check_random_state

from cfmgml.common.segments import lengths, offsets
from cfmgml.common.typing import FloatArray, IntArray
from cfmgml.data.bags import BagDataset
from cfmgml.data.graphs import GraphBatch

SIDE = 8
N_TRAIN = 1200  # this many digits are for training bags, the rest for test bags; drawn once, with a fixed seed
INK = 0.25  # a pixel at least this dark (of 1) is a node
SUBSETS = {"train": slice(0, N_TRAIN), "test": slice(N_TRAIN, None)}


def load_digit_bags(subset: str = "train", n_bags: int = 600, random_state: int = 0) -> BagDataset:
    """Bags of 2 to 5 handwritten digits, each digit a graph of its inked pixels.

    Nodes are pixels, edges join the 8 neighbours of a pixel. Node attributes are row, column (both 0 to 7) and
    intensity (0 to 1, times 2); the node label is the pixel's place on a 4 x 4 grid and whether it is dark.
    ``node_names`` are "row,column", ``graph_names`` the digit's number in scikit-learn's set.

    Parameters
    ----------
    subset
        ``"train"`` or ``"test"``; they draw from different digits.
    n_bags
        Number of bags.
    random_state
        Seed.

    Examples
    --------
    >>> load_digit_bags(subset="test", n_bags=3, random_state=1)
    BagDataset(3 bags, 10 graphs, 10 labels; 2.33 labels a bag, graph labels)
    """
    if subset not in SUBSETS:
        raise ValueError(f"subset must be one of {tuple(SUBSETS)}, got {subset!r}.")
    if n_bags < 1:
        raise ValueError(f"n_bags must be 1 or more, got {n_bags}.")
    return draw_bags(digit_numbers()[SUBSETS[subset]], n_bags, random_state, subset)


def digit_numbers() -> IntArray:
    """The numbers of all digits, the same shuffled order every time: training digits first."""
    return np.random.default_rng(0).permutation(len(load_digits().target))


def draw_bags(numbers: IntArray, n_bags: int, random_state: int, name: str) -> BagDataset:
    """Bags of 2 to 5 digits drawn, with replacement, from those with these numbers."""
    rng = check_random_state(random_state)
    digits = load_digits()
    sizes = rng.randint(2, 6, size=n_bags)
    chosen = numbers[rng.randint(len(numbers), size=sizes.sum())]
    bag_ptr = offsets(sizes)
    graph_Y = digits.target[chosen][:, None] == np.arange(10)
    return BagDataset(
        digit_graphs(digits.images[chosen] / 16.0),
        bag_ptr,
        Y=np.logical_or.reduceat(graph_Y, bag_ptr[:-1], axis=0),
        graph_Y=graph_Y,
        label_names=np.arange(10).astype(np.str_),
        bag_names=np.char.add(f"{name} ", np.arange(n_bags).astype(np.str_)),
        graph_names=chosen.astype(np.str_),
        info={
            "description": "bags of 2 to 5 handwritten digits",
            "source": "UCI Optical Recognition of Handwritten Digits, as it comes with scikit-learn",
            "builder": "digits",
            "subset": name,
            "random_state": int(random_state),
        },
    )


def digit_graphs(images: FloatArray) -> GraphBatch:
    """Graphs of inked pixels from images of shape (n, 8, 8) with values from 0 to 1."""
    inked = images >= INK
    image, row, column = np.nonzero(inked)
    number = np.full(images.shape, -1)
    number[inked] = np.arange(len(image))
    edges = _neighbour_pairs(number)
    sizes = inked.sum(axis=(1, 2))
    dark = images[inked]
    return GraphBatch(
        node_ptr=offsets(sizes),
        edge_ptr=offsets(np.bincount(image[edges[0]], minlength=len(images))),
        edges=edges,
        node_labels=(row // 2) * 8 + (column // 2) * 2 + (dark >= 0.6),
        node_attributes=np.stack([row, column, 2 * dark], axis=1).astype(np.float64),
        node_names=np.char.add(np.char.add(row.astype(np.str_), ","), column.astype(np.str_)),
    )


def _neighbour_pairs(number: IntArray) -> IntArray:
    """Pairs of nodes in touching pixels, both ways, in the order of their first node; ``number`` is -1 where there is
    none."""
    padded = np.pad(number, ((0, 0), (1, 1), (1, 1)), constant_values=-1)
    steps = [(r, c) for r in (-1, 0, 1) for c in (-1, 0, 1) if (r, c) != (0, 0)]
    beside = np.stack([padded[:, 1 + r : 1 + r + SIDE, 1 + c : 1 + c + SIDE] for r, c in steps], axis=-1)
    here = np.broadcast_to(number[..., None], beside.shape)
    both = (here >= 0) & (beside >= 0)
    return np.stack([here[both], beside[both]])


def digit_pictures(graphs: GraphBatch, values: FloatArray | None = None) -> FloatArray:
    """Images of shape (n_graphs, 8, 8) with ``values`` (n_nodes,), or the ink, at the nodes and NaN elsewhere."""
    assert graphs.node_attributes is not None
    out = np.full((graphs.n_graphs, SIDE, SIDE), np.nan)
    row, column = graphs.node_attributes[:, :2].astype(np.int64).T
    graph = np.repeat(np.arange(graphs.n_graphs), lengths(graphs.node_ptr))
    out[graph, row, column] = graphs.node_attributes[:, 2] / 2 if values is None else values
    return out
