"""A folder of made-up input, and the commands run in it."""

import contextlib
import io
import shlex

import pytest

from cfmgml.cli import main
from made_up import make_world


@pytest.fixture(scope="session")
def run_in():
    """Run a command line in a folder; returns its exit status."""

    def run(folder, command):
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(folder)
            return main(shlex.split(command))

    return run


@pytest.fixture(scope="session")
def world(tmp_path_factory):
    """Raw input only; tests write beside it under names of their own."""
    folder = tmp_path_factory.mktemp("world")
    make_world(folder)
    return folder


@pytest.fixture(scope="session")
def photo_model(world, run_in):
    """A model of the photos, made by the commands."""
    assert run_in(world, "build images photos --labels labels.csv --n-jobs 1 -o base.bags") == 0
    assert run_in(world, "train base.bags -o base.cfmgml --alpha 1e-3") == 0
    return world / "base.cfmgml"


@pytest.fixture(scope="session")
def examples_of():
    """The examples in a command's --help, as one would type them after ``cfmgml``."""

    def examples(page):
        shown = io.StringIO()
        with contextlib.redirect_stdout(shown):
            assert main([*page, "--help"]) == 0
        lines = shown.getvalue().partition("Examples:\n")[2].split("\n")
        found = [line.strip() for line in lines[: lines.index("")]]
        assert found
        assert all(line.startswith("cfmgml ") for line in found)
        return [line.removeprefix("cfmgml ") for line in found]

    return examples
