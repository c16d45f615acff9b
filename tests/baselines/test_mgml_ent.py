"""MGMLent beyond the shared contract, and MIML-ELM against a literal reference."""

import math

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import directed_hausdorff

from cfmgml import BagDataset, GraphBatch
from cfmgml.baselines import _miml_elm
from cfmgml.baselines._miml_elm import (
    ExtremeLearningMachines,
    akaike,
    choose_medoids,
    hausdorff_distances,
    k_medoids,
)
from cfmgml.baselines.mgml_ent import MGMLent
from cfmgml.mining import label_entropy, mine_subgraphs


@pytest.fixture
def vectors(rng):
    """Bags of 0/1 vectors: rows and offsets."""
    ptr = np.concatenate([[0], np.cumsum(rng.integers(1, 5, size=20))])
    return (rng.random((ptr[-1], 9)) < 0.4).astype(float), ptr


# -- literal reference: one loop a definition ------------------------------------------------


def literal_k_medoids(distances, first):
    medoids = sorted(first)
    while True:
        members = {m: [m] for m in medoids}
        for i in range(len(distances)):
            if i not in medoids:
                members[min(medoids, key=lambda m: (distances[i][m], m))].append(i)
        new = sorted(
            min(sorted(group), key=lambda i: (sum(distances[i][j] for j in group), i)) for group in members.values()
        )
        if new == medoids:
            return medoids, sum(min(distances[i][m] for m in medoids) ** 2 for i in range(len(distances)))
        medoids = new


def literal_elm(x, target, W, b, new):
    """Moore-Penrose inverse of the hidden layer times the targets (Huang et al. 2006)."""

    def hidden(rows):
        return np.array(
            [
                [
                    1 / (1 + math.exp(-(sum(r * w for r, w in zip(row, W[:, h], strict=True)) + b[h])))
                    for h in range(len(b))
                ]
                for row in rows
            ]
        )

    return hidden(new) @ (np.linalg.pinv(hidden(x)) @ target)


def test_hausdorff_distances_equal_scipy(vectors, monkeypatch):
    rows, ptr = vectors
    bags = [rows[start:stop] for start, stop in zip(ptr[:-1], ptr[1:], strict=True)]
    expected = [[max(directed_hausdorff(a, b)[0], directed_hausdorff(b, a)[0]) for b in bags[:7]] for a in bags]
    few = ptr[:8]
    for chunk in (1, 5, 1000):
        monkeypatch.setattr(_miml_elm, "CHUNK_GRAPHS", chunk)
        got = hausdorff_distances(sparse.csr_array(rows), ptr, sparse.csr_array(rows[: few[-1]]), few)
        np.testing.assert_allclose(got, expected)


@pytest.mark.parametrize("k", [1, 2, 5, 20])
def test_clusters_equal_the_literal_reference(vectors, rng, k):
    rows = sparse.csr_array(vectors[0])
    distances = hausdorff_distances(rows, vectors[1], rows, vectors[1])
    for _ in range(10):
        first = rng.permutation(20)[:k]
        medoids, spread = k_medoids(distances, first)
        expected, expected_spread = literal_k_medoids(distances.tolist(), first.tolist())
        assert medoids.tolist() == expected
        assert spread == pytest.approx(expected_spread)


def test_number_of_clusters_is_the_one_of_least_akaike(rng):
    """Four far groups of points: no other number is chosen."""
    points = np.concatenate([centre + rng.normal(size=(15, 2)) * 0.1 for centre in ([0, 0], [9, 0], [0, 9], [9, 9])])
    distances = np.linalg.norm(points[:, None] - points, axis=2)
    chosen = choose_medoids(distances, None, np.random.default_rng(3))
    order = np.random.default_rng(3).permutation(60)
    sizes = np.unique(np.geomspace(2, 24, 12).round().astype(int)).tolist()
    criterion = {k: akaike(k_medoids(distances, order[:k])[1], 60, k) for k in sizes}
    assert len(chosen) == min(criterion, key=criterion.get)
    assert {tuple(point > 4.5) for point in points[chosen]} == {(a, b) for a in (False, True) for b in (False, True)}
    assert akaike(8.0, 4, 3) == pytest.approx(4 * math.log(2) + 6)
    assert akaike(0.0, 4, 3) == -np.inf


def test_outputs_equal_the_literal_reference(rng):
    x, new = rng.random((12, 3)), rng.random((4, 3))
    labels = rng.random((12, 2)) < 0.5
    machines = ExtremeLearningMachines.fit(x, labels, np.ones_like(labels), 5, 0.0, rng)
    for c in range(2):
        expected = literal_elm(x, np.where(labels[:, c], 1.0, -1.0), machines.W[c], machines.b[c], new)
        np.testing.assert_allclose(machines.scores(new)[:, c], expected, rtol=1e-6)


def test_ridge_and_unknown_entries(rng):
    x, labels = rng.random((12, 3)), rng.random((12, 2)) < 0.5
    known = np.ones_like(labels)
    known[:5, 0], known[:, 1] = False, False
    machines = ExtremeLearningMachines.fit(x, labels, known, 4, 0.5, rng)
    H = 1 / (1 + np.exp(-(x[5:] @ machines.W[0] + machines.b[0])))
    gradient = H.T @ (H @ machines.B[0] - np.where(labels[5:, 0], 1, -1)) + 0.5 * machines.B[0]
    np.testing.assert_allclose(gradient, 0, atol=1e-9)
    np.testing.assert_array_equal(machines.scores(x)[:, 1], 0)


# -- the estimator ---------------------------------------------------------------------------


def test_the_whole_chain_equals_its_parts(bags):
    model = MGMLent(max_entropy=0.6, n_clusters=5, random_state=0).fit(bags)
    found = mine_subgraphs(bags.graphs, 3, 3)
    entropies = label_entropy(found.mined_matrix(), bags.bag_ids, bags.Y)
    low = np.flatnonzero(entropies <= 0.6)
    assert 0 < len(low) < len(found) == model.n_mined_
    assert [model.patterns_.code(k) for k in range(len(low))] == [found.code(int(k)) for k in low]
    np.testing.assert_array_equal(model.entropies_, entropies[low])
    rows = sparse.csr_array(found.contained_in(bags.graphs)[:, low].astype(float))
    medoids = bags[model.medoids_]
    others = sparse.csr_array(found.contained_in(medoids.graphs)[:, low].astype(float))
    distances = hausdorff_distances(rows, bags.bag_ptr, others, medoids.bag_ptr)
    np.testing.assert_allclose(model.decision_function(bags), model.machines_.scores(distances / distances.max()))


def test_bag_order_does_not_matter(bags, rng):
    shuffled = bags[rng.permutation(bags.n_bags)]
    a, b = (MGMLent(random_state=0).fit(data).decision_function(bags) for data in (bags, shuffled))
    np.testing.assert_allclose(a, b, atol=1e-9)


def test_without_low_entropies_the_lowest_tenth_is_kept(bags):
    model = MGMLent(max_entropy=-1, random_state=0).fit(bags)
    assert len(model.patterns_) == -(-model.n_mined_ // 10)
    everything = label_entropy(mine_subgraphs(bags.graphs, 3, 3).mined_matrix(), bags.bag_ids, bags.Y)
    assert model.entropies_.max() <= np.sort(everything)[len(model.patterns_)]


def test_nothing_frequent_still_predicts(bags):
    model = MGMLent(min_support=10_000, random_state=0).fit(bags)
    assert model.n_mined_ == 0
    assert np.isfinite(model.decision_function(bags)).all()


def test_patterns_can_be_written(bags, tmp_path):
    model = MGMLent(random_state=0).fit(bags)
    model.patterns_.save(tmp_path / "patterns.csv", model.entropies_)
    assert (tmp_path / "patterns.csv").read_text().splitlines()[0].endswith("support,entropy")


def test_labels_of_bags_only(bags):
    model = MGMLent(random_state=0).fit(bags)
    with pytest.raises(TypeError, match="MGMLent predicts labels of a bag, not of a graph"):
        model.predict_graphs(bags)


def test_needs_node_labels(bags):
    plain = GraphBatch(
        bags.graphs.node_ptr, bags.graphs.edge_ptr, bags.graphs.edges, node_attributes=bags.graphs.node_attributes
    )
    with pytest.raises(ValueError, match="no node_labels"):
        MGMLent().fit(BagDataset(plain, bags.bag_ptr, bags.Y))


def test_a_limit_on_mining_is_announced(bags):
    with pytest.warns(UserWarning, match="ended by its limit on time"):
        model = MGMLent(max_seconds=0.0, random_state=0).fit(bags)
    assert np.isfinite(model.decision_function(bags)).all()


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_clusters": 0}, "n_clusters must be 1 or more"),
        ({"n_hidden": 0}, "n_hidden must be 1 or more"),
        ({"ridge": -1}, "ridge must be 0 or more"),
        ({"min_support": -1}, "min_support must be"),
    ],
)
def test_bad_parameters(bags, params, message):
    with pytest.raises(ValueError, match=message):
        MGMLent(**params).fit(bags)
