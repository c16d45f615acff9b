"""Estimators in scikit-learn's compositions: what works, and what is refused by whom."""

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import StackingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.multioutput import MultiOutputClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from cfmgml import CfMGML, NodeSum, WeisfeilerLehman


def model(kernel, **options):
    return CfMGML(kernel, alpha=1e-2, max_iter=10, n_rounds=1, random_state=0, **options)


@pytest.mark.parametrize("method", ["decision_function", "predict_proba", "predict"])
def test_stacking(bags, method):
    options = {"probability": method == "predict_proba"}
    parts = [("nodes", model(NodeSum(), **options)), ("wl", model(WeisfeilerLehman(1), **options))]
    last = MultiOutputClassifier(LogisticRegression())
    stack = StackingClassifier(parts, last, cv=KFold(3, shuffle=True, random_state=0), stack_method=method)
    stack.fit(bags, bags.Y)
    assert stack.transform(bags).shape == (bags.n_bags, 2 * bags.n_labels)
    own = getattr(stack.named_estimators_["wl"], method)(bags)
    np.testing.assert_allclose(stack.transform(bags)[:, bags.n_labels :], own)
    assert (stack.predict(bags) == bags.Y).mean() > 0.8


def test_a_pipeline_in_a_grid_search(bags):
    pipeline = make_pipeline(FunctionTransformer(), model(WeisfeilerLehman()))
    grid = {"cfmgml__kernel__n_iter": [0, 1], "cfmgml__kernel__edge_labels": [False, True]}
    search = GridSearchCV(pipeline, grid, cv=2).fit(bags, bags.Y)
    assert len(search.cv_results_["params"]) == 4
    assert search.best_estimator_[-1].kernel_.n_iter == search.best_params_["cfmgml__kernel__n_iter"]
    assert search.predict(bags).shape == bags.Y.shape


def test_calibration_is_our_own(bags):
    """scikit-learn's takes one label a row."""
    with pytest.raises(ValueError, match="y should be a 1d array"):
        CalibratedClassifierCV(model(NodeSum())).fit(bags, bags.Y)
    assert model(NodeSum(), probability=True).fit(bags).predict_proba(bags).shape == bags.Y.shape
