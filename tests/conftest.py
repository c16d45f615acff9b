"""Fixtures that all tests share."""

import os
from pathlib import Path

import hypothesis
import numpy as np
import pytest

from examples import random_bags, random_graphs
from needs import missing

collect_ignore = ["warm_experiment.py"]  # runs an experiment when it is imported, and pytest looks for doctests

hypothesis.settings.register_profile("cfmgml", deadline=None, max_examples=25, derandomize=True)
hypothesis.settings.load_profile("cfmgml")


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def graphs():
    return random_graphs(12, seed=3)


@pytest.fixture(scope="session")
def bags():
    return random_bags(24, seed=5)


@pytest.fixture(scope="session")
def data_folder():
    """The folder of real data sets; without it the test is skipped, and in CI it fails."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ["CFMGML_DATA"]) if "CFMGML_DATA" in os.environ else beside
    if not folder.is_dir():
        missing(f"real data not found at {folder}: set CFMGML_DATA to the folder of msrc_v2, hoc_sentences, ...")
    return folder
