"""Every regular expression that sees users' text takes time in proportion to it, whatever the text is.

Those of sentences and words have tests of their own, tests/datasets/test_hostile_texts.py.
"""

import pathlib
import re
import time

import pytest

from cfmgml.builders.molecules.parsing import CLOCK, COUNTS
from cfmgml.builders.molecules.sketches import ATOM_NAME
from cfmgml.builders.texts.coloured import _plain
from cfmgml.common.files import JSON_STRING
from cfmgml.data.parquet.folder import NAME
from cfmgml.datasets.dblp import _text
from cfmgml.datasets.hallmarks import _unescape
from cfmgml.evaluation.tables import _tex
from cfmgml.plots.text_flow import flow
from cfmgml.reading.labels import split_labels
from cfmgml.web.server import NAME as HOST_NAME

ROOT = pathlib.Path(__file__).resolve().parents[1] / "src" / "cfmgml"
SIZES = 2**12, 2**14, 2**16, 2**18, 2**20
SECONDS = 5.0
TASKS = {
    "builders/molecules/parsing.py": (
        lambda text: (COUNTS.search(text), CLOCK.sub("", text)),
        ["M  V30 COUNTS ", " ", "[1:", "[", "0"],
    ),
    "builders/molecules/sketches.py": (ATOM_NAME.fullmatch, ["C", "1", "C1", "*"]),
    "builders/texts/coloured.py": (_plain, ["*", "\n", "a", "\\", "[]("]),
    "common/files.py": (lambda text: JSON_STRING.sub(b"", text.encode()), ['"', "a", "\\", '"\\', '\\"', '"a']),
    "data/parquet/folder.py": (NAME.fullmatch, ["part-", "0", "part-000000-", "part-000000000000"]),
    "datasets/dblp.py": (lambda text: _text({"abstract": text}), ["<", "<a", "</a", "<a ", "a>", "<a>"]),
    "datasets/hallmarks.py": (_unescape, ["\\", "\\u", "\\u0", "\\u0041", "\\u004"]),
    "evaluation/tables.py": (_tex, ["&", "\\", "_a", "{}"]),
    "reading/labels.py": (lambda text: split_labels(text, "here"), [";", " ", "; ", "a", "a,b|"]),
    "plots/text_flow.py": (lambda text: flow(text, 40), [" ", "a", "word and ", "\n\t"]),
    "web/server.py": (HOST_NAME.fullmatch, ["a", ":", "a.", "a:", "0-"]),
}
ELSEWHERE = {f"builders/texts/{name}.py" for name in ("keywords", "sentences", "former_sentences")}


def test_every_module_with_a_regular_expression_is_known():
    use = re.compile(r"^\s*(?:import re\b|from re\b)", re.MULTILINE)
    modules = {str(file.relative_to(ROOT)) for file in ROOT.rglob("*.py") if use.search(file.read_text())}
    assert modules == set(TASKS) | ELSEWHERE, "a regular expression: give it a test here"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("task", "unit"),
    [pytest.param(task, unit, id=f"{name}-{unit!r}") for name, (task, units) in TASKS.items() for unit in units],
)
def test_time_is_in_proportion(task, unit):
    for size in SIZES:
        text = unit * (size // len(unit))
        start = time.process_time()
        task(text)
        assert time.process_time() - start < SECONDS, size
