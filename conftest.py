"""What pytest must not open, and how the tests are shared out among workers."""

import importlib.util
import os

import pytest

collect_ignore = ["src/cfmgml/experiments/__init__.py"]  # former names: it warns, and warnings are errors
# Modules of an optional library that is not installed (in CI it must be).
if importlib.util.find_spec("torch") is None and not os.environ.get("CI"):
    collect_ignore += ["src/cfmgml/baselines/_gin_network.py", "src/cfmgml/baselines/gin_attention.py"]
    collect_ignore += [
        f"src/cfmgml/builders/pictures/encoders/{name}.py" for name in ("_efficientnet", "torch_encoder")
    ]
if importlib.util.find_spec("triton") is None and not os.environ.get("CI"):  # comes with torch for a card
    collect_ignore += ["src/cfmgml/gpu/fused.py"]

if importlib.util.find_spec("rdkit") is None and not os.environ.get("CI"):
    collect_ignore_glob = ["src/cfmgml/builders/molecules/*.py"]
    collect_ignore_glob += [f"src/cfmgml/datasets/{name}.py" for name in ("mixtures", "tox21")]


@pytest.fixture(scope="session")
def layouts(tmp_path_factory):
    """A folder of made-up data sets that lie as the real ones do."""
    from layouts import make_layouts

    folder = tmp_path_factory.mktemp("data")
    make_layouts(folder)
    return folder


@pytest.fixture(autouse=True)
def _data_of_loaders(request, monkeypatch):
    """What the reference shows of a loader is run on these, so that it runs everywhere."""
    if isinstance(request.node, pytest.DoctestItem) and "datasets" in request.node.path.parts:
        folder = request.getfixturevalue("layouts")
        monkeypatch.setenv("CFMGML_DATA", str(folder))
        monkeypatch.setenv("CFMGML_CACHE", str(folder / "cache"))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """With ``--dist loadfile``: a worker takes a whole file, and one takes all of web/, whose server is made once."""
    if config.getvalue("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class ByFile(LoadFileScheduling):
        def _split_scope(self, nodeid):
            return "tests/web" if nodeid.startswith("tests/web/") else super()._split_scope(nodeid)

    return ByFile(config, log)
