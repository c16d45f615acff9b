"""What to touch for a new baseline or a new measure: its own file and one list, which all commands read."""

import pytest

from cfmgml import metrics
from cfmgml.baselines import BASELINES, Dummy
from cfmgml.baselines.method import Method
from cfmgml.cli import main
from cfmgml.datasets import load_digit_bags
from cfmgml.evaluation import measures
from cfmgml.evaluation.measures import MEASURES, Measure
from cfmgml.evaluation.methods import METHODS, methods_of
from cfmgml.evaluation.representations import REPRESENTATIONS

COMMAND = ["evaluate", "digits.bags", "--folds", "2", "--inner", "2", "--n-jobs", "1", "--out", "out"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    load_digit_bags(n_bags=9, random_state=0).save(tmp_path / "digits.bags")
    monkeypatch.chdir(tmp_path)
    return tmp_path


class Rarest(Dummy):
    """A made-up baseline, as its file would have it: the estimator, and how it is compared."""

    compared = (
        Method("rarest", "Rarest", "the least frequent label", "vectors", {"offset": (0.0, 1.0)}, by_default=True),
    )

    def __init__(self, offset=0.0):
        self.offset = offset

    def decision_function_graphs(self, X):
        return self.offset - super().decision_function_graphs(X)


def test_a_baseline_is_a_file_and_an_entry_of_the_list(folder, monkeypatch, capsys):
    for method in methods_of([*BASELINES, Rarest]):  # the list with it
        monkeypatch.setitem(METHODS, method.key, method)
    assert main([*COMMAND, "--methods", "rarest,dummy"]) == 0
    printed = capsys.readouterr().out
    assert "| Rarest |" in printed
    assert "the least frequent label" in (folder / "out" / "report.html").read_text()
    assert "| Rarest (offset) |" not in printed
    assert "Rarest" in (folder / "out" / "tables" / "settings.md").read_text()  # its grid was searched


def test_every_baseline_is_compared_and_sees_the_data_in_a_known_way():
    for baseline in BASELINES:
        assert [METHODS[method.key].estimator for method in baseline.compared] == [baseline] * len(baseline.compared)
        assert baseline.compared
    assert {method.takes for method in METHODS.values()} <= set(REPRESENTATIONS)


def test_a_measure_is_a_value_of_a_report_and_an_entry_of_the_list(folder, monkeypatch, capsys):
    def with_exact_match(Y, scores, predicted=None):
        report = metrics.bag_report(Y, scores, predicted)
        return {**report, "exact_match": float(((scores > 0) == Y).all(axis=1).mean())}

    monkeypatch.setattr(measures, "bag_report", with_exact_match)
    MEASURES.append(Measure("bag", "exact_match", "exact match", True))
    try:
        assert main([*COMMAND, "--methods", "dummy"]) == 0
    finally:
        MEASURES.pop()
    assert "exact match ↑" in capsys.readouterr().out
    assert "Exact match ↑" in (folder / "out" / "tables" / "bags.md").read_text()
    assert "Exact match ↑" in (folder / "out" / "report.html").read_text()
    assert ",exact_match,nested," in (folder / "out" / "tables" / "figures.csv").read_text()
