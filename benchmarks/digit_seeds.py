"""All methods on digit bags, as paired means over 5 seeds: 600 bags to train, 200 to test, no graph label seen.

    python benchmarks/digit_seeds.py > docs/results/digits.md

Constants come from ``benchmarks/digit_settings.py``, which looks at training digits only.
"""

import numpy as np
from joblib import Parallel, delayed

from cfmgml import CfMGML, Precomputed
from cfmgml.baselines import HLK, Dummy, SgslSVM
from cfmgml.demo.digits import ALPHA_CCCP, ALPHA_HLK, ALPHA_PAPER, MEASURES, SVM_C, measure_method, prepare

SEEDS = range(5)
ALPHA_PRINTED = 1e-2
ALPHA_HLK_OURS = 1e-4  # HLK with our weights instead of the paper's


def methods(kernel, seed):
    return {
        "CfMGML (cccp)": CfMGML(kernel, alpha=ALPHA_CCCP),
        "cccp, the paper's term weights": CfMGML(kernel, alpha=5e-5, term_weights="paper", irrelevant="max"),
        "cccp, class_weight balanced": CfMGML(kernel, alpha=ALPHA_CCCP, class_weight="balanced"),
        "cccp, tol 1e-4": CfMGML(kernel, alpha=ALPHA_CCCP, tol=1e-4),
        "CfMGML (paper)": CfMGML(kernel, alpha=ALPHA_PAPER, solver="paper", random_state=seed),
        "CfMGML (printed)": CfMGML(kernel, alpha=ALPHA_PRINTED, solver="printed", random_state=seed),
        "HLK": HLK(kernel, alpha=ALPHA_HLK),
        "HLK, alpha 1e-5": HLK(kernel, alpha=1e-5),  # as good on training digits
        "HLK, our term weights": HLK(kernel, alpha=ALPHA_HLK_OURS, term_weights="mean", irrelevant="all"),
        "Dummy": Dummy(),
        "SVM that sees graph labels": SgslSVM(kernel, C=SVM_C),
    }


def run(seed):
    train, test, _, K = prepare(600, 200, seed)
    found = {
        name: measure_method(name, "", model, train, test) for name, model in methods(Precomputed(K), seed).items()
    }
    return {name: np.array([result.values[m.level, m.key] for m in MEASURES]) for name, result in found.items()}


def main():
    runs = Parallel(2)(delayed(run)(seed) for seed in SEEDS)
    print("# Digit bags: paired means over seeds 0 to 4\n")
    print("600 bags to train, 200 to test, of different digits. Only the SVM sees graph labels in training.")
    print(
        "Made by `python benchmarks/digit_seeds.py > docs/results/digits.md`; alpha and C chosen on training digits by"
    )
    print("`python benchmarks/digit_settings.py` (see docs/defaults.md). Mean ± standard deviation over seeds.\n")
    print("| method | " + " | ".join(f"{m.level} {m.title} {m.arrow}" for m in MEASURES) + " |")
    print("|" + "---|" * (len(MEASURES) + 1))
    for name in runs[0]:
        values = np.array([r[name] for r in runs])
        cells = [f"{mean:.3f} ± {std:.3f}" for mean, std in zip(values.mean(0), values.std(0), strict=True)]
        print(f"| {name} | " + " | ".join(cells) + " |")
    print("\nCfMGML (cccp) less each other method, paired by seed (mean, and in how many of 5 seeds cccp is ahead):\n")
    shown = [k for k, m in enumerate(MEASURES) if m.key in ("average_precision", "accuracy", "annotated", "macro_f1")]
    print("| against | " + " | ".join(f"{MEASURES[k].level} {MEASURES[k].title}" for k in shown) + " |")
    print("|" + "---|" * (len(shown) + 1))
    for name in list(runs[0])[1:]:
        gaps = np.array([r["CfMGML (cccp)"] - r[name] for r in runs])
        print(
            f"| {name} | " + " | ".join(f"{gaps[:, k].mean():+.4f} ({(gaps[:, k] > 0).sum()}/5)" for k in shown) + " |"
        )


if __name__ == "__main__":
    main()
