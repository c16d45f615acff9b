"""A run of the protocol that takes seconds, on the embedded digits; importable by processes that are started on it."""

from functools import cache

from cfmgml import NodeSum
from cfmgml.datasets import load_digit_bags
from cfmgml.evaluation.data_sets import own_data
from cfmgml.evaluation.experiment import Experiment
from cfmgml.evaluation.methods import find_methods
from cfmgml.evaluation.protocol import Protocol

PROTOCOL = Protocol(n_folds=2, n_inner=2, quick=True)
FEW = ("cfmgml", "m3miml", "dummy")


@cache
def digits(shared=False):
    """Bags of digits as a data set; bags share digits, and if ``shared`` a second set of folds keeps them apart."""
    return own_data(load_digit_bags(n_bags=20, random_state=0), "digits", NodeSum(), apart=shared)


def run(out, methods=FEW, n_jobs=None, reports=None, data=None):
    """Measure what is missing in the folder; returns the experiment."""
    experiment = Experiment(out)
    sets = [data or digits()]
    assert experiment.run(sets, find_methods(list(methods)), PROTOCOL, n_jobs, reports) == []
    return experiment


def run_in_process(out):
    """The same for a process of its own, which may be killed."""
    run(out)
