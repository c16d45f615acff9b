"""BagDataset: checks, selection, unknown labels, files."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.model_selection import KFold, train_test_split

from cfmgml import BagDataset
from examples import random_bags, random_graphs

GRAPHS = random_graphs(4)
GOOD = {"graphs": GRAPHS, "bag_ptr": [0, 1, 4], "Y": [[1, 0], [0, 1]]}
BAD = {
    "no bags": ({"bag_ptr": [0]}, ValueError, "at least one bag"),
    "an empty bag": ({"bag_ptr": [0, 0, 4]}, ValueError, "every bag must have a graph; bag 0 has none"),
    "graphs left over": ({"bag_ptr": [0, 1, 3]}, ValueError, "bag_ptr ends at 3, but there are 4 graphs"),
    "not graphs": ({"graphs": [1]}, TypeError, "graphs must be a GraphBatch, got list"),
    "too few rows": ({"Y": [[1, 0]]}, ValueError, r"Y must have shape \(2, n_labels\), one row a bag, got \(1, 2\)"),
    "one-dimensional": ({"Y": [1, 0]}, ValueError, "Y must have shape"),
    "no labels": ({"Y": np.zeros((2, 0))}, ValueError, "at least one label"),
    "minus one": ({"Y": [[1, -1], [0, 1]]}, ValueError, r"Y\[0, 1\] is -1 \(for -1/\+1 labels pass Y > 0\)"),
    "strings": ({"Y": [["a"], ["b"]]}, TypeError, "Y must be 0/1 or bool"),
    "graph labels of other width": ({"graph_Y": np.zeros((4, 3))}, ValueError, "one column a label"),
    "graph labels of bags": ({"graph_Y": np.zeros((2, 2))}, ValueError, "one row a graph"),
    "unknown graph labels": ({"graph_Y": np.full((4, 2), np.nan)}, ValueError, "graph_Y must be known"),
    "names of wrong number": ({"label_names": ["a"]}, ValueError, "label_names must have shape"),
    "names that repeat": ({"label_names": ["a", "a"]}, ValueError, "label_names must differ"),
    "bag names": ({"bag_names": ["a"]}, ValueError, "bag_names must have shape"),
    "graph names": ({"graph_names": ["a"]}, ValueError, "graph_names must have shape"),
}


@pytest.mark.parametrize("case", BAD)
def test_malformed_input_is_refused(case):
    change, error, message = BAD[case]
    with pytest.raises(error, match=message):
        BagDataset(**{**GOOD, **change})


def test_unknown_labels_by_nan_by_mask_and_by_matrix():
    Y = np.array([[1, np.nan], [0, 1]])
    known = [[True, False], [True, True]]
    for data in (
        BagDataset(**{**GOOD, "Y": Y}),
        BagDataset(**{**GOOD, "Y": np.ma.masked_invalid(Y)}),
        BagDataset(**{**GOOD, "Y": [[1, 1], [0, 1]]}, Y_known=known),
    ):
        assert data.Y_known.tolist() == known
    assert "25% of Y unknown" in repr(data)
    assert BagDataset(**GOOD).Y_known is None
    assert BagDataset(**{**GOOD, "Y": sparse.csr_array([[1, 0], [0, 1]])}).Y.tolist() == [[True, False], [False, True]]


def test_bags_without_labels():
    bags = BagDataset(GRAPHS, [0, 4], label_names=["a", "b"])
    assert bags.n_labels == 2
    assert repr(bags) == "BagDataset(1 bags, 4 graphs, 2 labels; no Y)"
    with pytest.raises(ValueError, match="no Y"):
        bags.label_sets()
    assert BagDataset(GRAPHS, [0, 4]).n_labels == 0


@given(index=st.lists(st.integers(-8, 7), min_size=1, max_size=6))
def test_selection_takes_whole_bags(index):
    bags = random_bags(8, seed=1)
    chosen = bags[index, ...]
    assert chosen.n_bags == len(index)
    for place, k in enumerate(index):
        one, expected = chosen[place], bags[k]
        assert one.fingerprint() == expected.fingerprint()
        assert one.graph_Y.any(axis=0).tolist() == one.Y[0].tolist()


def test_scikit_learn_splits_it(bags):
    train, test = train_test_split(bags, test_size=6, random_state=0)
    assert isinstance(train, BagDataset)
    assert (train.n_bags, test.n_bags) == (18, 6)
    assert sum(bags[rows].n_graphs for _, rows in KFold(3).split(bags)) == bags.n_graphs


def test_empty_selection_is_refused(bags):
    with pytest.raises(ValueError, match="at least one bag"):
        bags[[]]


def test_a_fingerprint_does_not_see_how_wide_words_are_held(bags, tmp_path):
    """Just built, and read from the file it was kept in."""
    words = np.full(bags.graphs.n_nodes, "node", dtype="<U21")
    built = replace(bags, graphs=replace(bags.graphs, node_names=words))
    built.save(tmp_path / "kept.bags")
    kept = BagDataset.load(tmp_path / "kept.bags")
    assert kept.graphs.node_names.dtype != words.dtype
    assert kept.fingerprint() == built.fingerprint()
    other = replace(built, graphs=replace(built.graphs, node_names=np.char.upper(words)))
    assert other.fingerprint() != kept.fingerprint()


def test_concatenate_undoes_splitting(bags):
    again = BagDataset.concatenate([bags[:5], bags[5:]], keep_ids=True)
    assert again.fingerprint() == bags.fingerprint()
    partly = BagDataset(bags.graphs, bags.bag_ptr, np.where(bags.Y, 1.0, np.nan), bags.graph_Y, bags.label_names)
    joined = BagDataset.concatenate([bags, partly])
    assert joined.Y_known[: bags.n_bags].all()
    assert joined.Y_known[bags.n_bags :].tolist() == bags.Y.tolist()


def test_concatenate_refuses_other_labels(bags):
    other = BagDataset(bags.graphs, bags.bag_ptr, bags.Y, bags.graph_Y, label_names=list("wxyz"))
    with pytest.raises(ValueError, match="data set 1 has other label names"):
        BagDataset.concatenate([bags, other])
    bare = BagDataset(bags.graphs, bags.bag_ptr, bags.Y, label_names=bags.label_names)
    with pytest.raises(ValueError, match="all data sets have graph_Y or none"):
        BagDataset.concatenate([bags, bare])
    with pytest.raises(ValueError, match="at least one data set"):
        BagDataset.concatenate([])


def test_file_round_trip(bags, tmp_path):
    full = BagDataset(
        bags.graphs, bags.bag_ptr, np.where(bags.Y, 1.0, np.nan), bags.graph_Y, bags.label_names,
        bag_names=[f"bag {k}" for k in range(bags.n_bags)], graph_names=[f"g{k}" for k in range(bags.n_graphs)],
        info={"source": "here", "parameters": {"n": 3}},
    )  # fmt: skip
    full.save(tmp_path / "x.bags")
    again = BagDataset.load(tmp_path / "x.bags")
    assert again.fingerprint() == full.fingerprint()
    assert dict(again.info) == dict(full.info)


def test_info_must_be_json(bags, tmp_path):
    odd = BagDataset(bags.graphs, bags.bag_ptr, bags.Y, info={"x": object()})
    with pytest.raises(ValueError, match="info must hold only what JSON can"):
        odd.save(tmp_path / "x.bags")
    assert not list(tmp_path.iterdir())


def test_iteration(bags):
    assert [bag.n_graphs for bag in bags] == np.diff(bags.bag_ptr).tolist()
    assert len(bags) == bags.n_bags == bags.shape[0]
    np.testing.assert_array_equal(bags.bag_ids, np.repeat(np.arange(24), np.diff(bags.bag_ptr)))
