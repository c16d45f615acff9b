"""The tables in docs/results are those that the rows beside them make, to the last byte."""

from pathlib import Path

import pytest

from cfmgml.evaluation.details import cost_table
from cfmgml.evaluation.experiment import Experiment
from cfmgml.evaluation.page import About, page
from cfmgml.evaluation.rows import wall_seconds
from cfmgml.evaluation.tables import markdown
from cfmgml.paper.presentation import PaperPresentation
from cfmgml.paper.report import table_files

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / "docs" / "results" / "reproduction"


@pytest.fixture(scope="module")
def results():
    return Experiment(KEPT).results(PaperPresentation())


def test_committed_tables_are_what_the_rows_make(results):
    made = {name: text.encode() for name, text in table_files(results).items()}
    kept = {path.name: path.read_bytes() for path in (KEPT / "tables").iterdir()}
    assert sorted(kept) == sorted(made)
    assert [name for name, content in made.items() if content != kept[name]] == []


def test_committed_costs_are_what_the_rows_make(results):
    assert (KEPT / "costs.md").read_bytes() == markdown(cost_table(results, list(results.facts))).encode()


def test_the_text_counts_the_rows(results):
    n_rows = len(results.all_rows())
    assert f"`rows.jsonl.gz`, {n_rows:,} of them" in (ROOT / "docs" / "results" / "reproduction.md").read_text()


def test_text_and_page_tell_of_the_same_time(results):
    hours = f"{wall_seconds(results.all_rows()) / 3600:.1f} hours of wall time"
    assert hours in (ROOT / "docs" / "results" / "reproduction.md").read_text()
    assert hours in page(results, About("", ""), {"nothing": ("Nothing", "-")})
