"""How long does training take on a card? Random bags, as many graphs as asked for, a Gram matrix of random features.

    PYTHONPATH=src python benchmarks/gpu_training.py [--graphs 20000] [--labels 23]

Needs numpy and torch with a card, and of ours `cfmgml.gpu` and the solver. The loss is checked against its gradient
by differences first. Prints seconds for making the space and for the rounds, steps and objective.
"""

import argparse
import time
from types import SimpleNamespace

import numpy as np
import torch

from cfmgml.gpu.rank_loss import TorchRankLoss
from cfmgml.gpu.spaces import GramSpace
from cfmgml.gpu.training import DeviceProblem
from cfmgml.learning.solvers.cccp import CURVATURE, solve_cccp


def make_loss(n_graphs, n_labels, graph_labels, rng):
    """What `cfmgml.learning.objective.RankLoss` with its defaults for `cccp` would hold."""
    sizes = rng.integers(2, 7, n_graphs)
    sizes = sizes[: int(np.searchsorted(np.cumsum(sizes), n_graphs, side="right"))]
    sizes[-1] += n_graphs - sizes.sum()
    bag_ptr = np.concatenate([[0], np.cumsum(sizes)])
    relevant = np.zeros((len(sizes), n_labels), dtype=bool)
    relevant[np.repeat(np.arange(len(sizes)), sizes), graph_labels] = True
    plus, minus, n = relevant.sum(1), (~relevant).sum(1), len(sizes)
    each = tuple(1 / np.maximum(x, 1) / n for x in (plus, minus, plus * minus))
    return SimpleNamespace(
        bag_ptr=bag_ptr, relevant=relevant, irrelevant=~relevant, label_weights=np.ones(n_labels),
        irrelevant_graphs="all", temperature=0.3, sharpness=0.02, rounding=0.1, coefficients=lambda: each,
    )  # fmt: skip


def make_gram(n_graphs, n_labels, rng, device):
    """Unit vectors around one centre a label, through an rbf kernel: as hard as pictures, and of full rank."""
    labels = rng.integers(0, n_labels, n_graphs)
    centres = rng.normal(size=(n_labels, 64))
    points = torch.tensor(centres[labels] + 2.2 * rng.normal(size=(n_graphs, 64)), device=device)
    gram = torch.cdist(points, points).square_().mul_(-1 / 600).exp_()
    gram.fill_diagonal_(1.0)
    return labels, gram


def check(device):
    rng = np.random.default_rng(0)
    loss = TorchRankLoss(make_loss(40, 6, rng.integers(0, 6, 40), rng), device)
    scores = torch.tensor(rng.normal(size=(40, 6)), device=device)
    _, slope = loss.value_and_gradient(scores)
    step = torch.tensor(rng.normal(size=(40, 6)), device=device) * 1e-5
    after, before = (float(loss.value_and_gradient(scores + sign * step)[0]) for sign in (1, -1))
    ratio = (after - before) / 2 / float((slope * step).sum())
    print(f"gradient against differences: {ratio - 1:+.1e}")
    assert abs(ratio - 1) < 1e-4


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", type=int, default=20_000)
    parser.add_argument("--labels", type=int, default=23)
    parser.add_argument("--device", default="cuda")
    options = parser.parse_args()
    device = torch.device(options.device)
    check(device)
    rng = np.random.default_rng(0)
    labels, gram = make_gram(options.graphs, options.labels, rng, device)
    loss = make_loss(options.graphs, options.labels, labels, rng)
    for dtype in (torch.float32, torch.float64):
        for alpha in (1e-3, 1e-5):
            run(gram.to(dtype), loss, alpha, device)  # once to warm up
            solution, scores, made, took = run(gram.to(dtype), loss, alpha, device)
            top = (scores.argmax(1) == labels).mean()
            rounds = np.round(solution.objective, 5)
            print(f"training {options.graphs} graphs x {options.labels} labels {dtype} alpha={alpha:g}: {made:.2f} s")
            print(f"  to prepare, {took:.2f} s for {solution.n_iter} steps, objective {rounds},")
            print(f"  gradient {solution.gradient_norm:.1e}, graph accuracy {top:.3f}", flush=True)


def run(gram, loss, alpha, device):
    """The solution and its scores, seconds to make the space, and seconds for the rounds."""
    start = time.perf_counter()
    space = GramSpace(gram, alpha, CURVATURE / (len(loss.bag_ptr) - 1), CURVATURE)
    if device.type == "cuda":
        torch.cuda.synchronize()
    ready = time.perf_counter()
    problem = DeviceProblem(lambda precision: space, TorchRankLoss(loss, device), alpha, fit_intercept=True)
    solution = solve_cccp(problem, 5, 200, 1e-3)
    took = time.perf_counter() - ready
    return solution, problem.scores(solution.trail[-1]).cpu().numpy(), ready - start, took


if __name__ == "__main__":
    main()
