"""``cfmgml train --kernel auto`` and ``--edge-labels``: which kernels are tried, and what is said of them."""

from dataclasses import replace

import numpy as np
import pytest

from cfmgml import CfMGML
from cfmgml.cli import main
from cfmgml.kernels import approximation
from made_up import rings_and_chains


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Rings and chains with attributes that say nothing; in bonds.bags edges have labels that do, and no attributes."""
    folder = tmp_path_factory.mktemp("kernels")
    bags, _ = rings_and_chains(30)
    noise = np.random.default_rng(0).normal(size=(bags.graphs.n_nodes, 2))
    replace(bags, graphs=replace(bags.graphs, node_attributes=noise)).save(folder / "both.bags")
    replace(bags, graphs=replace(bags.graphs, edge_labels=bags.graphs.edges.sum(axis=0) % 2)).save(
        folder / "bonds.bags"
    )
    unknown = np.arange(bags.Y.size).reshape(bags.Y.shape) % 2 == 0
    noisy = replace(bags.graphs, node_attributes=noise)
    replace(bags, graphs=noisy, Y_known=unknown).save(folder / "unknown.bags")
    replace(bags, graphs=noisy).to_store(folder / "store", graphs_per_partition=20)
    return folder


def train(folder, data, options, capsys):
    code = main(["train", str(folder / data), "-o", str(folder / "m.cfmgml"), "--max-iter", "20", *options.split()])
    return code, capsys.readouterr().err


def test_the_best_kernel_is_taken_and_told(folder, capsys):
    code, said = train(folder, "both.bags", "--n-iter 2 --refine 0", capsys)
    assert code == 0
    table = [line.split("  ")[0].strip() for line in said.split("\n")[:4]]
    assert table == ["kernel", "nodes", "wl", "nodes + wl"]
    assert sum(line.endswith("taken") for line in said.split("\n")) == 1
    model = CfMGML.load(folder / "m.cfmgml")
    assert repr(model.kernel_) in said
    assert type(model.kernel_).__name__ != "NodeSum"
    assert "Chose alpha" not in said  # it was, with the kernel
    code, said = train(folder, "both.bags", "--kernel nodes --alpha 1e-2", capsys)
    assert code == 0
    assert "kernel  " not in said


def test_a_store_is_learned_from_with_the_best(folder, capsys):
    code, said = train(folder, "store", "--n-iter 2 --alpha 1e-2 --n-jobs 1", capsys)
    assert code == 0
    assert "nodes + wl  " in said
    assert CfMGML.load(folder / "m.cfmgml").kernel_.is_explicit


def test_landmarks_are_told_in_a_line(folder, capsys, monkeypatch):
    command = ("both.bags", "--kernel nodes --alpha 1e-2 --refine 0", capsys)
    assert "landmarks" not in train(folder, *command)[1]
    monkeypatch.setattr(approximation, "CHEAP", 0.0)
    monkeypatch.setattr(approximation, "AFFORDABLE", 0.0)
    code, said = train(folder, *command)
    error = CfMGML.load(folder / "m.cfmgml").approximation_error_
    assert code == 0
    assert f"Graphs are compared with landmarks: values of graphs kept aside are off by {error:.1%}.\n" in said


def test_nothing_to_choose_on(folder, capsys):
    code, said = train(folder, "unknown.bags", "--alpha 1e-2", capsys)
    assert code == 0
    assert "There are no bags to choose a kernel on" in said
    assert "SumKernel(kernels=[NodeSum(), WeisfeilerLehman()])" in said


def test_edge_labels_by_option(folder, capsys):
    code, said = train(folder, "bonds.bags", "--kernel wl --alpha 1e-2", capsys)
    assert code == 0
    assert "have labels, which this kernel ignores" in said
    code, said = train(folder, "bonds.bags", "--kernel wl --alpha 1e-2 --edge-labels yes", capsys)
    assert code == 0
    assert "ignores" not in said
    assert CfMGML.load(folder / "m.cfmgml").kernel_.edge_labels is True
    code, said = train(folder, "bonds.bags", "--alpha 1e-2 --n-iter 1", capsys)
    assert "wl with edge labels" in said
    for options, message in [
        ("--kernel hopper --edge-labels yes", "--edge-labels is for wl; GraphHopper"),
        ("--edge-labels bonds", "must be one of yes, directed, no, got 'bonds'"),
    ]:
        code, said = train(folder, "bonds.bags", options, capsys)
        assert code == 2
        assert message in said.replace("\n", " ")
    code, said = train(folder, "both.bags", "--kernel wl --alpha 1e-2 --edge-labels directed", capsys)
    assert code == 1
    assert "these graphs have no edge_labels" in said
