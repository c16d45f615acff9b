"""Temporary folders of dead runs are removed, those of living ones are not."""

import os
import subprocess
import sys

import pytest

from cfmgml.scale.scratch import feature_folder

RUN = """
import sys
from cfmgml.scale.scratch import feature_folder
with feature_folder(None) as folder:
    (folder / "some.rows").write_bytes(b"features")
    print(folder, flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def test_only_folders_of_dead_runs_are_removed(temporary):
    settings = {**os.environ, "TMPDIR": str(temporary)}
    run = subprocess.Popen([sys.executable, "-c", RUN], stdin=-1, stdout=-1, env=settings, text=True)
    theirs = run.stdout.readline().strip()
    other = temporary / "cfmgml-features-of-a-worker-elsewhere"
    other.mkdir()
    with feature_folder(None) as ours:
        with feature_folder(None) as third:
            assert len({str(ours), str(third), theirs}) == 3
        assert ours.is_dir()
        assert not third.exists()
        assert os.path.exists(os.path.join(theirs, "some.rows")), "its run is alive"
    run.kill()
    run.communicate()
    assert os.path.exists(theirs)
    with feature_folder(None):
        assert not os.path.exists(theirs)
    assert list(temporary.iterdir()) == [other]


def test_removed_after_an_error_too(temporary):
    with pytest.raises(RuntimeError), feature_folder(None) as folder:
        (folder / "some.rows").write_bytes(b"features")
        raise RuntimeError
    assert list(temporary.iterdir()) == []


def test_a_folder_that_was_given_stays(temporary):
    (temporary / "mine").mkdir()
    with feature_folder(temporary / "mine") as folder:
        assert folder == temporary / "mine"
    assert folder.is_dir()
