"""How much work is done, counted: tiles, bytes, calls and steps, which no busy machine can change."""

import subprocess
import sys
import tracemalloc

import numpy as np
import pytest

from cfmgml import CfMGML, GraphBatch, GraphHopper, NodeSum, Precomputed, WeisfeilerLehman, gram_matrix
from cfmgml.datasets import load_digit_bags
from cfmgml.kernels import approximation, factors, graph_hopper, mixed_rows, node_tiles
from cfmgml.kernels.node_maps import SAMPLE, LandmarkMap
from cfmgml.learning.objective import RankLoss
from cfmgml.learning.solvers import on_gram


def path_graphs(n_graphs, n_nodes=12, n_attributes=8, seed=0):
    """Paths with random attributes and few labels: as many nodes in each, so that counts are known."""
    rng = np.random.default_rng(seed)
    first = np.arange(n_graphs * n_nodes).reshape(n_graphs, n_nodes)
    edges = np.stack([first[:, :-1].ravel(), first[:, 1:].ravel()])
    return GraphBatch(
        np.arange(n_graphs + 1) * n_nodes,
        np.arange(n_graphs + 1) * (n_nodes - 1),
        edges,
        node_labels=rng.integers(0, 5, n_graphs * n_nodes),
        node_attributes=rng.normal(size=(n_graphs * n_nodes, n_attributes)),
    )


class Counter:
    """Counts calls of a function or method, and adds up what `size` says of each."""

    def __init__(self, monkeypatch, owner, name, size=lambda *args: 0):
        self.calls, self.total = 0, 0
        real = getattr(owner, name)

        def counted(*args, **options):
            self.calls += 1
            self.total += size(*args)
            return real(*args, **options)

        monkeypatch.setattr(owner, name, counted)


@pytest.fixture
def count(monkeypatch):
    return lambda *args: Counter(monkeypatch, *args)


# -- kernels -----------------------------------------------------------------------------


def test_half_of_the_tiles(count):
    graphs = path_graphs(850)  # 10,200 nodes: 10 runs of 85 graphs of 12 nodes, at most 1,024 nodes each
    tiles = count(NodeSum, "tile")
    gram_matrix(NodeSum(gamma=1.0), graphs)
    assert tiles.calls == 10 * 11 // 2


def test_multiplications_of_a_gram_matrix(count):
    """Little more than half of all pairs of nodes, times the attributes that vary."""
    graphs = path_graphs(850)
    pairs = count(node_tiles, "similarities", lambda a, b: len(a.rows) * len(b.rows) * a.points.shape[1])
    gram_matrix(GraphHopper(gamma=1.0), graphs)
    assert pairs.total <= 1.1 * graphs.n_nodes**2 / 2 * graphs.n_attributes


def test_paths_are_counted_once_a_batch(count):
    graphs, others = path_graphs(20), path_graphs(10, seed=1)
    kernel = GraphHopper(gamma=1.0)
    counted = count(graph_hopper, "path_counts")
    gram_matrix(kernel, graphs)
    assert counted.calls == 1
    gram_matrix(kernel, graphs, others)
    assert counted.calls == 3


def test_colours_are_made_once_a_gram_matrix(count):
    made = count(WeisfeilerLehman, "colours")
    gram_matrix(WeisfeilerLehman(3), path_graphs(50))
    assert made.calls == 1


def test_common_columns_leave_few_rare_meetings(count):
    graphs = path_graphs(600)

    def meetings(row_ptr, indices, data, column_ptr, *rest):
        return int(np.diff(column_ptr)[indices].sum())

    having = np.bincount(WeisfeilerLehman(3).resolve(graphs).features(graphs).indices)
    met = count(mixed_rows, "_add_rare", meetings)
    gram_matrix(WeisfeilerLehman(3), graphs)
    assert 0 < met.total < 0.1 * (having**2).sum()


def peak_bytes(work):
    work()  # compiles
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_of_a_weisfeiler_lehman_gram_matrix():
    graphs = path_graphs(2000)
    result = 8 * graphs.n_graphs**2
    assert peak_bytes(lambda: gram_matrix(WeisfeilerLehman(3), graphs)) < 1.8 * result


def test_memory_of_an_exact_gram_matrix():
    """The result, one copy of the nodes, and a few tiles."""
    graphs = path_graphs(800, n_attributes=64)
    nodes, tile = graphs.node_attributes.nbytes, 8 * NodeSum.tile_size**2
    assert peak_bytes(lambda: gram_matrix(NodeSum(gamma=1.0), graphs)) < 8 * 800**2 + 1.5 * nodes + 3 * tile


def test_features_take_memory_in_proportion():
    """Explicit GraphHopper rows: twice the graphs, twice the bytes."""
    few, many = path_graphs(300), path_graphs(600)
    kernel = GraphHopper("linear")
    small, large = (peak_bytes(lambda g=g: kernel.resolve(g).features(g)) for g in (few, many))
    assert large < 2.2 * small


def test_a_tile_in_float32_is_one_pass(count):
    """No array as large as a tile: neither products nor exponentials are kept."""
    graphs = path_graphs(850)
    products, tile = count(node_tiles, "products"), 4 * NodeSum.tile_size**2
    kernel = NodeSum(gamma=0.1).resolve(graphs)
    assert peak_bytes(lambda: gram_matrix(kernel, graphs, dtype="float32")) < 4 * 850**2 + 12 * 850 * 8 * 24 + tile
    assert products.calls == 0
    gram_matrix(kernel, graphs)
    assert products.calls == 10 * 11 // 2


# -- training and prediction -------------------------------------------------------------


@pytest.fixture(scope="module")
def digits():
    bags = load_digit_bags(subset="train", n_bags=60, random_state=0)
    return bags, Precomputed(gram_matrix(NodeSum(), bags.graphs))


def test_steps_of_training(digits, count):
    bags, kernel = digits
    evaluated = count(RankLoss, "value_and_gradient")
    model = CfMGML(kernel, alpha=1e-4).fit(bags)
    assert model.n_iter_ <= 550  # 481 when this was written
    assert evaluated.calls <= 1.25 * model.n_iter_ + 5 * len(model.objective_)


def test_products_of_training_over_a_gram_matrix(digits, count):
    """One a step, some for steps that were too long, and one for a gradient's norm where it may be enough."""
    bags, kernel = digits
    products, decompositions = count(on_gram, "sums_of_rows"), count(factors.linalg, "eigh")
    model = CfMGML(kernel, alpha=1e-4).fit(bags)
    assert products.calls <= 1.5 * model.n_iter_ + 10 * len(model.objective_)
    assert decompositions.calls == 0


def test_a_path_takes_fewer_steps_than_its_parts(digits):
    bags, kernel = digits
    alphas = [1e-2, 5e-3, 2.5e-3]
    along = sum(model.n_iter_ for model in CfMGML(kernel).fit_path(bags, alphas))
    alone = sum(CfMGML(kernel, alpha=alpha).fit(bags).n_iter_ for alpha in alphas)
    assert along < alone


def test_prediction_prepares_training_graphs_once(count):
    bags = load_digit_bags(subset="train", n_bags=20, random_state=0)
    model = CfMGML(GraphHopper(), n_rounds=1, max_iter=5).fit(bags)
    counted = count(graph_hopper, "path_counts", lambda graphs: graphs.n_graphs)
    for k in range(3):
        model.decision_function(bags[k : k + 1])
    assert counted.total == bags.n_graphs + bags[:3].n_graphs


@pytest.fixture
def compared(count):
    """Pairs of nodes: those of exact tiles, and nodes with landmarks."""
    exact = count(node_tiles, "similarities", lambda a, b: len(a.rows) * len(b.rows))
    mapped = count(LandmarkMap, "__call__", lambda landmarks, nodes: len(landmarks.landmarks) * len(nodes))
    return exact, mapped


def test_beyond_the_threshold_nodes_meet_landmarks(compared, monkeypatch):
    """Below it all meet all; above, only those kept aside and each graph's own: twice the graphs, twice the work."""
    exact, mapped = compared
    few, many, more = (load_digit_bags(subset="train", n_bags=n, random_state=0) for n in (100, 200, 400))
    CfMGML(NodeSum(), max_iter=2).fit(few)
    assert mapped.total == 0
    assert exact.total > few.graphs.n_nodes**2 / 2
    monkeypatch.setattr(approximation, "CHEAP", 0.0)
    monkeypatch.setattr(approximation, "AFFORDABLE", 0.0)
    monkeypatch.setattr(approximation, "ASIDE_NODES", 500)
    totals = []
    for bags in (many, more):
        exact.total = mapped.total = 0
        model = CfMGML(NodeSum(), max_iter=2).fit(bags)
        assert exact.total < 0.1 * bags.graphs.n_nodes**2 / 2
        nodes = bags.graphs.n_nodes + sum(SAMPLE + 500 for _ in range(5))  # and what is looked at at each number tried
        assert mapped.total <= model.kernel_.n_components * nodes
        totals.append(mapped.total / model.kernel_.n_components)
    assert totals[1] < 2.2 * totals[0]


def test_prediction_meets_landmarks_only(compared, monkeypatch):
    """However many graphs it learned from: each node with each landmark once, and with its own graph's nodes."""
    exact, mapped = compared
    monkeypatch.setattr(approximation, "CHEAP", 0.0)
    monkeypatch.setattr(approximation, "AFFORDABLE", 0.0)
    test = load_digit_bags(subset="test", n_bags=20, random_state=0)
    sizes = np.diff(test.graphs.node_ptr)
    for n_bags in (100, 200):
        model = CfMGML(NodeSum(), max_iter=2).fit(load_digit_bags(subset="train", n_bags=n_bags, random_state=0))
        exact.total = mapped.total = 0
        model.decision_function(test)
        assert mapped.total <= (test.graphs.n_nodes + 1) * model.kernel_.n_components
        assert exact.total <= 64 * sizes.sum()  # tiles on the diagonal


def test_prediction_from_columns_meets_landmarks_only(count):
    graphs = count(Precomputed, "tile", lambda kernel, left, right: len(left.sizes) * len(right.sizes))
    bags = load_digit_bags(subset="train", n_bags=60, random_state=0)
    model = CfMGML(Precomputed(gram_matrix(NodeSum(), bags.graphs)), rank=20, max_iter=2).fit(bags)
    graphs.total = 0
    model.decision_function_graphs(bags[:10])
    assert graphs.total <= 20 * bags[:10].n_graphs + bags[:10].n_graphs ** 2 + 20**2


def test_import_loads_nothing_heavy():
    code = "import sys; before = set(sys.modules); import cfmgml; print(*sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.split(".")[0] for name in done.stdout.split()}
    assert not loaded & {"numpy", "scipy", "sklearn", "numba", "torch", "joblib"}
