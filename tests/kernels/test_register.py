"""A new kernel touches two files: its own, and the register in `cfmgml.kernels`."""

import numpy as np
import pytest

from cfmgml import CfMGML
from cfmgml.cli import main
from cfmgml.kernels import NAMED_KERNELS, SAVED_KERNELS
from cfmgml.kernels.function import BatchKernel
from examples import random_bags


class Sizes(BatchKernel):
    """Compare graphs by how many nodes they have: what a new kernel's own file would hold."""

    def __init__(self, gamma=1.0):
        self.gamma = gamma

    def _values(self, a, b):
        return np.exp(-self.gamma * np.subtract.outer(np.diff(a.node_ptr), np.diff(b.node_ptr)) ** 2.0)


@pytest.fixture
def registered(monkeypatch):
    monkeypatch.setitem(SAVED_KERNELS, "Sizes", Sizes)
    monkeypatch.setitem(NAMED_KERNELS, "sizes", Sizes.suited_to)


@pytest.fixture
def bags(tmp_path):
    bags = random_bags(12)
    bags.save(tmp_path / "made-up.bags")
    return bags


@pytest.mark.usefixtures("registered")
def test_a_registered_kernel_is_saved_and_loaded(bags, tmp_path):
    model = CfMGML(Sizes(gamma=0.5), alpha=1e-2).fit(bags)
    model.save(tmp_path / "sizes.cfmgml")
    loaded = CfMGML.load(tmp_path / "sizes.cfmgml")
    assert loaded.kernel.get_params() == {"gamma": 0.5}
    np.testing.assert_array_equal(loaded.decision_function(bags), model.decision_function(bags))


@pytest.mark.usefixtures("registered")
def test_the_command_line_takes_a_registered_kernel(bags, tmp_path, capsys):
    trained = str(tmp_path / "sizes.cfmgml")
    command = ["train", str(tmp_path / "made-up.bags"), "-o", trained, "--kernel", "sizes", "--gamma", "0.25"]
    assert main([*command, "--alpha", "1e-2"]) == 0, capsys.readouterr().err
    assert CfMGML.load(trained).kernel.get_params() == {"gamma": 0.25}


def test_a_kernel_that_is_not_registered_is_refused(bags, tmp_path, capsys):
    data = str(tmp_path / "made-up.bags")
    assert main(["train", data, "-o", str(tmp_path / "sizes.cfmgml"), "--kernel", "sizes"]) == 2
    assert "must be one of auto, nodes, hopper, wl, minmax, both, got 'sizes'" in capsys.readouterr().err
    with pytest.raises(TypeError, match="cannot be saved"):
        CfMGML(Sizes(), alpha=1e-2).fit(bags).save(tmp_path / "sizes.cfmgml")
