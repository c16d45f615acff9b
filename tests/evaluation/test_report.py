"""The report on anybody's bags: it speaks of their data, not of the paper's."""

import csv
import io
import re
from html.parser import HTMLParser

import pytest

from cfmgml.evaluation.page import About, page
from cfmgml.evaluation.report import table_files, write_report
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
    assert "paper" not in told
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
