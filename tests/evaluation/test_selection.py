"""Which setting is reported, on rows made by hand."""

import numpy as np
import pytest

from cfmgml.evaluation.comparison import best_and_ties, measure_table, with_deviation
from cfmgml.evaluation.measures import find_measure
from cfmgml.evaluation.rows import KEY
from cfmgml.evaluation.selection import Results, setting_name
from cfmgml.paper.against import against_paper
from cfmgml.paper.presentation import PaperPresentation

N_FOLDS, N_INNER = 4, 2
AP = find_measure("bag", "average_precision")


def fact(**changes):
    return {
        "key": "msrc_v2-rich",
        "title": "MSRC",
        "mark": "MSRC",
        "about": "photos",
        "column": "msrc_v2",
        "ranked": True,
        "stand_in": None,
        "has_graph_labels": True,
        "n_bags": 40,
        "subset": 0,
        "overlap": None,
        "labels": ["cow", "sky"],
        "protocol": {"n_folds": N_FOLDS, "n_inner": N_INNER, "seed": 0},
        "fingerprints": {"cfmgml": "f", "hlk": "f", "dummy": "f", "sgsl-svm": "f"},
        "why_not": {"mgmlent": "no node labels"},
        "short_grids": [],
        **changes,
    }


def rows_of(method, values, accuracy=None, **changes):
    """Rows of a method: ``values[alpha]`` has, for every fold, the reported and the inner average precisions."""
    made = []
    for alpha, folds in values.items():
        for fold, (reported, *inner) in enumerate(folds):
            for number, value in [(None, reported), *enumerate(inner)]:
                made.append({
                    **dict.fromkeys(KEY), "data": "msrc_v2-rich", "fingerprint": "f", "method": method,
                    "scheme": "bags",
                    "params": {} if alpha is None else {"alpha": alpha}, "n_folds": N_FOLDS, "n_inner": N_INNER,
                    "seed": 0, "fold": fold, "inner": number, "bag.average_precision": value,
                    "graph.accuracy": value if accuracy is None else accuracy[alpha], **changes,
                })  # fmt: skip
    return made


GOOD_INSIDE = {
    1e-4: [(0.70, 0.9, 0.9), (0.70, 0.9, 0.9), (0.70, 0.1, 0.1), (0.70, 0.9, 0.9)],
    1e-5: [(0.80, 0.5, 0.5), (0.80, 0.5, 0.5), (0.80, 0.5, 0.5), (0.80, 0.5, 0.5)],
}


def test_reported_takes_the_best_over_the_reported_folds():
    results = Results(rows_of("cfmgml", GOOD_INSIDE), [fact()])
    assert results.cell("msrc_v2-rich", "cfmgml", "bag", "average_precision", "reported").mean == pytest.approx(0.8)


def test_nested_looks_inside_the_training_folds_only():
    results = Results(rows_of("cfmgml", GOOD_INSIDE), [fact()])
    cell = results.cell("msrc_v2-rich", "cfmgml", "bag", "average_precision")
    np.testing.assert_allclose(cell.values, [0.7, 0.7, 0.8, 0.7])
    assert [setting_name(row) for row in results.chosen("msrc_v2-rich", "cfmgml", "bag")][2] == "alpha=1e-05"


def test_fewer_inner_folds_where_there_are_many_graphs():
    """By its first inner folds 1e-5 is best, by all of them 1e-4."""
    values = {1e-4: [(0.7, 0.4, 0.9)] * 4, 1e-5: [(0.8, 0.5, 0.5)] * 4}
    results = Results(rows_of("cfmgml", values), [fact(n_inner_run=1)])
    assert results.cell("msrc_v2-rich", "cfmgml", "bag", "average_precision").mean == pytest.approx(0.8)
    results = Results(rows_of("cfmgml", values), [fact()])
    assert results.cell("msrc_v2-rich", "cfmgml", "bag", "average_precision").mean == pytest.approx(0.7)


def test_who_may_look_at_graph_labels():
    """By graph accuracy 1e-4 is best; only the selection on reported folds and the supervised method may go by it."""
    accuracy = {1e-4: 0.9, 1e-5: 0.3}
    values = {1e-4: [(0.2, 0.2, 0.2)] * 4, 1e-5: [(0.8, 0.8, 0.8)] * 4}
    rows = rows_of("cfmgml", values, accuracy) + rows_of("sgsl-svm", values, accuracy)
    results = Results(rows, [fact()])

    def accuracy_of(method, selection):
        return results.cell("msrc_v2-rich", method, "graph", "accuracy", selection).mean

    assert accuracy_of("cfmgml", "nested") == pytest.approx(0.3)
    assert accuracy_of("cfmgml", "reported") == pytest.approx(0.9)
    assert accuracy_of("sgsl-svm", "nested") == pytest.approx(0.9)


def test_a_method_without_parameters_needs_no_inner_folds():
    results = Results(rows_of("dummy", {None: [(0.4,)] * 4}), [fact()])
    nested, reported = (
        results.cell("msrc_v2-rich", "dummy", "bag", "average_precision", s) for s in ("nested", "reported")
    )
    np.testing.assert_array_equal(nested.values, reported.values)


def test_settings_that_are_equally_good_go_by_name():
    same = [(0.5, 0.5, 0.5)] * 4
    forth = Results(rows_of("cfmgml", {1e-4: same, 1e-5: same}), [fact()])
    back = Results(rows_of("cfmgml", {1e-5: same, 1e-4: same}), [fact()])
    chosen = [
        [setting_name(row) for row in results.chosen("msrc_v2-rich", "cfmgml", "bag")] for results in (forth, back)
    ]
    assert chosen[0] == chosen[1]


@pytest.mark.parametrize(
    ("method", "level", "why"),
    [("mgmlent", "bag", "no node labels"), ("mgmlent", "graph", "labels bags only"), ("hlk", "bag", "not run")],
)
def test_empty_cells_say_why(method, level, why):
    results = Results(rows_of("cfmgml", GOOD_INSIDE), [fact()])
    cell = results.cell("msrc_v2-rich", method, level, "average_precision")
    assert cell.values is None
    assert cell.why == why


def test_what_is_left_out_on_purpose_is_not_called_missing():
    results = Results(rows_of("cfmgml", GOOD_INSIDE), [fact(not_planned=["gin"])])
    assert results.cell("msrc_v2-rich", "gin", "bag", "average_precision").why == "if asked for"


def test_unfinished_and_unlabelled():
    rows = [row for row in rows_of("cfmgml", GOOD_INSIDE) if row["fold"] < 3]
    results = Results(rows, [fact(has_graph_labels=False)])
    assert results.cell("msrc_v2-rich", "cfmgml", "bag", "average_precision").why == "3 of 4 folds"
    assert results.cell("msrc_v2-rich", "cfmgml", "bag", "average_precision", "reported").why == "not run"
    assert results.cell("msrc_v2-rich", "cfmgml", "graph", "accuracy").why == "no graph labels"


def test_rows_of_other_data_or_another_protocol_are_left_alone():
    rows = rows_of("cfmgml", GOOD_INSIDE)
    others = rows_of("cfmgml", {1e-6: [(0.99, 0.99, 0.99)] * 4}, fingerprint="other")
    others += rows_of("cfmgml", {1e-6: [(0.99, 0.99, 0.99)] * 4}, seed=7)
    assert Results(rows + others, [fact()]).rows("msrc_v2-rich", "cfmgml") == rows


# -- tables from rows ----------------------------------------------------------------------------


@pytest.fixture
def compared():
    close = {1e-4: [(0.70, 0.9, 0.9), (0.74, 0.9, 0.9), (0.69, 0.9, 0.9), (0.72, 0.9, 0.9)]}
    near = {1e-4: [(0.71, 0.9, 0.9), (0.72, 0.9, 0.9), (0.70, 0.9, 0.9), (0.71, 0.9, 0.9)]}
    ceiling = {1e-4: [(0.99, 0.9, 0.9)] * 4}
    rows = (
        rows_of("cfmgml", close) + rows_of("hlk", near) + rows_of("dummy", {None: [(0.2,), (0.21,), (0.19,), (0.2,)]})
    )
    return Results(rows + rows_of("sgsl-svm", ceiling), [fact()], PaperPresentation())


def test_ties_with_the_best(compared):
    """The supervised method is the ceiling and not among the best; what is close is a tie, what is far is none."""
    assert best_and_ties(compared, "msrc_v2-rich", AP, "nested") == {"cfmgml", "hlk"}


def test_the_table_has_the_papers_figure_and_both_of_ours(compared):
    table = measure_table(compared, ["msrc_v2-rich"], AP)
    lines = {(row.head, row.cells[0].text, row.cells[0].bold) for row in table.rows if row.cells}
    assert ("the paper’s cfMGML", ".730 ± .015", False) in lines
    assert ("the paper’s SGSL SVM", ".860 ± .007", False) in lines
    mean, deviation = np.mean([0.70, 0.74, 0.69, 0.72]), np.std([0.70, 0.74, 0.69, 0.72])
    for words in ("ours, chosen as in the paper", "ours, chosen in training folds"):
        assert (words, with_deviation(mean, deviation), True) in lines
        assert (words, ".990 ± .000", False) in lines


def test_without_published_figures_ours_speak_for_themselves(compared):
    table = measure_table(Results(compared.all_rows(), [fact()]), ["msrc_v2-rich"], AP)
    assert {row.head for row in table.rows if row.cells} == {
        "chosen on the reported folds, which flatters",
        "chosen in training folds",
    }
    assert "paper" not in " ".join(table.notes)


def test_ahead_is_positive_whichever_way_a_measure_points(compared):
    ours = {row.measure.key: row for row in against_paper(compared, "msrc_v2-rich", "cfmgml", "cfMGML")}
    assert set(ours) == {"average_precision", "accuracy"}  # what the rows have and the paper too
    assert ours["average_precision"].ahead == pytest.approx(0.7125 - 0.730)
    assert ours["accuracy"].ahead == pytest.approx(0.7125 - 0.433)
