"""Tables, findings and the page, from a real run of all methods on a few bags of digits."""

import csv
import io
import re
import shutil
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from cfmgml.evaluation.charts import critical_difference_diagram, curves
from cfmgml.evaluation.details import confusion_matrix, label_table, overlap_table
from cfmgml.evaluation.experiment import Experiment
from cfmgml.evaluation.measures import find_measure
from cfmgml.evaluation.methods import METHODS
from cfmgml.evaluation.page import About
from cfmgml.evaluation.ranking import rank_table, rank_test
from cfmgml.evaluation.rows import read_compact, write_compact
from cfmgml.evaluation.selection import Results
from cfmgml.evaluation.statistics import LEVEL, RankTest, corrected_interval, corrected_paired_test
from cfmgml.paper.findings import findings
from cfmgml.paper.presentation import PaperPresentation
from cfmgml.paper.report import TITLE, paper_page, table_files, write_paper_report
from cfmgml.paper.samples import sample_figure
from small_experiment import digits, run

pytestmark = pytest.mark.slow

PAPER = PaperPresentation()
ABOUT = About(TITLE, "cfmgml reproduce")
RUN = [key for key in METHODS if key not in ("gin", "misvm", "m3miml-vectors")]


@pytest.fixture(scope="module")
def experiment(tmp_path_factory):
    return run(tmp_path_factory.mktemp("out"), RUN, data=digits(shared=True))


@pytest.fixture(scope="module")
def results(experiment):
    """As if the digits were one of the paper's data sets, and another one that stands in for one."""
    fact = experiment.facts()[0]
    msrc = {**fact, "column": "msrc_v2", "ranked": True}
    twin = {**msrc, "key": "twin", "mark": "Twin†", "column": "dblp_ai", "stand_in": "what is <not> public"}
    rows = experiment.store.rows()
    return Results([*rows, *({**row, "data": "twin"} for row in rows)], [msrc, twin], PAPER)


class Tags(HTMLParser):
    """Collects tags, and fails on one that is not closed in its turn."""

    VOID = ("meta", "br", "img")

    def __init__(self, text):
        super().__init__()
        self.opened, self.attributes, self.text = [], [], []
        self.feed(text)
        self.close()
        assert not self.opened

    def handle_starttag(self, tag, attrs):
        self.attributes += [(tag, *attribute) for attribute in attrs]
        if tag not in self.VOID:
            self.opened.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.attributes += [(tag, *attribute) for attribute in attrs]

    def handle_endtag(self, tag):
        assert self.opened.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


@pytest.fixture(scope="module")
def html(results):
    about = replace(ABOUT, quick=True, failures=["x: <b>it</b> broke"])
    return paper_page(
        results, about, sample_figure("A picture", '<img class=sample alt="a" src="data:image/jpeg;base64,AAAA">')
    )


def test_the_page_is_whole_and_needs_nothing_else(html):
    tags = Tags(html)
    outside = [value for tag, name, value in tags.attributes if name in ("src", "href", "data") and value[0] != "#"]
    assert outside == ["data:image/jpeg;base64,AAAA"]
    assert "<script" not in html
    ids = [value for _, name, value in tags.attributes if name == "id"]
    assert len(ids) == len(set(ids))
    assert "url(" not in html


def test_the_page_has_all_its_sections(html):
    sections = re.findall(r"<section id=(\w+)>", html)
    assert sections == [  # of a quick run, which has no findings
        "graphs", "bags", "ranks", "lambda", "convergence", "cost", "labels", "overlap", "samples", "data",
    ]  # fmt: skip
    for name in sections:
        assert f'href="#{name}"' in html


def test_the_page_says_what_it_is(html, results):
    text = " ".join(Tags(html).text)
    assert "A quick run." in text
    assert f"{results.facts['digits']['n_bags']} bags of each data set, 2 folds, 2 inner folds" in text
    assert "x: <b>it</b> broke" in text  # as text, not as markup
    assert "Stands in for what is <not> public" in text
    assert "it is not the paper’s data" in text


def test_charts_are_named_for_those_who_cannot_see_them(html):
    for chart in re.findall(r"<svg class=\"chart[^>]*>", html):
        assert 'role="img"' in chart
        assert re.search(r'aria-label="[^"]+"', chart)


def test_nothing_empty_is_shown(results):
    few = Results(results.rows("digits", "dummy"), list(results.facts.values())[:1], PAPER)
    text = paper_page(few, ABOUT)
    assert "<section id=convergence>" not in text
    assert "<section id=samples>" not in text
    Tags(text)


# -- tables ------------------------------------------------------------------------------------


def test_every_table_in_every_format(results, tmp_path):
    write_paper_report(results, tmp_path, ABOUT)
    names = {path.name for path in (tmp_path / "tables").iterdir()}
    for name in ("graphs", "bags", "against_paper", "ranks", "settings", "overlap", "labels"):
        assert {f"{name}.md", f"{name}.tex"} <= names
    assert {"figures.csv", "findings.md", "confusion-digits.csv"} <= names
    assert (tmp_path / "report.html").exists()
    assert "CPU seconds" in (tmp_path / "costs.md").read_text()


def test_tables_hold_no_times(results):
    costs = {"cpu_seconds": 9.9, "wall_seconds": 9.9, "peak_mib": 9, "added_mib": 9, "at": 9.9, "sitting": "x"}
    slower = [{**row, **costs} for row in results.all_rows()]
    assert table_files(Results(slower, list(results.facts.values()), PAPER)) == table_files(results)


def test_figures_as_csv(results):
    rows = list(csv.DictReader(io.StringIO(table_files(results)["figures.csv"])))
    found = {(row["data"], row["method"], row["level"], row["measure"], row["selection"]): row for row in rows}
    own = found["digits", "cfmgml", "bag", "average_precision", "nested"]
    cell = results.cell("digits", "cfmgml", "bag", "average_precision")
    assert float(own["mean"]) == pytest.approx(cell.mean, abs=1e-6)
    assert float(own["deviation"]) == pytest.approx(cell.deviation, abs=1e-6)
    assert (own["paper_mean"], own["paper_deviation"]) == ("0.73", "0.015")
    assert found["digits", "mgmlent", "graph", "accuracy", "nested"]["why_empty"] == "labels bags only"


def test_stand_ins_are_marked_in_every_table_with_them(results):
    files = table_files(results)
    for name in ("graphs", "bags", "against_paper", "overlap", "labels"):
        assert "Twin†" in files[f"{name}.md"]
        assert "stands in for data that is not public" in files[f"{name}.md"]
    for name in ("ranks", "settings"):
        assert "Twin†" in files[f"{name}.md"]


def test_latex_is_balanced(results):
    for name, text in table_files(results).items():
        if name.endswith(".tex"):
            plain = re.sub(r"\\[{}]", "", text)
            assert plain.count("{") == plain.count("}")
            assert not re.search(r"[±†↑↓’−](?!.*%)", re.sub(r"%.*", "", text).replace("’", "'"))


def test_labels_and_confusion_count_every_graph_once(results):
    n_graphs = results.facts["digits"]["n_graphs"]
    matrix = confusion_matrix(results, "digits")
    assert matrix.sum() == n_graphs
    table = label_table(results, "digits")
    assert sum(int(row.cells[0].text) for row in table.rows) == n_graphs
    best_right = [row.cells[4].text for row in table.rows]
    shares = np.diag(matrix) / np.maximum(matrix.sum(axis=1), 1)
    assert best_right == [f"{share:.3f}".replace("0.", ".", 1) if share < 1 else "1.000" for share in shares]


def test_overlap_is_told(results):
    overlap = results.facts["digits"]["overlap"]
    words = f"{overlap['n_graphs']:,} graphs are {overlap['n_distinct_graphs']:,} different ones"
    assert words in overlap_table(results).notes[0]
    assert overlap["n_distinct_graphs"] < overlap["n_graphs"]


def test_compact_rows_are_enough_for_the_tables(experiment, tmp_path):
    rows = experiment.store.rows()
    kept = Experiment(tmp_path)
    write_compact(rows, kept.compact)
    before = kept.compact.read_bytes()
    write_compact(rows, kept.compact)
    assert kept.compact.read_bytes() == before
    assert read_compact(kept.compact) == kept.rows() == rows
    shutil.copytree(experiment.out / "data", tmp_path / "data")
    assert table_files(kept.results()) == table_files(experiment.results())
    assert read_compact(tmp_path / "nothing.gz") == []


def test_a_quick_run_gives_no_verdicts(results, tmp_path):
    quick = PaperPresentation()
    quick.tells_best = False
    bare = Results(results.all_rows(), list(results.facts.values()), quick)
    assert "**" not in "".join(line for line in table_files(bare)["against_paper.md"].splitlines() if "|" in line)
    assert "<b>" not in "".join(re.findall("<td>.*?</td>", paper_page(bare, replace(ABOUT, quick=True))))
    assert "Too little was run to call anything the best." in table_files(bare)["bags.md"]
    report = write_paper_report(results, tmp_path, replace(ABOUT, quick=True))
    assert "A quick run" in report.read_text()
    assert "class=finding>" not in report.read_text()
    assert not (tmp_path / "tables" / "findings.md").exists()
    assert "class=finding>" in paper_page(results, ABOUT)


# -- findings ----------------------------------------------------------------------------------


def test_findings_follow_the_figures(results):
    found = {finding.claim: finding for finding in findings(results)}
    ahead = found["CfMGML, its parameters chosen honestly, is ahead of the paper’s cfMGML"]
    cell = results.cell("digits", "cfmgml", "bag", "average_precision")
    beside = {(one.group, one.name): one for one in ahead.compared}
    assert "Twin†" not in {group for group, _ in beside}  # stand-ins are not compared with the paper's data
    own = beside[results.facts["digits"]["mark"], "average precision"]
    assert own.first == pytest.approx(cell.mean)
    assert own.ahead == pytest.approx(cell.mean - 0.73)
    assert own.low < own.ahead < own.high
    assert ahead.sentence.startswith("Ahead in ")
    better = [{**row, **_best(row)} if row["method"] == "cfmgml" else row for row in results.all_rows()]
    told = {finding.claim: finding for finding in findings(Results(better, list(results.facts.values()), PAPER))}
    assert told[ahead.claim].verdict == "holds"
    worse = [{**row, **_worst(row)} if row["method"] == "cfmgml" else row for row in results.all_rows()]
    told = {finding.claim: finding for finding in findings(Results(worse, list(results.facts.values()), PAPER))}
    assert told[ahead.claim].verdict == "does not hold"


def test_what_is_not_told_apart_is_undecided():
    """Neither "holds" nor "does not hold", however many data sets point one way; one that is told apart decides."""
    from cfmgml.paper.finding import Compared
    from cfmgml.paper.findings import _verdict_by_intervals

    def verdict(*ahead):
        """Of differences, told apart from 0 where they are 2 or more."""
        return _verdict_by_intervals([Compared("x", d, 0.0, d, d - 1.5, d + 1.5) for d in ahead])

    cases = {(1, 1, 1): "undecided", (1, 1, 2): "holds", (1, -1, 2): "holds in part", (-1, -1, -2): "does not hold"}
    cases |= {(1, -2, 2): "holds in part", (1, 1, -2): "does not hold", (-1, -1): "undecided"}
    assert {case: verdict(*case) for case in cases} == cases


def test_ranks_name_everybody(results):
    finding = next(f for f in findings(results) if "mean rank" in f.claim)
    assert all(title in finding.sentence for title in ("Dummy", "CfMGML, paper’s terms", "HLK", "are not told apart"))
    assert "share no graph" in finding.sentence  # beside those of the paper's folds
    assert (
        "Average ranks, parameters chosen in training folds, folds that share no graph"
        in table_files(results)["ranks.md"]
    )


def test_ranks_where_a_rival_was_run(results):
    """A method that was not run on all data sets has ranks over those that it was run on, among all others."""
    measure, facts = find_measure("bag", "average_precision"), list(results.facts.values())
    rows = [row for row in results.all_rows() if row["data"] != "twin"]
    third = {**facts[0], "key": "third", "mark": "Third"}
    rows += [{**row, "data": "third"} for row in rows]
    rows += [row for row in results.all_rows() if row["data"] == "twin" and row["method"] != "hlk"]
    partly = Results(rows, [*facts, third], PAPER)
    everywhere, among = rank_test(partly, measure), rank_test(partly, measure, where="hlk")
    assert "hlk" not in everywhere.methods
    assert set(among.methods) == {*everywhere.methods, "hlk"}
    assert set(everywhere.data_sets) - set(among.data_sets) == {"twin"}
    assert rank_test(partly, measure, where="misvm") is None  # not run at all
    assert rank_table(partly, [measure], where="hlk").title.endswith("where HLK was run")


def test_rivals_are_compared_where_no_graph_is_shared(results):
    finding = next(f for f in findings(results) if f.claim == "CfMGML is ahead of M3MIML on the same kernel")
    cells = [results.cell("twin", m, "bag", "average_precision", scheme="disjoint") for m in ("cfmgml", "m3miml")]
    apart = next(one for one in finding.compared if one.name == "Twin†, apart")
    assert (apart.first, apart.second) == pytest.approx([cell.mean for cell in cells])


def _best(row):
    measured = [name for name in row if name.startswith(("bag.", "graph."))]
    return {name: float(name.endswith(("precision", "f1", "accuracy"))) for name in measured}


def _worst(row):
    return {name: 1 - value for name, value in _best(row).items()}


def test_the_objective_finding_is_about_the_solvers(results):
    finding = next(f for f in findings(results) if f.claim == "Algorithm 1 minimises the paper’s objective")
    assert finding.verdict == "does not hold"
    assert finding.sides == ("cfMGML, Algorithm 1", "CfMGML, paper’s terms")
    assert all(one.first == pytest.approx(one.second * 10**one.ahead, rel=0.5) for one in finding.compared)


def test_findings_are_dot_plots_with_a_sentence_each(results):
    told = findings(results)
    page = paper_page(results, ABOUT).partition("<section id=findings>")[2].partition("</section>")[0]
    assert page.count("class=finding>") == page.count('class="chart dots"') == len(told)
    assert page.count('class="interval"') == page.count("<circle") == sum(len(one.compared) for one in told)
    for finding in told:
        assert finding.sentence.endswith(".")
        assert ". " not in finding.sentence
        for one in finding.compared:
            assert one.low <= one.ahead <= one.high


def test_intervals_are_those_of_the_paired_test(rng):
    """All of an interval is on one side of 0 exactly where the test tells two methods apart."""
    for shift in (0.0, 0.01, 0.02, 0.05):
        difference = rng.normal(shift, 0.02, size=10)
        low, high = corrected_interval(float(difference.mean()), float(difference.var(ddof=1)), 10, 1 / 9)
        assert (low > 0 or high < 0) == (corrected_paired_test(difference, np.zeros(10), 1 / 9) < LEVEL)


# -- charts ------------------------------------------------------------------------------------


def test_a_bar_joins_ranks_closer_than_the_critical_difference():
    test = RankTest(tuple("abcd"), ("x",), np.array([1.0, 1.4, 2.6, 4.0]), 1.0, 0.1, 1.3)
    chart = critical_difference_diagram(test, {key: key.upper() for key in "abcd"}, "ranks")
    assert chart.count('class="clique"') == 3  # the difference itself, a-b and b-c; d stands alone
    for name in ("A 1.00", "B 1.40", "C 2.60", "D 4.00"):
        assert name in chart


def test_curves_without_points_are_nothing():
    assert curves({}, "x", "t") == ""
    assert curves({"flat": [(1, 0.5), (2, 0.5)]}, "x", "t").count("<circle") == 2
    steep = curves({"steep": [(1, 0.02), (2, 1500.0)]}, "x", "t", log_y=True)
    assert all(f">1e{k}<" in steep for k in range(-2, 5))
