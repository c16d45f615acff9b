"""Hints to install something: one place words them, and what they name works from a clone and from a wheel."""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from cfmgml.common import extras
from cfmgml.common.extras import install_command, missing_extra

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted((ROOT / "src" / "cfmgml").rglob("*.py"))
ELSEWHERE = {
    "common/extras.py",
    "baselines/gin_attention.py",
}  # the last in its docstring


def test_hints_are_worded_in_one_place():
    """Nobody else words one."""
    found = {str(path.relative_to(ROOT / "src" / "cfmgml")) for path in SOURCES if "pip install" in path.read_text()}
    assert found <= ELSEWHERE


def test_every_extra_that_is_named_exists():
    """pip only warns of one that does not."""
    known = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    text = "\n".join(path.read_text() for path in SOURCES)
    named = {*re.findall(r"missing_extra\([^)]*\"(\w+)\"\)", text), *re.findall(r"cfmgml\[(\w+)\]", text)}
    assert named >= {"plots", "images", "gpu", "parquet", "molecules", "texts", "dask", "networkx", "deep", "web"}
    assert named <= set(known)


def test_an_active_environment_has_the_short_command(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: str(Path(sys.executable).parent / name))
    assert missing_extra("plots need matplotlib", "plots") == "plots need matplotlib: pip install 'cfmgml[plots]'."


@pytest.mark.parametrize("found", [None, "/usr/bin/pip"])
def test_else_the_command_names_this_python(monkeypatch, tmp_path, found):
    monkeypatch.setattr(shutil, "which", lambda name: found)
    monkeypatch.chdir(tmp_path)
    assert install_command("grakel") == f"{sys.executable} -m pip install grakel"
    monkeypatch.setattr(sys, "executable", str(tmp_path / ".venv" / "bin" / "python"))
    assert extras.install_command("cfmgml[web]") == ".venv/bin/python -m pip install 'cfmgml[web]'"


@pytest.mark.slow
def test_the_command_adds_an_extra_to_what_is_installed(tmp_path):
    """cfmgml itself is looked for nowhere: pip takes the one that is there, here one with no other dependency."""
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "env"], check=True)
    python = tmp_path / "env" / "bin" / "python"
    [packages] = (tmp_path / "env" / "lib").glob("python*/site-packages")
    about = packages / "cfmgml-1.0.dist-info"
    about.mkdir()
    extra = "Provides-Extra: web\nRequires-Dist: needed-by-web; extra == 'web'\n"
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: cfmgml\nVersion: 1.0\n{extra}")
    (about / "RECORD").write_text("")
    done = subprocess.run(
        [python, "-m", "pip", "--disable-pip-version-check", "install", "--no-index", "cfmgml[web]"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "Requirement already satisfied: cfmgml[web]" in done.stdout
    assert "No matching distribution found for needed-by-web" in done.stderr
