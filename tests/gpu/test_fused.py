"""The Triton kernel: the numbers of torch in float64, on a card, or by Triton's interpreter where there is none."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from needs import needs, needs_card

FOLDER = Path(__file__).parent
SMALL = ["--cases", "16", "--most-graphs", "12", "--most-nodes", "150", "--most-attributes", "150"]


@pytest.fixture(scope="module")
def environment(torch):
    """Triton reads the variable when it is imported, so its interpreter takes a process of its own."""
    needs("triton")
    paths = os.pathsep.join([str(FOLDER.parents[1] / "src"), os.environ.get("PYTHONPATH", "")])
    interpreted = {} if torch.cuda.is_available() else {"TRITON_INTERPRET": "1"}
    return {**os.environ, **interpreted, "PYTHONPATH": paths}


def run(environment, *words):
    done = subprocess.run([sys.executable, *words], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def test_small_random_shapes(environment):
    """Any number of attributes, nodes, graphs and widths, in both precisions, every array inside a guarded buffer."""
    assert "16 cases" in run(environment, str(FOLDER / "random_shapes.py"), *SMALL, "--most-pairs", "1e5")


def test_users_sizes(environment):
    """Shapes as large as users have: on a card only."""
    needs_card()
    assert "200 cases" in run(environment, str(FOLDER / "random_shapes.py"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sizes", "widths"),
    [([3, 5, 40, 7, 2], [1] * 5), ([3, 5, 40, 7, 2], [4, 1, 20, 33, 6]), ([300, 5, 128, 130], [20, 4, 6, 9])],
    ids=["plain", "weighted", "long"],
)
def test_few_attributes(environment, sizes, widths):
    """The shapes that crashed, or were wrong in silence."""
    code = f"""
import numpy as np, torch
from random_shapes import Case, check, guard_arguments, make_nodes
from cfmgml.gpu import fused
from cfmgml.gpu.node_blocks import GraphNodes

def nodes(sizes, widths, seed):
    rng, n = np.random.default_rng(seed), int((np.array(sizes) * widths).sum())
    values = np.ones(n) if max(widths) == 1 else rng.random(n) * 5
    ptr = np.concatenate([[0], np.cumsum(sizes)])
    return GraphNodes(0.3 * rng.normal(size=(ptr[-1], 10)), ptr, np.array(widths), values)

guard_arguments()
device = torch.device("cpu" if fused.INTERPRETED else "cuda")
left = nodes({sizes}, {widths}, 0)
right = nodes([4, 9, 1], [1, 1, 1] if max({widths}) == 1 else [2, 9, 1], 1)
for other in (None, right):
    for precision in ("float32", "tf32"):
        check(Case(left, other, 0.7), precision, device)
"""
    paths = os.pathsep.join([str(FOLDER), environment["PYTHONPATH"]])
    run({**environment, "PYTHONPATH": paths}, "-c", code)
