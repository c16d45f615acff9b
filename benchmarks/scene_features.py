"""Scene with more Nystrom features than the tables have: what the approximation of the kernel costs CfMGML.

    python benchmarks/scene_features.py --path ../shared/data

Three folds inside the training bags of the first fold, the best of four alphas by the mean average precision of bags;
test bags are not looked at. Minutes on two cores.
"""

import argparse
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from cfmgml import CfMGML
from choose_defaults import print_head, splits

ALPHAS = (1e-3, 1e-4, 1e-5, 1e-6)
N_FEATURES = (250, 1000)
SETTINGS = {
    "default": {},
    "context .6": {"context": 0.6},
    "context .9, max": {"context": 0.9, "irrelevant": "max"},
}


def measure(make_split, args, n_features, setting):
    """Average precision of bags at every alpha."""
    train, test, kernel = make_split(*args)
    kernel = clone(kernel).set_params(n_components=n_features)
    with threadpool_limits(limits=1):
        models = CfMGML(kernel, dtype="float32", random_state=0, **SETTINGS[setting]).fit_path(train, ALPHAS)
        return [model.score(test) for model in models]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--path", type=Path, default=None, help="the folder of data sets; CFMGML_DATA if left out")
    parser.add_argument("--folder", type=Path, default=Path("build/forms"), help="for the bags; may be kept")
    args = parser.parse_args()
    folds = splits("scene", args.path, args.folder)
    print_head("setting", *(f"{n} features" for n in N_FEATURES))
    for setting in SETTINGS:
        tasks = [delayed(measure)(make, given, n, setting) for n in N_FEATURES for _, make, given in folds]
        found = np.reshape(Parallel(2)(tasks), (len(N_FEATURES), len(folds), len(ALPHAS)))
        best = found.mean(axis=1).max(axis=1)
        print(f"| {setting} | " + " | ".join(f"{value:.4f}" for value in best) + " |", flush=True)


if __name__ == "__main__":
    main()
