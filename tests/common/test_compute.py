"""`Compute`: bad values are refused in one place, whoever gives them."""

import pickle

import numpy as np
import pytest

from cfmgml import CfMGML, NodeSum, gram_matrix
from cfmgml.common.compute import Compute
from cfmgml.datasets import load_digit_bags
from cfmgml.learning.training import Training


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"dtype": "int8"}, "dtype must be float32 or float64, got int8"),
        ({"dtype": "tf32"}, "dtype='tf32' is for a card"),
        ({"device": "tpu"}, "device must be 'cpu', 'cuda'"),
        ({"n_jobs": 0}, "n_jobs must be None"),
    ],
)
def test_bad_values_are_refused(wrong, message):
    bags = load_digit_bags(n_bags=2, random_state=0)
    with pytest.raises(ValueError, match=message):
        Compute(**wrong)
    with pytest.raises(ValueError, match=message):
        gram_matrix(NodeSum(), bags.graphs, **wrong)
    with pytest.raises(ValueError, match=message):
        CfMGML(**wrong).fit(bags)


def test_it_is_made_of_a_models_parameters():
    made = Training.of(CfMGML(dtype="float32", n_jobs=2, verbose=True)).compute
    assert made == Compute("float32", "cpu", 2, True)
    assert (made.numbers, made.on_numpy, made.quiet) == (np.float32, True, Compute("float32", n_jobs=2))
    assert pickle.loads(pickle.dumps(made)) == made
