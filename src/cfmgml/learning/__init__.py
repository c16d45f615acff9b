"""From scores to a model: the objective, the solvers, rows and weights, what every estimator shares."""
