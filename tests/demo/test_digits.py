"""The demo's results and its page, on a small number of real digits."""

import re
from dataclasses import replace
from html.parser import HTMLParser
from types import SimpleNamespace

import numpy as np
import pytest

from cfmgml import CfMGML, NodeSum, Precomputed, gram_matrix
from cfmgml.common.segments import segment_sum
from cfmgml.demo.digits import MEASURES, best_methods, node_contributions, prepare, run_demo
from cfmgml.demo.page import contribution_scale, page, write_page
from cfmgml.evaluation.svg import line_chart, nice_step, picture


@pytest.fixture(scope="module")
def stages():
    return []


@pytest.fixture(scope="module")
def result(stages):
    return run_demo(n_train=60, n_test=30, seed=3, on_stage=stages.append)


class Tags(HTMLParser):
    """Collects tags, and fails on one that is not closed in its turn."""

    VOID = ("meta", "br")

    def __init__(self, text):
        super().__init__()
        self.opened, self.seen, self.attributes = [], [], []
        self.feed(text)
        self.close()
        assert not self.opened

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        self.attributes += [(tag, *attribute) for attribute in attrs]
        if tag not in self.VOID:
            self.opened.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.seen.append(tag)

    def handle_endtag(self, tag):
        assert self.opened.pop() == tag


# -- results -----------------------------------------------------------------------------------


def test_every_method_has_every_measure(result, stages):
    assert [method.name for method in result.methods] == ["CfMGML", "CfMGML paper", "HLK", "Dummy", "SVM"]
    assert [method.name for method in result.methods if method.sees_graph_labels] == ["SVM"]
    for method in result.methods:
        assert set(method.values) == {(measure.level, measure.key) for measure in MEASURES}
        assert np.isfinite(list(method.values.values())).all()
    assert stages[0].startswith("Comparing")
    assert "Training HLK" in stages


def test_learning_from_bags_beats_the_dummy_at_both_levels(result):
    own, dummy = result.method("CfMGML"), result.method("Dummy")
    assert own.values["graph", "accuracy"] > dummy.values["graph", "accuracy"] + 0.4
    assert own.values["bag", "average_precision"] > dummy.values["bag", "average_precision"] + 0.2
    assert own.values["graph", "annotated"] > own.values["graph", "accuracy"]


def test_objectives_are_of_the_two_solvers(result):
    cccp = result.method("CfMGML").objective
    assert len(cccp) > 1
    assert (np.diff(cccp) <= 1e-9).all()
    assert len(result.method("CfMGML paper").objective) == 10
    assert result.method("Dummy").objective == () == result.method("SVM").objective


def test_counts_of_mistakes_agree_with_the_measures(result):
    accuracy = result.method("CfMGML").values["graph", "accuracy"]
    assert result.n_wrong_digits == pytest.approx((1 - accuracy) * result.n_digits)
    assert 0 < result.n_bags_with_wrong_digit <= min(result.n_test, result.n_wrong_digits)


def test_shown_bags_are_the_first_and_then_those_with_a_mistake(result):
    assert [bag.name for bag in result.first] == [f"test {k}" for k in range(6)]
    assert result.mistaken
    for bag in result.mistaken:
        assert not all(digit.right for digit in bag.digits)
        assert int(bag.name.split()[1]) >= 6
    assert {digit.truth for digit in result.first[0].digits} == set(result.first[0].truth)


def test_a_digit_predicted_above_zero_is_in_its_bags_labels(result):
    for bag in (*result.first, *result.mistaken):
        assert {digit.predicted for digit in bag.digits if digit.score > 0} <= set(bag.predicted)


def test_same_seed_same_results(result):
    again = run_demo(n_train=60, n_test=30, seed=3)
    assert [method.values for method in again.methods] == [method.values for method in result.methods]


def test_contributions_add_up_to_the_scores_of_the_model_on_the_matrix():
    train, test, kernel, K = prepare(30, 5, seed=0)
    model = CfMGML(Precomputed(K)).fit(train)
    parts = node_contributions(model, kernel, test.graphs)
    total = segment_sum(parts, test.graphs.node_ptr) + model.intercept_
    np.testing.assert_allclose(total, model.decision_function_graphs(test), atol=1e-8)


def test_looking_copies_up_is_the_same_as_computing_them():
    train, test, kernel, K = prepare(20, 5, seed=0)
    assert len(K) < train.n_graphs + test.n_graphs
    np.testing.assert_allclose(
        gram_matrix(Precomputed(K), test.graphs, train.graphs), gram_matrix(kernel, test.graphs, train.graphs)
    )
    looked_up = CfMGML(Precomputed(K), alpha=1e-2).fit(train).decision_function(test)
    computed = CfMGML(NodeSum(), alpha=1e-2).fit(train).decision_function(test)
    np.testing.assert_allclose(looked_up, computed, atol=1e-5)
    assert not set(train.graph_names.tolist()) & set(test.graph_names.tolist())


def test_best_is_what_is_printed_as_best_and_never_the_ceiling(result):
    measure = MEASURES[0]
    values = [0.9004, 0.9001, 0.5, 0.1, 0.99]
    methods = [replace(m, values={("bag", measure.key): v}) for m, v in zip(result.methods, values, strict=True)]
    made_up = replace(result, methods=tuple(methods))
    assert best_methods(made_up, measure) == {"CfMGML", "CfMGML paper"}
    assert best_methods(made_up, measure._replace(higher_is_better=False)) == {"Dummy"}
    assert [m.format(measure) for m in methods[:1]] == [".900"]


# -- the page ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def html(result):
    return page(result, "cfmgml demo --out <here> & there")


def test_page_is_well_formed_and_needs_nothing_else(html):
    tags = Tags(html)
    assert not {"script", "link", "img", "iframe", "object"} & set(tags.seen)
    assert not [attribute for attribute in tags.attributes if attribute[1] in ("src", "href", "style")]
    assert "url(" not in html
    assert "@import" not in html
    assert "http" not in html
    assert "prefers-color-scheme:dark" in html
    assert tags.seen.count("h1") == 1
    assert tags.seen.count("table") == 1


def test_page_shows_every_digit_with_its_mark_and_heat_map(html, result):
    digits = [digit for bag in (*result.first, *result.mistaken) for digit in bag.digits]
    assert html.count('class="digit right"') == sum(digit.right for digit in digits)
    assert html.count('class="digit wrong"') == sum(not digit.right for digit in digits) > 0
    assert html.count("<title>what each pixel adds") == len(digits)
    for digit in digits:
        assert f"a {digit.truth}, predicted {digit.predicted} with score {digit.score:.2f}" in html


def test_page_says_how_many_are_wrong_and_what_made_it(html, result):
    assert f"{result.n_wrong_digits} of all {result.n_digits} test digits" in html
    assert "cfmgml demo --out &lt;here&gt; &amp; there" in html
    assert f"seed {result.seed}" in html
    assert "numpy" in html


def test_page_prints_every_measure(html, result):
    for measure in MEASURES:
        for method in result.methods:
            assert method.format(measure) in html
    assert html.count("<b>") >= len(MEASURES)


def test_every_class_that_colours_a_cell_is_in_the_style_sheet(html):
    used = set(re.findall(r'class="((?:heat|ink)\d+)"', html))
    assert len(used) > 10
    assert all(f".{name}{{fill:" in html for name in used)


def test_page_without_mistakes_has_no_heading_for_them(result):
    assert "with a mistake" not in page(replace(result, mistaken=()))


def test_page_names_labels_that_are_missed_or_added(result):
    bag = replace(result.first[0], truth=("<1", "2"), predicted=("2", "7"))
    text = page(replace(result, first=(bag,)))
    assert "missed &lt;1; wrongly added 7" in text
    assert '<span class="chip wrong">✗ 7</span>' in text
    assert "none" in page(replace(result, first=(replace(bag, predicted=()),)))


def test_a_right_label_that_does_not_reach_the_bag_is_noted(result):
    bag = result.first[0]
    weak = replace(bag.digits[0], predicted=bag.digits[0].truth, score=-0.1)
    assert "below 0" in page(replace(result, first=(replace(bag, digits=(weak,)),)))


def test_writing_replaces_the_page_in_one_step(tmp_path, result):
    path = tmp_path / "demo.html"
    path.write_text("old")
    unwritable = replace(result, first=(replace(result.first[0], name="\ud800"),))
    with pytest.raises(UnicodeEncodeError):
        write_page(unwritable, path)
    assert path.read_text() == "old"
    write_page(result, path)
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert [entry.name for entry in tmp_path.iterdir()] == ["demo.html"]


def test_scale_of_colours_leaves_out_outliers_and_is_never_zero():
    def bag(values):
        return SimpleNamespace(digits=[SimpleNamespace(contributions=np.array(values))])

    assert contribution_scale([bag([*[1.0, -1.0] * 100, 99.0, np.nan])]) == 1.0
    assert contribution_scale([bag([0.0, np.nan])]) == 1.0


# -- drawing -----------------------------------------------------------------------------------


def test_picture_leaves_empty_cells_out_and_escapes_its_title():
    svg = picture(np.array([[1.0, np.nan], [2.0, 1.0]]), np.array([[0, 0], [4, 0]]), "c", 'a < "b"')
    assert svg.count("<path") == 2
    assert 'class="c0" d="M0 0h1v1h-1zM1 1h1v1h-1z"' in svg
    assert 'class="c4" d="M0 1h1v1h-1z"' in svg
    assert "a &lt; &quot;b&quot;" in svg
    Tags(svg)


@pytest.mark.parametrize("values", [[1.0], [0.0, 0.0], [194.9, 175.9, 3.2], [0.39, 0.1, 0.098], [1e-7, 2e-7]])
def test_line_chart_keeps_its_points_inside(values):
    svg = line_chart(values, "round", "objective", "title")
    Tags(svg)
    heights = [float(y) for y in re.findall(r'cy="([\d.]+)"', svg)]
    assert len(heights) == len(values)
    assert all(10 <= height <= 190 for height in heights)
    assert np.array_equal(np.argsort(heights, kind="stable"), np.argsort(-np.array(values), kind="stable"))


@pytest.mark.parametrize("largest", [1e-6, 0.37, 1.0, 4.0, 9.99, 12345.0])
def test_steps_are_few_and_round(largest):
    step = nice_step(largest)
    assert 1 <= largest / step <= 5
    assert float(f"{step:.0e}") == pytest.approx(step)
