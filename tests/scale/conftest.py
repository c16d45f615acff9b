"""Stores and a cluster for tests of training over stores."""

import warnings

import numpy as np
import pytest

from cfmgml import CfMGML
from cfmgml.kernels import HashedWL
from cfmgml.stores import BagStore
from examples import random_bags


@pytest.fixture(scope="session")
def many():
    return random_bags(150, seed=8)


@pytest.fixture(scope="session")
def store(many, tmp_path_factory):
    folder = tmp_path_factory.mktemp("stores") / "many"
    many.to_store(folder, graphs_per_partition=50)
    return BagStore(folder)


@pytest.fixture
def make_model():
    def make(kernel=None, **params):
        return CfMGML(kernel or HashedWL(2, n_bits=8), **{"alpha": 1e-3, "n_rounds": 2, "max_iter": 12, **params})

    return make


@pytest.fixture(scope="session")
def client():
    """Two real worker processes."""
    from distributed import Client, LocalCluster

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cluster = LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None)
        client = Client(cluster)
    yield client
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        client.close()
        cluster.close()


def weights(model):
    return np.concatenate([model.scorer_.coef.ravel(), model.intercept_])


@pytest.fixture(scope="session")
def assert_same_weights():
    def check(a, b, relative=1e-6):
        expected = weights(b)
        assert np.abs(weights(a) - expected).max() <= relative * np.abs(expected).max()

    return check
