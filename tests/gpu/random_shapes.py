"""The Triton kernel on shapes drawn at random, every value against float64, every array inside a guarded buffer.

    PYTHONPATH=src python tests/gpu/random_shapes.py [--cases 200] [--most-graphs 500] [--most-nodes 400] [--seed 0]

Runs on a card, or on Triton's interpreter with ``TRITON_INTERPRET=1`` (small shapes, then). Put ``compute-sanitizer``
before it on a card. A read outside an array meets NaN or a graph that does not exist; a write outside is found
afterwards. Ends with a non-zero status at the first value that is off.
"""

import argparse
from dataclasses import dataclass

import numpy as np
import torch

from cfmgml.gpu import fused
from cfmgml.gpu.node_blocks import GraphNodes, place_nodes
from cfmgml.gpu.node_pairs import pair_gram

# Relative errors for each unit of the largest exponent: a value is exp of a difference of numbers that large.
TOLERANCE = {"float32": 5e-6, "tf32": 1e-3}
GUARD = 4096  # numbers before and after each array
NO_GRAPH = 1 << 40


@dataclass(frozen=True)
class Case:
    """Two batches of graphs, or one with itself."""

    left: GraphNodes
    right: GraphNodes | None
    gamma: float

    def __str__(self):
        sides = [side for side in (self.left, self.right) if side is not None]
        said = (f"{len(s.widths)} graphs, {s.node_ptr[-1]} nodes, widths to {s.widths.max()}" for s in sides)
        return f"{self.left.attributes.shape[1]} attributes; {' by '.join(said)}"


def make_nodes(rng, n_graphs, most_nodes, n_attributes, weighted):
    few = rng.integers(1, most_nodes + 1) if rng.random() < 0.7 else most_nodes
    sizes = rng.integers(1, few + 1, n_graphs)
    widths = rng.integers(1, 41, n_graphs) if weighted else np.ones(n_graphs, dtype=np.int64)
    n_values = int((sizes * widths).sum())
    values = rng.random(n_values) * 5 if weighted else np.ones(n_values)
    attributes = rng.normal(size=(int(sizes.sum()), n_attributes)) / np.sqrt(n_attributes)
    return GraphNodes(attributes, np.concatenate([[0], np.cumsum(sizes)]), widths, values)


def make_case(rng, most_graphs, most_nodes, most_attributes, most_pairs):
    n_attributes = int(rng.integers(1, most_attributes + 1) if rng.random() < 0.5 else rng.integers(1, 17))
    n_attributes = min(n_attributes, most_attributes)
    weighted, two = rng.random() < 0.5, rng.random() < 0.5

    def side():
        n_graphs = int(np.ceil(most_graphs ** rng.random()))
        nodes = int(max(1, min(most_nodes, most_pairs**0.5 / n_graphs)))
        return make_nodes(rng, n_graphs, nodes, n_attributes, weighted)

    return Case(side(), side() if two else None, float(rng.uniform(0.1, 2)))


def guarded(tensor):
    """The same numbers in the middle of a buffer of NaN, or of graphs that do not exist."""
    guard = float("nan") if tensor.is_floating_point() else NO_GRAPH
    buffer = torch.full((tensor.numel() + 2 * GUARD,), guard, dtype=tensor.dtype, device=tensor.device)
    inside = buffer[GUARD : GUARD + tensor.numel()].view(tensor.shape)
    inside.copy_(tensor)
    return buffer, inside


def check(case, precision, device):
    """The largest relative error, as a share of what is allowed; fails on more, and on a number written outside."""
    centre = np.full(case.left.attributes.shape[1], 0.1)
    exact = pair_gram(case.left, case.right, centre, case.gamma, "float64", device, fused=False)
    sides = [side for side in (case.left, case.right) if side is not None]
    plain = all(side.is_plain for side in sides)
    placed = [place_nodes(side, centre, case.gamma, precision, device, plain, True) for side in sides]
    buffer, out = guarded(torch.zeros(exact.shape, dtype=torch.float32, device=device))
    launched = fused.add_tiles(placed[0], placed[-1], case.right is None, out)
    assert torch.isnan(buffer[:GUARD]).all(), f"written before the matrix: {case}"
    assert torch.isnan(buffer[-GUARD:]).all(), f"written after the matrix: {case}"
    error = float((out.double() / exact - 1).abs().max())
    allowed = TOLERANCE[precision] * (1 + max(side.largest_square() for side in placed))
    assert error < allowed, (
        f"{precision} is off by {error:.2g}, allowed {allowed:.2g}: {case}"
    )  # NaN is not less either
    spilt = 0 if device.type == "cpu" else launched.n_spills
    assert spilt == 0, f"the kernel spills {spilt} registers, and ptxas 12.8 was seen to get such kernels wrong: {case}"
    return error / allowed


def guard_arguments():
    """From here on the kernel gets every array inside a guarded buffer."""
    arguments = fused._arguments
    fused._arguments = lambda *given: [guarded(tensor)[1] for tensor in arguments(*given)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--most-graphs", type=int, default=500)
    parser.add_argument("--most-nodes", type=int, default=400)
    parser.add_argument("--most-attributes", type=int, default=300)
    parser.add_argument("--most-pairs", type=float, default=4e9, help="pairs of nodes, at most, of one case")
    parser.add_argument("--seed", type=int, default=0)
    wanted = parser.parse_args()
    device = torch.device("cpu" if fused.INTERPRETED else "cuda")
    guard_arguments()
    rng = np.random.default_rng(wanted.seed)
    worst = dict.fromkeys(TOLERANCE, 0.0)
    for _ in range(wanted.cases):
        case = make_case(rng, wanted.most_graphs, wanted.most_nodes, wanted.most_attributes, wanted.most_pairs)
        for precision in TOLERANCE:
            worst[precision] = max(worst[precision], check(case, precision, device))
    said = ", ".join(f"{name} {error:.2g}" for name, error in worst.items())
    print(f"{wanted.cases} cases on {device}: largest error as a share of what is allowed: {said}")


if __name__ == "__main__":
    main()
