"""How carefully a fitted model should go on: average precision while `partial_fit` takes more bags, by `FITTED_STEPS`.

``python benchmarks/going_on.py`` fits 300 bags of digits, goes on with 400 more, 20 at a time, and prints one row for
each number of mini-batches that the fit counts as: average precision on other bags after the fit, the lowest on the
way, and at the end.
"""

import numpy as np

from cfmgml import CfMGML, NodeSum
from cfmgml.datasets import load_digit_bags
from cfmgml.scale import streams
from cfmgml.scale.minibatches import BAGS

FITTED, STEP = 300, 20


def main() -> None:
    train = load_digit_bags(subset="train", n_bags=700, random_state=0)
    test = load_digit_bags(subset="test", n_bags=150, random_state=1)
    print("| kernel | the fit counts as | after it | lowest | at the end | all fitted at once |")
    print("|---|---|---|---|---|---|")
    for name, kernel in {"nystrom": NodeSum(approximation="nystrom", n_components=100), "exact": NodeSum()}.items():
        whole = CfMGML(kernel, alpha=1e-4).fit(train).score(test)
        fitted = CfMGML(kernel, alpha=1e-4).fit(train[:FITTED])
        for n_steps in (-FITTED / BAGS, 1, 10, 30, 100, 300):
            streams.FITTED_STEPS = n_steps
            model = CfMGML(kernel, alpha=1e-4)
            model.learned_ = fitted.learned_
            parts = (train[start : start + STEP] for start in range(FITTED, train.n_bags, STEP))
            scores = [model.partial_fit(part).score(test) for part in parts]
            told = "nothing" if n_steps < 0 else f"its bags and {n_steps}"
            figures = (fitted.score(test), np.min(scores), scores[-1], whole)
            print(f"| {name} | {told} | {' | '.join(f'{figure:.3f}' for figure in figures)} |", flush=True)


if __name__ == "__main__":
    main()
