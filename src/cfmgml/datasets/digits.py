"""Bags of real handwritten digits: the embedded data set.

A bag holds 2 to 5 digits from the 1,797 that come with scikit-learn (UCI Optical Recognition of Handwritten Digits, 8
x 8 pixels). Its labels are the digits in it; which graph is which digit is kept for evaluation only.
"""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.utils import check_random_state

from cfmgml.builders.digits import DigitBuilder, digit_graphs
from cfmgml.common.segments import offsets
from cfmgml.common.typing import IntArray
from cfmgml.data.bags import BagDataset

N_TRAIN = 1200  # this many digits are for training bags, the rest for test bags; drawn once, with a fixed seed
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
            "subset": name,
            "random_state": int(random_state),
        },
        builder=DigitBuilder(),
    )
