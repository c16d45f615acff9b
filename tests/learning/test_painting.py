"""A label for every node: by hand, against loops, and through the model."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError

from cfmgml import BagDataset, CfMGML, NodeSum, ProductKernel, WeisfeilerLehman
from cfmgml.learning.painting import paint, share_covered
from examples import random_bags

MODELS = {
    "nodes": lambda: CfMGML(NodeSum(), alpha=1e-3),
    "wl": lambda: CfMGML(WeisfeilerLehman(2), alpha=1e-3),
    "context": lambda: CfMGML(NodeSum(), alpha=1e-3, context=0.4),
}


@pytest.fixture(scope="module", params=MODELS)
def model(request):
    return MODELS[request.param]().fit(random_bags(24, seed=5))


@pytest.fixture(scope="module")
def new():
    return random_bags(8, seed=77)


def bag_of_node(bags):
    return np.repeat(np.repeat(np.arange(bags.n_bags), np.diff(bags.bag_ptr)), np.diff(bags.graphs.node_ptr))


@given(seed=st.integers(0, 10**6), background=st.none() | st.floats(0.1, 1))
def test_against_loops(seed, background):
    rng = np.random.default_rng(seed)
    bags = random_bags(3, seed=seed % 100)
    contributions, length = rng.normal(size=(bags.graphs.n_nodes, 4)), rng.random(bags.n_graphs) + 0.5
    allowed = rng.random((3, 4)) < 0.5
    painted = paint(contributions, length, bags, allowed, background)
    assert painted.dtype == np.int64
    for bag, (first, last) in enumerate(zip(bags.bag_ptr[:-1], bags.bag_ptr[1:], strict=True)):
        loud = {}
        for graph in range(first, last):
            nodes = range(*bags.graphs.node_ptr[graph : graph + 2])
            for c in np.flatnonzero(allowed[bag]):
                own = {node: contributions[node, c] * length[graph] for node in nodes}
                for node in nodes:
                    loud[node, c] = 0.5 * own[node] + 0.5 * sum(own.values()) / len(own)
        for node in range(*bags.graphs.node_ptr[[first, last]]):
            values = {c: loud[node, c] for c in np.flatnonzero(allowed[bag])}
            if background is not None:
                most = {c: max(value for (_, label), value in loud.items() if label == c) for c in values}
                values = {
                    c: value / most[c] for c, value in values.items() if value > 0 and value >= background * most[c]
                }
            assert painted[node] == max(values, key=values.get, default=-1)


def test_labels_that_cover_everything_leave_no_background():
    """Of bags whose graphs all have a label of their bag every node is painted; where most have none, few are."""
    bags = random_bags(40, seed=5)
    whole = CfMGML(NodeSum(), alpha=1e-3).fit(bags)
    assert whole.learned_.covered > 0.75
    assert (whole.paint(bags, given=True) >= 0).all()
    one = np.zeros_like(bags.Y)
    one[:, 0] = bags.Y[:, 0]
    part = CfMGML(NodeSum(), alpha=1e-3).fit(bags, one)
    assert part.learned_.covered < 0.75
    kept = BagDataset(bags.graphs, bags.bag_ptr, one, label_names=bags.label_names)
    painted = part.paint(kept, given=True)
    assert 0 < (painted >= 0).mean() < 0.7
    assert share_covered(np.zeros((1, 1)), np.array([0, 1]), np.array([[False]])) is None


def test_labels_come_from_the_bag(model, new):
    painted = model.paint(new)
    predicted = model.predict(new)[bag_of_node(new)]
    assert predicted[painted >= 0, painted[painted >= 0]].all()
    within = model.paint(new, given=True)
    assert new.Y[bag_of_node(new)][within >= 0, within[within >= 0]].all()
    truth = new.graph_Y.argmax(axis=1).repeat(np.diff(new.graphs.node_ptr))
    assert (within == truth).mean() > 0.6  # of 4 labels
    nothing = BagDataset(new.graphs, new.bag_ptr, np.zeros_like(new.Y), label_names=new.label_names)
    assert (model.paint(nothing, given=True) == -1).all()


def test_unknown_labels_are_not_given(model, new):
    known = np.array([[1, np.nan, 0, np.nan]] * new.n_bags)
    painted = model.paint(BagDataset(new.graphs, new.bag_ptr, known, label_names=new.label_names), given=True)
    assert set(painted.tolist()) <= {-1, 0}


def test_labels_in_another_order_are_the_models(model, new):
    order = [2, 0, 3, 1]
    turned = BagDataset(new.graphs, new.bag_ptr, new.Y[:, order], label_names=new.label_names[order])
    np.testing.assert_array_equal(model.paint(turned, given=True), model.paint(new, given=True))


@pytest.mark.parametrize("given", [False, True])
def test_selection_commutes_with_painting(model, new, given):
    index = [5, 0, 5]
    bag = bag_of_node(new)
    expected = np.concatenate([model.paint(new, given=given)[bag == k] for k in index])
    np.testing.assert_array_equal(model.paint(new[index], given=given), expected)


def test_files_paint_the_same(model, new, tmp_path):
    model.save(tmp_path / "m.cfmgml")
    np.testing.assert_array_equal(CfMGML.load(tmp_path / "m.cfmgml").paint(new), model.paint(new))


def test_what_cannot_be_painted_says_so(new):
    with pytest.raises(NotFittedError):
        CfMGML().paint(new)
    product = CfMGML(ProductKernel([NodeSum(), WeisfeilerLehman()]), alpha=1e-3).fit(new)
    with pytest.raises(TypeError, match="not a sum over nodes"):
        product.paint(new)
    fitted = CfMGML(NodeSum(), alpha=1e-3).fit(new)
    with pytest.raises(ValueError, match="these bags have no Y"):
        fitted.paint(BagDataset(new.graphs, new.bag_ptr), given=True)
    with pytest.raises(TypeError, match="X must be a BagDataset"):
        fitted.paint([1])
