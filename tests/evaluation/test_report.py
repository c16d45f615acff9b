"""The report on anybody's bags: it speaks of their data, not of the paper's."""

import csv
import io
import re
from html.parser import HTMLParser

import pytest

from cfmgml.cli import main
from cfmgml.evaluation import comparison
from cfmgml.evaluation.charts import curves
from cfmgml.evaluation.methods import METHODS
from cfmgml.evaluation.page import About, page
from cfmgml.evaluation.report import table_files, write_report
from cfmgml.evaluation.summary import summary_table
from small_experiment import digits, run


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return run(tmp_path_factory.mktemp("out"), data=digits(shared=True)).results()


def words_of(html):
    words = []
    parser = HTMLParser()
    parser.handle_data = words.append
    parser.feed(re.sub("<style>.*?</style>", "", html, flags=re.DOTALL))
    return " ".join(words)


def test_the_report_speaks_of_the_users_data(results):
    html = page(results, About("Methods on digits", "cfmgml evaluate digits.bags"))
    sections = re.findall(r"<section id=(\w+)>", html)
    assert sections == ["graphs", "bags", "lambda", "cost", "labels", "overlap", "data"]
    told, _, _ = words_of(html).partition("Data and methods Data")  # what a method is may name the paper
    assert not {"paper", "lambda"} & set(re.findall(r"\w+", told))  # people know alpha
    assert "stands in" not in told
    assert "chosen in training folds" in told


def test_tables_hold_the_users_figures_only(results, tmp_path):
    report = write_report(results, tmp_path, About("Methods on digits", "cfmgml evaluate digits.bags"))
    assert report == tmp_path / "report.html"
    files = table_files(results)
    assert {path.name for path in (tmp_path / "tables").iterdir()} == set(files)
    assert not {"against_paper.md", "findings.md"} & set(files)
    assert not [name for name, text in files.items() if "paper" in text]
    rows = list(csv.DictReader(io.StringIO(files["figures.csv"])))
    assert {row["selection"] for row in rows} == {"reported", "nested"}
    assert "paper_mean" not in rows[0]


def test_bold_is_explained_and_dummy_is_bold_only_if_best(results, monkeypatch):
    """Few folds tell nothing apart: then the table says so, and who learns nothing is not bold beside a better one."""
    assert "Bold: the best of the methods" in summary_table(results, "digits").notes[0]
    monkeypatch.setattr(comparison, "corrected_paired_test", lambda *values: 1.0)  # as with two bags
    table = summary_table(results, "digits")
    rows = {row.head: row.cells for row in table.rows}
    assert not any(cell.bold for cell in rows["Dummy"])
    assert all(cell.bold for cell in rows["CfMGML"])
    assert "Dummy, which learns nothing, is not told apart from the best by one-error, Hamming loss" in table.notes[1]
    page_of = page(results, About("Methods on digits", "cfmgml evaluate digits.bags"))
    dummy = page_of.partition("<th scope=row>Dummy</th>")[2].partition("class=group")[0].partition("</table>")[0]
    assert "<b>" not in dummy


def test_help_names_the_methods(capsys):
    assert main(["evaluate", "--help"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert f"Methods, separated by commas: {', '.join(METHODS)}." in shown.replace("- ", "-")


def test_curves_that_hardly_change_look_so():
    """The axis spans a tenth of the values at least."""
    chart = curves({"a": [(1e-1, 0.871), (1e-2, 0.872)]}, "lambda", "flat", log_x=True)
    heights = [float(y) for y in re.findall(r'<circle[^>]* cy="([\d.]+)"', chart)]
    assert len(heights) == 2
    assert abs(heights[0] - heights[1]) < 8
