"""Gram matrices on disk are the same as in memory, resumable, and usable."""

import shutil

import numpy as np
import pytest

from cfmgml import (
    CfMGML,
    GraphHopper,
    NodeSum,
    Precomputed,
    ProductKernel,
    SumKernel,
    WeisfeilerLehman,
    gram_matrix,
)
from cfmgml.kernels.files import kernel_digest
from cfmgml.scale import gram_to_zarr, tiles
from cfmgml.scale.partitions import features_key

MATRIX = np.eye(400)


@pytest.mark.parametrize("make", [lambda: NodeSum(gamma=0.7), lambda: WeisfeilerLehman(2), lambda: GraphHopper()])
def test_equals_the_matrix_in_memory(make, many, tmp_path):
    found = gram_to_zarr(make(), many.graphs, tmp_path / "K", tile=100, dtype="float64")
    np.testing.assert_allclose(found[:], gram_matrix(make(), many.graphs), atol=1e-12)
    assert found.chunks == (100, 100)
    assert not (tmp_path / "K.tiles").exists()


@pytest.mark.slow
def test_from_a_store_on_a_cluster(many, store, tmp_path, client):
    found = gram_to_zarr(NodeSum(gamma=0.7), store, tmp_path / "K", tile=200, engine=client)
    np.testing.assert_allclose(found[:], gram_matrix(NodeSum(gamma=0.7), many.graphs), atol=1e-5)


def test_goes_on_where_it_was_interrupted(many, tmp_path, monkeypatch):
    done = []
    compute = tiles.compute_tile

    def some(at, *rest):
        if len(done) == 4:
            raise KeyboardInterrupt
        done.append(at)
        compute(at, *rest)

    with monkeypatch.context() as patch:
        patch.setattr(tiles, "compute_tile", some)
        with pytest.raises(KeyboardInterrupt):
            gram_to_zarr(NodeSum(gamma=0.7), many.graphs, tmp_path / "K", tile=100)
    with monkeypatch.context() as patch:
        patch.setattr(tiles, "compute_tile", lambda at, *rest: done.append(at) or compute(at, *rest))
        found = gram_to_zarr(NodeSum(gamma=0.7), many.graphs, tmp_path / "K", tile=100)
    assert len(done) == len(set(done)), "no tile was computed twice"
    np.testing.assert_allclose(found[:], gram_matrix(NodeSum(gamma=0.7), many.graphs), atol=1e-5)
    with monkeypatch.context() as patch:
        patch.setattr(tiles, "compute_tile", lambda at, *rest: pytest.fail("the matrix is complete"))
        gram_to_zarr(NodeSum(gamma=0.7), many.graphs, tmp_path / "K", tile=100)


def test_another_matrix_is_refused(many, tmp_path):
    gram_to_zarr(NodeSum(gamma=0.7), many.graphs, tmp_path / "K", tile=200)
    for kernel, graphs in [(NodeSum(gamma=0.8), many.graphs), (NodeSum(gamma=0.7), many[:20].graphs)]:
        with pytest.raises(ValueError, match="holds another matrix"):
            gram_to_zarr(kernel, graphs, tmp_path / "K", tile=200)
    with pytest.raises(ValueError, match="graph_ids must count from 0"):
        gram_to_zarr(NodeSum(gamma=0.7), many[5:].graphs, tmp_path / "K2")


@pytest.mark.parametrize("rank", [None, 40])
def test_precomputed_takes_it(many, tmp_path, rank):
    K = gram_to_zarr(NodeSum(gamma=0.7), many.graphs, tmp_path / "K", tile=100, dtype="float64")
    train, test = many[:100], many[100:]
    on_disk = CfMGML(Precomputed(K), alpha=1e-2, rank=rank).fit(train)
    in_memory = CfMGML(Precomputed(K[:]), alpha=1e-2, rank=rank).fit(train)
    np.testing.assert_allclose(on_disk.decision_function(test), in_memory.decision_function(test), atol=1e-9)


def test_precomputed_checks_what_is_on_disk(many, tmp_path):
    import zarr

    bad = zarr.create_array(str(tmp_path / "bad"), shape=(3000, 3000), chunks=(1000, 1000), dtype="float32")
    bad[0, 2999] = 1.0
    with pytest.raises(ValueError, match="K must be symmetric"):
        Precomputed(bad).resolve(many.graphs)
    bad[0, 2999] = np.nan
    with pytest.raises(ValueError, match="K must be finite"):
        Precomputed(bad).resolve(many.graphs)
    shutil.rmtree(tmp_path / "bad")


def settled_apart(many, make):
    """The same kernel settled on two sets of graphs."""
    kernel = make()
    return kernel.resolve(many[:40].graphs), kernel.resolve(many[90:].graphs)


@pytest.mark.parametrize(
    "make",
    [
        lambda: SumKernel([WeisfeilerLehman(1, tfidf=True), NodeSum(gamma=0.7)]),
        lambda: ProductKernel([NodeSum(), WeisfeilerLehman(1)]),
        lambda: SumKernel([SumKernel([NodeSum()]), WeisfeilerLehman(1)]),
    ],
    ids=["sum", "product", "nested"],
)
def test_parts_settled_on_other_graphs_make_another_matrix(many, tmp_path, make):
    first, second = settled_apart(many, make)
    graphs = many[:60].graphs
    assert np.abs(gram_matrix(first, graphs) - gram_matrix(second, graphs)).max() > 1e-3
    gram_to_zarr(first, graphs, tmp_path / "K")
    with pytest.raises(ValueError, match="holds another matrix"):
        gram_to_zarr(second, graphs, tmp_path / "K")
    again = gram_to_zarr(first, graphs, tmp_path / "K", dtype="float32")
    np.testing.assert_allclose(again[:], gram_matrix(first, graphs), atol=1e-5)


def test_digests_tell_settled_kernels_apart(many, store):
    for make in (lambda: SumKernel([WeisfeilerLehman(1, tfidf=True)]), lambda: NodeSum(), lambda: Precomputed(MATRIX)):
        first, second = settled_apart(many, make)
        assert kernel_digest(first) == kernel_digest(make().resolve(many[:40].graphs))
        assert (kernel_digest(first) == kernel_digest(second)) == isinstance(first, Precomputed)
        assert (features_key(store, first) == features_key(store, second)) == isinstance(first, Precomputed)


def test_digests_know_shapes_and_types():
    one = kernel_digest(Precomputed(np.eye(2)))
    assert one != kernel_digest(Precomputed(np.eye(2).astype(np.float32)))
    assert one != kernel_digest(Precomputed(np.eye(2).reshape(1, 4)))


def test_a_matrix_of_plain_functions_is_never_taken_for_another(many, tmp_path):
    """Code has no digest, so what is there cannot be known to be the same."""
    for kernel in (sizes, SumKernel([sizes, NodeSum(gamma=0.7)])):
        found = gram_to_zarr(kernel, many.graphs, tmp_path / "K", dtype="float64")
        np.testing.assert_allclose(found[:], gram_matrix(kernel, many.graphs))
        with pytest.raises(ValueError, match="holds another matrix"):
            gram_to_zarr(kernel, many.graphs, tmp_path / "K", dtype="float64")
        shutil.rmtree(tmp_path / "K")


def sizes(a, b):
    return np.outer(np.diff(a.node_ptr), np.diff(b.node_ptr)).astype(float)
