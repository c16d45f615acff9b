"""Learning again from one's own annotation: one objective that goes down, and what comes of it."""

from dataclasses import replace

import numpy as np
import pytest

from cfmgml import BagDataset, CfMGML, NodeSum, Precomputed, WeisfeilerLehman, gram_matrix
from cfmgml.common.segments import segment_ids
from cfmgml.datasets import load_digit_bags
from cfmgml.learning.objective import RankLoss
from cfmgml.learning.refinement import (
    Carries,
    carried_labels,
    deal_out,
    first_fit,
    held_out_scores,
    loss_of_graphs,
    refine,
    shift_to_as_many,
    teacher,
)
from cfmgml.learning.solvers.cccp import Problem, solve_cccp
from needs import needs

SETTINGS = [{}, {"loss": "hamming", "term_weights": "sum"}, {"context": 0.5, "term_weights": "sum"}]


@pytest.fixture(scope="module")
def digits():
    return load_digit_bags(n_bags=60, random_state=0), load_digit_bags(subset="test", n_bags=60, random_state=0)


def graph_accuracy(model, bags):
    return (model.decision_function_graphs(bags).argmax(axis=1) == bags.graph_Y.argmax(axis=1)).mean()


@pytest.mark.parametrize("settings", SETTINGS)
def test_graphs_are_labelled_better(digits, settings):
    train, test = digits
    once, again = (CfMGML(NodeSum(), alpha=1e-3, refine=n, **settings).fit(train) for n in (0, 2))
    assert graph_accuracy(again, test) > graph_accuracy(once, test) + 0.02
    assert again.score(test) > once.score(test)


@pytest.mark.parametrize("every", [True, False])
@pytest.mark.parametrize("settings", [{"term_weights": "mean"}, {"loss": "hamming", "term_weights": "sum"}])
def test_the_objective_never_rises(every, settings):
    """From round to round and from annotating to learning, with annotations that do change."""
    rng = np.random.default_rng(0)
    ptr = np.arange(0, 121, 4)
    relevant = rng.random((30, 5)) < 0.4
    problem = Problem(rng.normal(size=(120, 8)), RankLoss(ptr, relevant, ~relevant, np.ones(5), **settings), 1e-2, True)
    values = []

    def solve(graphs, near):
        scores = solve.scores
        before = graphs.loss.value(scores) + solve.penalty
        solution = solve_cccp(graphs, 5, 500, 1e-6)
        solve.scores = graphs.rows @ solution.coef + solution.intercept
        solve.penalty = graphs.alpha / 2 * float(np.vdot(solution.coef, solution.coef))
        after = graphs.loss.value(solve.scores) + solve.penalty
        values.extend([before, after])
        assert solution.objective[-1] == pytest.approx(after, rel=1e-6)
        return solution, solve.scores

    solve.penalty = np.inf  # nothing is known before the first round
    start = rng.normal(size=(120, 5)) + (2 if every else -2)  # labels in most graphs, or in few
    solve.scores = start
    first = solve_cccp(replace(problem), 1, 5, 1e-3)
    carries = Carries.by(start, ptr, relevant)
    refined = refine(problem, first, start, start, carries, 10, solve, None)
    assert len(values) >= 4  # more than one round
    assert all(after <= before + 1e-9 for before, after in zip(values[:-1], values[1:], strict=True))
    assert refined.solution.objective == values[1::2][: len(refined.solution.objective)]
    if every:
        np.testing.assert_allclose(refined.scores, problem.rows @ refined.solution.coef + refined.solution.intercept)


def test_every_label_is_carried_and_no_other():
    rng = np.random.default_rng(1)
    ptr, relevant, scores = np.array([0, 3, 4, 9]), rng.random((3, 6)) < 0.5, rng.normal(size=(9, 6))
    for carries in (Carries(True), Carries(True, several=True), Carries(False)):
        carried = carried_labels(scores, ptr, relevant, carries)
        np.testing.assert_array_equal(np.logical_or.reduceat(carried, ptr[:-1]), relevant)
        covered = carried[relevant[segment_ids(ptr)].any(axis=1)].any(axis=1)
        assert covered.all() or not carries.every
    several = carried_labels(scores, ptr, relevant, Carries(True, several=True))
    assert (several >= (relevant[segment_ids(ptr)] & (scores > 0))).all()


@pytest.mark.parametrize(("rows", "carries"), [
    ([[1, -1], [-1, 1]], Carries(True)), ([[1, 1], [1, 1]], Carries(True, several=True)),
    ([[1, 1], [-1, -1]], Carries(False)), ([[1, 1], [1, -1]], Carries(True)),
])  # fmt: skip
def test_how_many_labels_graphs_carry_is_seen_in_their_scores(rows, carries):
    assert Carries.by(np.array(rows, float), np.array([0, 2]), np.ones((1, 2), bool)) == carries


@pytest.mark.parametrize(("n_labels", "several"), [([1, 2, 3], False), ([2, 2, 3], True)])
def test_more_labels_than_graphs_show_that_graphs_carry_several(n_labels, several):
    """Bags of 1, 2 and 3 graphs; scores with context, which find all labels of a bag in each of its graphs, do not."""
    relevant = np.arange(4) < np.array(n_labels)[:, None]
    assert Carries.by(np.ones((6, 4)), np.array([0, 1, 3, 6]), relevant) == Carries(True, several)


def test_a_teacher_weighs_every_label_alike_and_does_not_shrink_more():
    """Its terms and its penalty grow by the same factor."""
    relevant = np.array([[True, False, False], [True, True, False]])
    loss = RankLoss(np.array([0, 2, 3]), relevant, ~relevant, np.ones(3), term_weights="mean")
    taught = teacher(Problem(np.eye(3), loss, 1e-2, True))
    assert (taught.loss.loss, taught.loss.term_weights) == ("hamming", "sum")
    assert taught.alpha == pytest.approx(1e-2 * 3 / 3)  # 1 + 1 + 1 for every bag, and one for each of three labels
    assert teacher(taught) is taught


def test_too_many_labels_found_in_what_was_learned_from_are_left():
    """Of new bags fewer are found: lowering all scores would lose those."""
    relevant = np.array([[True, False], [False, True]])
    loss = RankLoss(np.array([0, 1, 2]), relevant, ~relevant, np.ones(2))
    assert shift_to_as_many(np.array([[2.0, 1.0], [1.0, 2.0]]), loss) == 0.0
    assert shift_to_as_many(np.array([[-1.0, -2.0], [-2.0, -1.0]]), loss) == 1.5


@pytest.mark.slow
def test_nobody_is_annotated_by_what_was_learned_from_it(digits):
    """Held-out scores are those of a model of the other folds; no order of bags matters to them."""
    train, _ = digits
    rows = np.asarray(NodeSum("linear").features(train.graphs))
    loss = RankLoss(train.bag_ptr, train.Y, ~train.Y, np.ones(10))
    problem = Problem(rows, loss, 1e-3, True)

    def solve(problem, near):
        solution = solve_cccp(problem, 5, 200, 1e-6)
        return solution, problem.rows @ solution.coef + solution.intercept

    own = solve(problem, None)[1]
    fold, found = deal_out(loss, own, 3), held_out_scores(problem, own, 3, solve)
    assert sorted(np.bincount(fold)) == [20, 20, 20]
    model = CfMGML(NodeSum("linear"), alpha=1e-3, term_weights="paper", irrelevant="max", tol=1e-6)
    one = train.graphs, segment_ids(train.bag_ptr)
    rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    found = held_out_scores(replace(problem, rows=rows), own, 3, solve)
    model.fit(train[fold != 1])
    np.testing.assert_allclose(found[fold[one[1]] == 1], model.decision_function_graphs(train[fold == 1]), atol=1e-3)
    np.testing.assert_array_equal(held_out_scores(problem, own, 0, solve), own)
    order = np.random.default_rng(0).permutation(60)
    graphs = np.concatenate([np.arange(train.bag_ptr[k], train.bag_ptr[k + 1]) for k in order])
    np.testing.assert_array_equal(deal_out(loss.of_bags(order), own[graphs], 3), fold[order])


@pytest.mark.slow
@pytest.mark.parametrize("settings", SETTINGS)
def test_bags_that_were_held_out_annotate_on_a_device_too(digits, settings):
    needs("torch")
    train, test = digits
    here, there = (
        CfMGML(NodeSum(), alpha=1e-3, refine=1, device=device, tol=1e-5, max_iter=1000, **settings).fit(train)
        for device in ("cpu", "torch:cpu")
    )
    np.testing.assert_allclose(here.decision_function_graphs(test), there.decision_function_graphs(test), atol=2e-2)


@pytest.mark.parametrize("kernel", [WeisfeilerLehman(1), NodeSum("linear")])
def test_bags_are_held_out_with_context_too(bags, kernel):
    """Of sparse rows, where a bag's row is held once, and of dense ones; as of the Gram matrix."""
    here, there = (
        CfMGML(k, alpha=1e-2, refine=1, context=0.5, tol=1e-6, max_iter=1000).fit(bags)
        for k in (kernel, Precomputed(gram_matrix(kernel.resolve(bags.graphs), bags.graphs)))
    )
    other = there.decision_function_graphs(
        replace(bags, graphs=replace(bags.graphs, graph_ids=np.arange(bags.n_graphs)))
    )
    np.testing.assert_allclose(here.decision_function_graphs(bags), other, atol=1e-3)


def test_one_fold_is_refused(digits):
    with pytest.raises(ValueError, match="refine_folds must be 0 or at least 2, got 1"):
        CfMGML(refine=1, refine_folds=1).fit(digits[0])
    own = CfMGML(NodeSum(), alpha=1e-3, refine=1, refine_folds=0).fit(digits[0][:20])
    held = CfMGML(NodeSum(), alpha=1e-3, refine=1).fit(digits[0][:20])
    assert not np.allclose(own.decision_function(digits[1]), held.decision_function(digits[1]))


def test_as_many_labels_are_found_as_there_are(bags):
    """In the training bags, where scores learned from graphs would leave most bags without a label."""
    model = CfMGML(WeisfeilerLehman(1), alpha=1e-1, refine=2, loss="hamming", term_weights="sum").fit(bags)
    assert model.predict(bags).sum() == bags.Y.sum()
    without = CfMGML(WeisfeilerLehman(1), alpha=1e-1, refine=2, fit_intercept=False).fit(bags)
    assert not without.intercept_.any()


def test_what_is_unknown_of_a_bag_is_unknown_of_its_graphs():
    relevant, irrelevant = np.array([[True, False, False]]), np.array([[False, True, False]])
    loss = RankLoss(np.array([0, 2]), relevant, irrelevant, np.ones(3))
    own = loss_of_graphs(loss, np.array([[True, False, False], [False, False, False]]))
    np.testing.assert_array_equal(own.relevant | own.irrelevant, [[True, True, False]] * 2)
    np.testing.assert_array_equal(own.irrelevant, [[False, True, False], [True, True, False]])


def test_slopes_of_terms_that_are_not_divided(digits):
    """By finite differences."""
    rng = np.random.default_rng(0)
    relevant = rng.random((4, 3)) < 0.5
    loss = RankLoss(np.array([0, 2, 3, 6, 8]), relevant, ~relevant, np.ones(3), term_weights="sum")
    scores, step = rng.normal(size=(8, 3)), 1e-6
    slope = loss.value_and_gradient(scores)[1]
    for place in np.ndindex(scores.shape):
        moved = scores.copy()
        moved[place] += step
        higher = loss.value(moved)
        moved[place] -= 2 * step
        assert (higher - loss.value(moved)) / (2 * step) == pytest.approx(slope[place], abs=1e-6)


def test_nodes_add_up_to_scores_and_files_keep_them(digits, tmp_path):
    train, test = digits
    model = CfMGML(NodeSum(), alpha=1e-3, refine=1).fit(train)
    ids = segment_ids(test.graphs.node_ptr)
    total = np.zeros((test.n_graphs, 10))
    np.add.at(total, ids, model.explain(test))
    np.testing.assert_allclose(total + model.intercept_, model.decision_function_graphs(test), atol=1e-9)
    model.save(tmp_path / "refined.cfmgml")
    again = CfMGML.load(tmp_path / "refined.cfmgml")
    assert again.refine == 1
    np.testing.assert_allclose(again.decision_function(test), model.decision_function(test), atol=1e-12)


@pytest.mark.slow
def test_a_path_is_as_many_fits(digits):
    train, test = digits[0][:30], digits[1]
    alphas = [1e-4, 1e-3]
    path = CfMGML(NodeSum(), refine=2, tol=1e-6).fit_path(train, alphas)
    for alpha, model in zip(alphas, path, strict=True):
        alone = CfMGML(NodeSum(), refine=2, tol=1e-6, alpha=alpha).fit(train)
        np.testing.assert_allclose(model.decision_function(test), alone.decision_function(test), atol=2e-2)


def test_both_spaces_agree(bags):
    """Explicit features and the Gram matrix of the same kernel."""
    from cfmgml import Precomputed, gram_matrix

    kernel = WeisfeilerLehman(2)
    explicit = CfMGML(kernel, alpha=1e-2, refine=2, tol=1e-7, max_iter=2000).fit(bags)
    given = Precomputed(gram_matrix(kernel, bags.graphs))
    dual = CfMGML(given, alpha=1e-2, refine=2, tol=1e-7, max_iter=2000).fit(bags)
    np.testing.assert_allclose(dual.decision_function_graphs(bags), explicit.decision_function_graphs(bags), atol=1e-3)


@pytest.mark.slow
def test_on_a_device(bags):
    needs("torch")
    plain, there = (CfMGML(NodeSum(), alpha=1e-2, refine=2, device=device, tol=1e-6) for device in ("cpu", "torch:cpu"))
    np.testing.assert_allclose(
        there.fit(bags).decision_function(bags), plain.fit(bags).decision_function(bags), atol=1e-2
    )


def test_refusals(bags, tmp_path):
    with pytest.raises(ValueError, match="refine=1 learns again by solver='cccp', got 'paper'"):
        CfMGML(refine=1, solver="paper").fit(bags)
    with pytest.raises(ValueError, match="refine"):
        CfMGML(refine=-1).fit(bags)
    with pytest.raises(ValueError, match="refine=1 is for bags in memory"):
        CfMGML(NodeSum("linear"), refine=1).partial_fit(bags)


def test_bags_without_any_label(bags):
    """Nothing is annotated, and nothing breaks."""
    none = BagDataset(bags.graphs, bags.bag_ptr, np.zeros_like(bags.Y))
    assert not CfMGML(NodeSum(), alpha=1e-2, refine=2).fit(none).predict(none).any()


def test_what_is_held_out_for_thresholds_is_not_what_annotates(digits):
    """Both hold bags out, and each has its own."""
    train, test = digits
    how = {"alpha": 1e-2, "refine": 1, "random_state": 0}
    plain, both = (
        CfMGML(NodeSum(), **how, **more).fit(train) for more in ({}, {"thresholds": "counts", "probability": True})
    )
    np.testing.assert_array_equal(plain.decision_function(test), both.decision_function(test))
    assert both.predict_proba(test).shape == test.Y.shape


@pytest.mark.parametrize(("covers", "fits"), [((True,), ["hamming"]), ((False, False), ["hamming", "rank"]),
                                              ((False, True), ["hamming", "rank"])])  # fmt: skip
def test_a_teacher_that_finds_a_label_in_every_graph_is_all_that_is_needed(covers, fits):
    """Else the problem's own fit says whether every graph gets one; then the next problem begins with that."""
    ptr, relevant = np.array([0, 4, 8]), np.ones((2, 2), bool)
    relevant[0, 1] = False
    loss = RankLoss(ptr, relevant, ~relevant, np.ones(2), term_weights="mean")
    problem, asked = Problem(np.eye(8), loss, 1e-2, True), []
    answers = dict(zip(("hamming", "rank"), covers, strict=False))

    def solve(given, near):
        asked.append(given.loss.loss)
        solution = solve_cccp(given, 1, 1, 1e-3)
        return solution, np.full((8, 2), 1.0 if answers[given.loss.loss] else -1.0)

    first = first_fit(problem, solve, None)
    assert asked == fits
    assert first.carries.every == covers[-1]
    assert first.problem.loss.loss == ("hamming" if covers[-1] else "rank")  # who annotates
    asked.clear()
    again = first_fit(problem, solve, first)
    assert asked == (fits if covers[-1] else ["rank"])
    assert again.carries == first.carries
