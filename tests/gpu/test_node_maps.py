"""Sums of nodes seen through landmarks, on a device: the CPU's numbers, whatever the shapes."""

import numpy as np
import pytest

from cfmgml import CfMGML, GraphBatch, GraphHopper, NodeSum
from cfmgml.common.compute import Compute
from cfmgml.datasets import load_digit_bags
from cfmgml.gpu import node_maps
from cfmgml.kernels import approximation
from cfmgml.learning.scoring import normalised_features


@pytest.fixture(scope="module")
def graphs():
    """Also one graph of a single node, one without edges, and one larger than a block."""
    rng = np.random.default_rng(0)
    sizes = np.array([1, 5, 3, 150, *rng.integers(2, 40, 30)])
    ptr = np.concatenate([[0], np.cumsum(sizes)])
    inner = [np.arange(start, stop - 1) for start, stop in zip(ptr[:-1], ptr[1:], strict=True)]
    inner[1] = inner[1][:0]
    edge_ptr = np.concatenate([[0], np.cumsum([len(part) for part in inner])])
    first = np.concatenate(inner)
    values = rng.normal(size=(ptr[-1], 6))
    return GraphBatch(ptr, edge_ptr, np.stack([first, first + 1]), node_attributes=values)


@pytest.mark.parametrize(("dtype", "close"), [("float64", 1e-9), ("float32", 1e-4), ("tf32", 1e-4)])
@pytest.mark.parametrize("kernel", [NodeSum, GraphHopper])
@pytest.mark.parametrize("entries", [1, 1000, 1 << 22])  # a graph at a time, a few, all
def test_rows_are_the_cpus(device, graphs, kernel, dtype, close, entries, monkeypatch):
    monkeypatch.setattr(node_maps, "_entries", lambda out: entries)
    mapped = kernel(approximation="nystrom", n_components=40).resolve(graphs)
    expected = normalised_features(mapped, graphs)
    found = normalised_features(mapped, graphs, Compute(dtype, device))
    assert type(found) is type(expected)
    dense = [rows if isinstance(rows, np.ndarray) else rows.toarray() for rows in (found, expected)]
    np.testing.assert_allclose(*dense, atol=close)


def test_nodes_far_away_are_computed_exactly(device, graphs):
    """In float32, distances of points a thousand units from the centre would keep no digit."""
    values = graphs.node_attributes.copy()
    values[: len(values) // 2] += 1000.0
    far = GraphBatch(graphs.node_ptr, graphs.edge_ptr, graphs.edges, node_attributes=values)
    mapped = NodeSum(gamma=0.1, approximation="nystrom", n_components=40).resolve(far)
    found = normalised_features(mapped, far, Compute("float32", device))
    np.testing.assert_allclose(found, normalised_features(mapped, far), atol=1e-4)


@pytest.mark.slow
def test_the_default_beyond_what_a_device_keeps(device, monkeypatch):
    """Landmarks by rank="auto": the map is made on the device, training goes on there, and the model is the CPU's."""
    monkeypatch.setattr(approximation, "CHEAP_ON_DEVICE", 50)
    monkeypatch.setattr(approximation, "CHEAP", 0.0)
    monkeypatch.setattr(approximation, "AFFORDABLE", 0.0)
    bags = load_digit_bags(subset="train", n_bags=60, random_state=0)
    used, made = [], node_maps.summed_map
    monkeypatch.setattr(
        "cfmgml.kernels.gram_on_device.summed_map", lambda *args: used.append(args[6].type) or made(*args)
    )
    card = CfMGML(NodeSum(), alpha=1e-3, device=device).fit(bags)
    assert used == ["cpu" if device == "torch:cpu" else "cuda"]
    cpu = CfMGML(NodeSum(), alpha=1e-3).fit(bags)
    assert card.kernel_.n_components == cpu.kernel_.n_components
    assert card.approximation_error_ == pytest.approx(cpu.approximation_error_, rel=1e-6)
    np.testing.assert_allclose(card.objective_[-1], cpu.objective_[-1], rtol=1e-2)
    test = load_digit_bags(subset="test", n_bags=30, random_state=0)
    assert (card.predict_graphs(test) == cpu.predict_graphs(test)).mean() > 0.98
