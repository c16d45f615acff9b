"""torch, where it is, and every device it can use here: its CPU always, and a card if there is one."""

import importlib
import importlib.util
import os
import shutil

import pytest

NO_TORCH = "torch is not installed: pip install 'cfmgml[gpu]'"


@pytest.fixture(scope="session")
def torch():
    """The library; without it the test is skipped, and in CI it fails."""
    if importlib.util.find_spec("torch") is None:
        if os.environ.get("CI"):
            pytest.fail(NO_TORCH)
        pytest.skip(NO_TORCH)
    return importlib.import_module("torch")


DEVICES = ["torch:cpu", "cuda"] if shutil.which("nvidia-smi") else ["torch:cpu"]


@pytest.fixture(params=DEVICES)
def device(request, torch):
    if request.param == "cuda" and not torch.cuda.is_available():
        pytest.skip("there is no card here")
    return request.param
