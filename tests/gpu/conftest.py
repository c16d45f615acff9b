"""torch, where it is, and every device it can use here: its CPU always, and a card if there is one."""

import shutil

import pytest

from needs import needs, needs_card


@pytest.fixture(scope="session")
def torch():
    """The library; without it the test is skipped, and in CI it fails."""
    return needs("torch")


DEVICES = ["torch:cpu", "cuda"] if shutil.which("nvidia-smi") else ["torch:cpu"]


@pytest.fixture(params=DEVICES)
def device(request, torch):
    if request.param == "cuda":
        needs_card()
    return request.param
