"""Which settings win on bags of training digits: where the demo's constants and CfMGML's defaults come from.

    python benchmarks/digit_settings.py

Fits on 400 bags of 800 of the 1,200 training digits and measures on 200 bags of the other 400, for 4 seeds; the test
digits are never looked at. (Folds of the training bags would share digits: bags draw them with replacement.)
"""

import numpy as np
from joblib import Parallel, delayed

from cfmgml import CfMGML, Precomputed
from cfmgml.baselines import HLK, SgslSVM
from cfmgml.datasets.digits import N_TRAIN, digit_numbers, draw_bags
from cfmgml.experiments.demo import measure_method, share_gram

SEEDS = range(4)
COLUMNS = [("bag", "average_precision"), ("bag", "ranking_loss"), ("bag", "hamming_loss"), ("bag", "macro_f1"),
           ("graph", "accuracy"), ("graph", "annotated")]  # fmt: skip
OURS = {"alpha": 1e-4}
PAPER = {"alpha": 3e-5, "term_weights": "paper", "irrelevant": "max"}
SETTINGS = [
    *[("CfMGML", {"alpha": a}) for a in (1e-3, 3e-4, 1e-4, 3e-5, 1e-5)],
    *[("CfMGML", {**OURS, "term_weights": t, "irrelevant": i}) for t in ("mean", "paper") for i in ("all", "max")],
    *[("CfMGML", {**PAPER, "alpha": a}) for a in (5e-5, 3e-5, 2e-5, 1e-5)],
    *[("CfMGML", {**PAPER, **o}) for o in ({"tol": 1e-4}, {"class_weight": "balanced"}, {"n_rounds": 10})],
    *[("CfMGML", {**PAPER, **o}) for o in ({"temperature": 0.1}, {"temperature": 1.0}, {"irrelevant": "all"})],
    *[("CfMGML", {**OURS, "temperature": t}) for t in (0.1, 1.0)],
    *[("CfMGML", {**OURS, **o}) for o in ({"class_weight": "balanced"}, {"tol": 1e-2}, {"tol": 1e-4})],
    *[("HLK", {"alpha": a}) for a in (1e-4, 3e-5, 1e-5, 3e-6)],
    ("HLK", {"alpha": 1e-5, "tol": 1e-4}),
    *[("HLK", {"alpha": a, "term_weights": "mean", "irrelevant": "all"}) for a in (3e-4, 1e-4, 3e-5)],
    *[("CfMGML", {"alpha": a, "solver": "paper", "random_state": 0}) for a in (1e-2, 3e-3, 1e-3, 3e-4)],
    *[("CfMGML", {"alpha": a, "solver": "printed", "random_state": 0}) for a in (1e-1, 1e-2, 1e-3)],
    *[("SgslSVM", {"C": C}) for C in (1.0, 10.0, 100.0)],
]


def measure(setting, seed):
    name, options = setting
    numbers = digit_numbers()[:N_TRAIN]
    train, test, _, K = share_gram(
        draw_bags(numbers[:800], 400, seed, "fit"), draw_bags(numbers[800:], 200, seed, "check")
    )
    model = {"CfMGML": CfMGML, "HLK": HLK, "SgslSVM": SgslSVM}[name](Precomputed(K), **options)
    result = measure_method(name, "", model, train, test)
    return [result.values[column] for column in COLUMNS] + [result.seconds]


def main():
    tasks = [(setting, seed) for setting in SETTINGS for seed in SEEDS]
    rows = (
        np.array(Parallel(2)(delayed(measure)(*task) for task in tasks)).reshape(len(SETTINGS), len(SEEDS), -1).mean(1)
    )
    print("| method | " + " | ".join(f"{level} {key}".replace("_", " ") for level, key in COLUMNS) + " | seconds |")
    print("|" + "---|" * (len(COLUMNS) + 2))
    for (name, options), row in zip(SETTINGS, rows, strict=True):
        text = ", ".join(f"{key}={value}" for key, value in options.items() if key != "random_state")
        print(
            f"| {name}({text}) | " + " | ".join(f"{value:.4f}" for value in row[:-1]) + f" | {row[-1]:.1f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
