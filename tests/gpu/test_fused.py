"""The Triton kernel, run by Triton's interpreter where there is no card: the same numbers as torch."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from cfmgml.gpu.node_blocks import GraphNodes
from cfmgml.gpu.node_pairs import pair_gram
from needs import needs


def make_nodes(sizes, widths, seed=0):
    rng = np.random.default_rng(seed)
    sizes, widths = np.array(sizes), np.array(widths)
    values = np.ones(sizes.sum()) if (widths == 1).all() else rng.random(int((sizes * widths).sum())) * 5
    attributes = 0.3 * rng.normal(size=(sizes.sum(), 10))
    return GraphNodes(attributes, np.concatenate([[0], np.cumsum(sizes)]), widths, values)


CASES = {
    "plain": ([3, 5, 40, 7, 2], [1] * 5, [4, 9, 1], [1] * 3),
    "weighted": ([3, 5, 40, 7, 2], [4, 1, 20, 33, 6], [4, 9, 1], [2, 9, 1]),
    "long": ([300, 5, 128, 130], [20, 4, 6, 9], [150, 3], [40, 2]),
}


def check(name, precision, device):
    sizes, widths, others, other_widths = CASES[name]
    left, right = make_nodes(sizes, widths), make_nodes(others, other_widths, seed=1)
    centre = np.full(10, 0.1)
    for other in (None, right):
        exact = pair_gram(left, other, centre, 0.7, "float64", device, fused=False)
        found = pair_gram(left, other, centre, 0.7, precision, device, fused=True)
        error = (found.double() / exact - 1).abs().max()
        assert error < {"float32": 1e-5, "tf32": 2e-3}[precision], (name, precision, float(error))


@pytest.mark.parametrize("precision", ["float32", "tf32"])
@pytest.mark.parametrize("name", CASES)
def test_fused_is_torch(torch, name, precision):
    needs("triton")
    if torch.cuda.is_available():
        check(name, precision, torch.device("cuda"))
        return
    # Triton reads the variable when it is imported, so it takes a process of its own.
    code = f"import torch, test_fused; test_fused.check({name!r}, {precision!r}, torch.device('cpu'))"
    here = Path(__file__).parent
    paths = os.pathsep.join([str(here), str(here.parent), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "TRITON_INTERPRET": "1", "PYTHONPATH": paths}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)
