"""One version everywhere, what distributions hold, which Pythons there are, workflows that call what there is."""

import ast
import io
import json
import re
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml

import cfmgml

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "scripts"))
import check_distributions  # noqa: E402
import places  # noqa: E402
import test_matrix as matrix  # noqa: E402

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def steps(workflow):
    return [step for job in yaml.safe_load(workflow.read_text())["jobs"].values() for step in job["steps"]]


def test_the_version_stands_in_one_place():
    assert "version" in PROJECT["dynamic"]
    assert check_distributions.version() == cfmgml.__version__
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text())["version"] == cfmgml.__version__
    assert f"\n## {cfmgml.__version__}" in (ROOT / "CHANGELOG.md").read_text()


def test_the_same_pythons_everywhere():
    pythons = matrix.supported()
    assert pythons == ["3.11", "3.12", "3.13", "3.14"]
    assert PROJECT["requires-python"] == ">=3.11,<3.15"
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "test.yml").read_text())["jobs"]
    assert jobs["test"]["strategy"]["matrix"]["python"] == pythons
    for file, said in (("Makefile", "Python 3.11 to 3.14"), ("README.md", "Python 3.11 to 3.14")):
        assert said in (ROOT / file).read_text(), file


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_call_targets_of_the_makefile(workflow):
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    called = [
        match
        for step in steps(workflow)
        for match in re.findall(r"make (?:PYTHON=python )?([a-z-]+)", step.get("run", ""))
    ]
    assert called
    assert not set(called) - set(targets) - {"docs"}


def test_releases_are_published_without_a_token():
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text())["jobs"]
    assert jobs["publish"]["permissions"] == {"id-token": "write"}
    assert jobs["publish"]["needs"] == "build"
    assert not [step for step in jobs["publish"]["steps"] if "password" in json.dumps(step)]


def test_hooks_are_the_tools_of_make_check():
    (repo,) = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    tools = [hook["entry"].split()[0].removeprefix(".venv/bin/") for hook in repo["hooks"]]
    assert tools == ["ruff", "ruff", "mypy"]
    assert {hook["language"] for hook in repo["hooks"]} == {"system"}


# -- what distributions hold -----------------------------------------------------------------


def make_wheel(folder, leave_out=(), add=()):
    """A wheel as `make dist` makes it, from the source tree."""
    path = folder / f"cfmgml-{cfmgml.__version__}-py3-none-any.whl"
    info = f"cfmgml-{cfmgml.__version__}.dist-info"
    meta = f"Name: cfmgml\nVersion: {cfmgml.__version__}\nLicense-Expression: MIT\nLicense-File: LICENSE\n"
    beside = ["licenses/LICENSE", "WHEEL", "entry_points.txt", "top_level.txt", "RECORD"]
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr(f"{info}/METADATA", meta)
        for name in [*check_distributions.package_files(), *(f"{info}/{name}" for name in beside), *add]:
            if name.removeprefix(f"{info}/") not in leave_out:
                wheel.writestr(name, "")
    return path


def test_a_whole_wheel(tmp_path):
    assert check_distributions.problems_of_wheel(make_wheel(tmp_path)) == []
    assert "cfmgml/web/static/index.html" in check_distributions.package_files()


@pytest.mark.parametrize(
    ("leave_out", "add", "found"),
    [
        (["licenses/LICENSE"], [], "licenses/LICENSE is missing"),
        (["cfmgml/web/static/app.js"], [], "lacks cfmgml/web/static/app.js"),
        (["cfmgml/py.typed"], [], "lacks cfmgml/py.typed"),
        ([], ["tests/test_cli.py"], "tests/test_cli.py is missing or too much"),
        ([], ["cfmgml/data/photos.npz"], "has cfmgml/data/photos.npz, which is no kind of file"),
        ([], ["cfmgml/kernels/__pycache__/gram.nbc"], "which the source tree has not"),
    ],
)
def test_wheels_that_lack_or_have_too_much(tmp_path, leave_out, add, found):
    assert found in "\n".join(check_distributions.problems_of_wheel(make_wheel(tmp_path, leave_out, add)))


def test_no_distribution_is_a_problem_too(tmp_path):
    assert len(check_distributions.problems(tmp_path)) == 2


def make_sdist(folder, add=()):
    path = folder / f"cfmgml-{cfmgml.__version__}.tar.gz"
    meta = f"Name: cfmgml\nVersion: {cfmgml.__version__}\nLicense-Expression: MIT\nLicense-File: LICENSE\n".encode()
    inside = [f"src/{name}" for name in check_distributions.package_files()]
    with tarfile.open(path, "w:gz") as archive:
        for name in [*inside, *check_distributions.BESIDE, *add]:
            entry = tarfile.TarInfo(f"cfmgml-{cfmgml.__version__}/{name}")
            entry.size = len(meta) if name == "PKG-INFO" else 0
            archive.addfile(entry, io.BytesIO(meta))
    return path


def test_source_distributions(tmp_path):
    """`make dist`, which CI runs, looks into those that are built."""
    assert check_distributions.problems_of_sdist(make_sdist(tmp_path)) == []
    found = check_distributions.problems_of_sdist(make_sdist(tmp_path, ["tests/test_cli.py", "src/cfmgml/x.npz"]))
    assert [line.partition(" ")[2] for line in found] == [
        "has cfmgml/x.npz, which the source tree has not",
        "has cfmgml/x.npz, which is no kind of file of the package",
        "tests/test_cli.py is missing or too much",
    ]


# -- the matrix ------------------------------------------------------------------------------


def test_lower_bounds_as_versions():
    assert matrix.oldest(["numpy>=2.0", "rich>=13.9"]) == ["numpy==2.0", "rich==13.9"]
    assert all(re.fullmatch(r"[a-z-]+>=[\d.]+", requirement) for requirement in PROJECT["dependencies"])


def test_the_matrix_installs_what_the_core_tests_import():
    """Else it would fail when it is wanted: it is not a part of CI, whose environment has everything."""
    installed = {re.split(r"[>=<\[ ]", words)[0].lower() for words in [*PROJECT["dependencies"], *matrix.TOOLS]}
    here = {path.stem for path in (ROOT / "tests").rglob("*.py")} | {"cfmgml", "sklearn"}
    files = [file for folder in matrix.CORE.split() for file in (ROOT / folder).rglob("*.py")]
    nodes = [node for file in files for node in ast.parse(file.read_text(encoding="utf-8")).body]
    named = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    named += [node.module for node in nodes if isinstance(node, ast.ImportFrom)]
    imported = {name.partition(".")[0] for name in named}
    assert imported - set(sys.stdlib_module_names) - here <= installed
    assert "psutil" in imported


def test_places_by_words():
    assert places.Place.of("/some/chroot:python3") == places.Place("python3", Path("/some/chroot"))
    assert places.Place.of("python3.12") == places.Place("python3.12")
    assert places.Place(sys.executable).version() == "{}.{}".format(*sys.version_info)
    assert places.Place("no-such-python").version() is None


def test_the_matrix_says_what_it_left_out(monkeypatch, capsys):
    """With no interpreter there is nothing to run, which is no success."""
    monkeypatch.setattr(sys, "argv", ["test_matrix.py", "--in", "no-such-python"])
    assert matrix.main() == 1
    said = capsys.readouterr().out
    assert "Python no-such-python any     left out  there is no such interpreter" in said
    assert len(re.findall(r"left out  no interpreter was given or found", said)) == 8


def test_the_matrix_runs_the_oldest_on_the_oldest(monkeypatch):
    monkeypatch.setattr(places.Place, "version", lambda place: place.python)
    monkeypatch.setattr(
        matrix,
        "run_case",
        lambda place, python, versions, tests: matrix.Outcome(python, versions, "passed", str(place)),
    )
    outcomes = matrix.run_matrix(
        [places.Place("3.11"), places.Place("3.14"), places.Place("3.9")], "tests", ["oldest", "newest"]
    )
    passed = [(outcome.python, outcome.versions) for outcome in outcomes if outcome.result == "passed"]
    assert passed == [("3.11", "oldest"), ("3.11", "newest"), ("3.14", "newest")]
    assert "not supported" in outcomes[0].detail
