"""One convex subproblem of training, three ways to minimise it: objective against time.

    python benchmarks/subproblem.py [--bags 300] [--seconds 20] [--out docs/results/bench]

The subproblem is the first round of `cccp` on bags of digits, Gram matrix given: relevant labels' scores linearised.
All three minimise the same function, and see it through the same evaluations of loss and slope:

- the paper's way: subgradient steps of size 1 / (alpha t), projected onto the ball that holds the minimum;
- Frank-Wolfe on the dual, with exact line search: the way the paper compares itself with;
- L-BFGS, as `cccp` does it.
"""

import argparse
import time
from pathlib import Path

import numpy as np

from cfmgml import NodeSum, gram_matrix
from cfmgml.datasets import load_digit_bags
from cfmgml.kernels.factors import factorize
from cfmgml.learning.objective import RankLoss
from cfmgml.learning.solvers.cccp import Problem
from cfmgml.learning.solvers.lbfgs import State, descend


def make_problem(n_bags, alpha):
    bags = load_digit_bags(subset="train", n_bags=n_bags, random_state=0)
    rows = factorize(gram_matrix(NodeSum(), bags.graphs)).X
    loss = RankLoss(
        bags.bag_ptr, bags.Y, ~bags.Y, np.ones(bags.Y.shape[1]), term_weights="mean", irrelevant_graphs="all"
    )
    return Problem(rows, loss, alpha, fit_intercept=False)


def subgradient(problem, bound):
    """Pegasos: W <- (1 - 1/t) W - slope / (alpha t), then back into the ball."""
    theta = problem.start()
    value, gradient = bound.value_and_gradient(theta)
    radius = np.sqrt(2 * value / problem.alpha)
    yield value, theta
    for step in range(1, 10**9):
        theta = theta - gradient / (problem.alpha * step)
        norm = np.linalg.norm(theta)
        theta *= min(1.0, radius / norm) if norm else 1.0
        value, gradient = bound.value_and_gradient(theta)
        yield value, theta


def frank_wolfe(problem, bound):
    """Every slope of the loss gives a plane below it; the dual mixes planes, and a new one comes in at each step."""
    alpha, theta = problem.alpha, problem.start()
    plane, height = np.zeros_like(theta), 0.0  # the mixed plane: <plane, theta> + height <= loss(theta)
    first = True
    while True:
        value, gradient = bound.value_and_gradient(theta)
        yield value, theta
        slope = gradient - alpha * theta
        loss = value - alpha / 2 * float(theta @ theta)
        towards, lift = slope - plane, loss - float(slope @ theta) - height
        # maximise height + s lift - |plane + s towards|^2 / (2 alpha) over s in [0, 1]
        best = (alpha * lift - float(plane @ towards)) / max(float(towards @ towards), 1e-300)
        share = 1.0 if first else min(max(best, 0.0), 1.0)
        plane, height, first = plane + share * towards, height + share * lift, False
        theta = -plane / alpha


def lbfgs(problem, bound):
    scales = problem.scales()

    def scaled(point):
        value, gradient = bound.value_and_gradient(point * scales)
        return value, gradient * scales

    state = State.start(scaled, problem.start())
    yield state.value, state.point
    for after in descend(scaled, state):
        yield after.value, after.point * scales


METHODS = {"subgradient (paper)": subgradient, "Frank-Wolfe on the dual": frank_wolfe, "L-BFGS": lbfgs}


def follow(method, problem, seconds, most):
    """CPU seconds and the best objective so far, step by step."""
    bound = problem.bound(problem.start())
    start, best, track = time.process_time(), np.inf, []
    for step, (value, _) in enumerate(method(problem, bound)):
        best = min(best, value)
        track.append((time.process_time() - start, best))
        if track[-1][0] > seconds or step >= most:
            break
    return np.array(track)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bags", type=int, default=300)
    parser.add_argument("--alpha", type=float, default=1e-4)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--out", type=Path, default=Path(__file__).parents[1] / "docs" / "results" / "bench")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    problem = make_problem(options.bags, options.alpha)
    lowest = follow(lbfgs, problem, 10 * options.seconds, 5000)[-1, 1]
    tracks = {name: follow(method, problem, options.seconds, 10**9) for name, method in METHODS.items()}
    write(options, problem, lowest, tracks)


def write(options, problem, lowest, tracks):
    gaps = (1e-1, 1e-2, 1e-3, 1e-4)
    lines = [
        "# One convex subproblem: objective against time", "",
        f"Made by `python benchmarks/subproblem.py --bags {options.bags} --alpha {options.alpha:g}`: "
        f"{problem.rows.shape[0]} graphs, {problem.n_labels} labels, one thread. CPU seconds until the objective is "
        f"this close to the minimum ({lowest:.6g}, by L-BFGS run to the end), relatively.", "",
        "| method | " + " | ".join(f"{gap:g}" for gap in gaps) + f" | gap after {options.seconds:g} s | steps |",
        "|---|" + "---:|" * (len(gaps) + 2),
    ]  # fmt: skip
    for name, track in tracks.items():
        behind = (track[:, 1] - lowest) / abs(lowest)
        cells = [f"{track[behind <= gap][0, 0]:.2f}" if (behind <= gap).any() else "-" for gap in gaps]
        lines.append(f"| {name} | {' | '.join(cells)} | {behind[-1]:.1e} | {len(track):,} |")
    lines += ["", "![Gap to the minimum against CPU seconds](subproblem.png)"]
    (options.out / "subproblem.md").write_text("\n".join(lines) + "\n")
    plot(options, lowest, tracks)


def plot(options, lowest, tracks):
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    for name, track in tracks.items():
        behind = np.maximum((track[:, 1] - lowest) / abs(lowest), 1e-9)
        axes.loglog(np.maximum(track[:, 0], 1e-3), behind, label=name)
    axes.set(xlabel="CPU seconds", ylabel="objective above its minimum, relatively", title="One convex subproblem")
    axes.grid(which="both", alpha=0.25)
    axes.legend()
    figure.savefig(options.out / "subproblem.png", dpi=110)
    plt.close(figure)


if __name__ == "__main__":
    main()
