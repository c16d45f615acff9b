"""`CfMGML` on a Gram matrix that several folds share, by a pivoted Cholesky factor of it.

`CfMGML` takes eigenvectors, which for 6,000 molecules is most of its time. The objective and its solver are the same;
`check` compares the scores of both on a few molecules.
"""

import numpy as np
from scipy import linalg

from cfmgml import CfMGML, Precomputed
from cfmgml.learning.solvers.cccp import Problem, solve_cccp
from cfmgml.learning.training import Training


def scores_by_alpha(K, bags, train, test, model, alphas, n_landmarks=None):
    """For each alpha, from the largest on, scores (n_test, n_labels) of bags of one graph each."""
    Y, known = bags.Y[train] > 0, bags.Y_known[train]
    factor, pivots, rank, _ = linalg.lapack.dpstrf(K[np.ix_(train, train)].astype(np.float64), lower=1, tol=1e-7)
    rank, pivots = min(rank, n_landmarks or rank), pivots - 1
    rows = np.empty((len(train), rank))
    rows[pivots] = np.tril(factor)[:, :rank]
    trail, found = (), {}
    for alpha in sorted(alphas, reverse=True):
        training = Training.of(model.set_params(alpha=alpha))
        weights = training.label_weights((Y & known).sum(0).astype(float), bags.label_names.tolist())
        loss = training.rank_loss(np.arange(len(train) + 1), Y & known, ~Y & known, weights)
        solved = solve_cccp(Problem(rows, loss, alpha, fit_intercept=True), *training.limits, model.tol, trail=trail)
        trail = solved.trail
        coef = linalg.solve_triangular(factor[:rank, :rank], solved.coef, lower=True, trans="T")
        found[alpha] = K[np.ix_(test, train[pivots[:rank]])] @ coef + solved.intercept
    return found


def check(K, bags, model, n=600):
    """The largest difference from `CfMGML`'s own scores of some molecules, both solved closely, relative to them."""
    train, test = np.arange(n), np.arange(n, 2 * n)
    model = CfMGML(**{**model.get_params(deep=False), "kernel": Precomputed(K), "alpha": 1e-4, "tol": 1e-6})
    theirs = model.set_params(max_iter=2000).fit(bags[train]).decision_function(bags[test])
    ours = scores_by_alpha(K, bags, train, test, model, [1e-4])[1e-4]
    return float(np.abs(ours - theirs).max() / np.abs(theirs).max())
