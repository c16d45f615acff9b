"""What the results say, in words: where the paper holds, where not, and why. Every number comes from the rows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from cfmgml.evaluation.comparison import number
from cfmgml.evaluation.folds import SCHEMES
from cfmgml.evaluation.measures import find_measure
from cfmgml.evaluation.methods import METHODS
from cfmgml.evaluation.ranking import rank_test
from cfmgml.evaluation.selection import SELECTIONS, Results, common_alpha, reported_at, setting_name
from cfmgml.evaluation.statistics import LEVEL, RankTest, corrected_paired_test
from cfmgml.model import CfMGML
from cfmgml.paper.against import Against, against_paper

AP, ACCURACY = ("bag", "average_precision"), ("graph", "accuracy")
Key = tuple[str, str]  # level and key of a measure


@dataclass(frozen=True)
class Finding:
    """A claim, whether it holds in these results, and the figures behind that."""

    claim: str
    verdict: str  # "holds", "does not hold", "holds in part", or "undecided": nothing is told apart from chance
    text: str


def findings(results: Results) -> list[Finding]:
    """All findings for which the results have the figures."""
    return [finding for find in _FINDERS if (finding := find(results)) is not None]


def markdown_findings(told: Sequence[Finding]) -> str:
    """The findings as a page.

    >>> print(markdown_findings([Finding("All is well", "holds", "In 2 of 2 cases.")]), end="")
    # Findings
    <BLANKLINE>
    - **All is well: holds.** In 2 of 2 cases.
    """
    lines = [f"- **{finding.claim}: {finding.verdict}.** {finding.text}" for finding in told]
    return "\n".join(["# Findings", "", *lines, ""])


# -- the parts they are made of ------------------------------------------------------------------


def _told(claim: str, n_right: int, n: int, text: str) -> Finding | None:
    """What ``n_right`` of ``n`` comparisons say of a claim; nothing where there are none."""
    verdict = "holds" if n_right == n else "does not hold" if n_right == 0 else "holds in part"
    return Finding(claim, verdict, text) if n else None


def _told_by_tests(claim: str, n_ahead: int, sure: Sequence[bool], n: int, text: str) -> Finding | None:
    """The same where differences are tested: ``sure`` says of each that is told apart whether it is for the claim."""
    if not n or not sure:
        return Finding(claim, "undecided", text) if n else None
    whole = "holds" if n_ahead == n and all(sure) else "holds in part"
    return Finding(claim, whole if any(sure) else "does not hold", text)


def _means(results: Results, measure: Key, *methods: str, scheme: str = "bags") -> dict[str, list[float]]:
    """By data set, the means of these methods, where all have one."""
    means = {}
    for data in results.facts:
        cells = [results.cell(data, method, *measure, scheme=scheme) for method in methods]
        if all(cell.values is not None for cell in cells):
            means[data] = [cell.mean for cell in cells]
    return means


def _told_apart(results: Results, data: str, first: str, second: str, measure: Key) -> bool:
    a, b = (results.cell(data, method, *measure).values for method in (first, second))
    return a is not None and b is not None and corrected_paired_test(a, b, 1 / (len(a) - 1)) <= LEVEL


def _pairs(results: Results, means: dict[str, list[float]]) -> str:
    return "; ".join(f"{results.facts[data]['mark']} {number(a)} and {number(b)}" for data, (a, b) in means.items())


def _compare(first: str, second: str, measure: Key, claim: str, words: str, results: Results) -> Finding | None:
    """Whether the first method is ahead of the second, data set by data set."""
    means = _means(results, measure, first, second)
    n_ahead = sum(a > b for a, b in means.values())
    sure = [a > b for data, (a, b) in means.items() if _told_apart(results, data, first, second, measure)]
    text = (
        f"{words} on {n_ahead} of {len(means)} data sets; the difference is told apart from chance on {len(sure)}, "
        f"{sum(sure)} of them for it ({_pairs(results, means)})."
    )
    return _told_by_tests(claim, n_ahead, sure, len(means), text)


# -- against the printed tables ------------------------------------------------------------------


def _against(theirs: str, claim: str, results: Results) -> Finding | None:
    own = [data for data, fact in results.facts.items() if not fact["stand_in"]]
    compared = {data: rows for data in own if (rows := against_paper(results, data, "cfmgml", theirs))}
    gains = [row.ahead for rows in compared.values() for row in rows]
    n_ahead = sum(gain > 0 for gain in gains)
    parts = [f"{results.facts[data]['mark']}: {', '.join(map(_in_words, rows))}" for data, rows in compared.items()]
    text = f"Ahead in {n_ahead} of {len(gains)} comparisons on data the paper used. {'. '.join(parts)}."
    return _told(claim, n_ahead, len(gains), text)


def _in_words(row: Against) -> str:
    side = "ahead" if row.ahead >= 0 else "behind"
    return f"{row.measure.title} {number(row.ours)} for {number(row.theirs)} ({number(abs(row.ahead))} {side})"


def _algorithm_reproduces(results: Results) -> Finding | None:
    """Whether Algorithm 1, corrected, on the paper's own nodes and with its selection, gives the paper's figures."""
    data = "msrc_v2-paper"
    if data not in results.facts:
        return None
    rows = against_paper(results, data, "paper", "cfMGML", "reported")
    n_reached = sum(row.ahead >= 0 for row in rows)
    text = (
        f"Algorithm 1 with its errors corrected, on {results.facts[data]['mark']}, its parameter chosen as in the "
        f"paper, reaches {n_reached} of {len(rows)} of the paper’s figures: {', '.join(map(_in_words, rows))}."
    )
    return _told("The algorithm as described gives the paper’s figures", n_reached, len(rows), text)


# -- the algorithm -------------------------------------------------------------------------------


def _minimises(results: Results) -> Finding | None:
    """The paper's objective at what each solver finds, at the lambda that is best for Algorithm 1."""
    solvers = ("terms", "paper", "printed")
    parts, n_lower, n, n_rising, n_runs = [], 0, 0, 0, 0
    for data in results.facts:
        alpha = common_alpha(results, data, solvers, "paper")
        if alpha is None:
            continue
        runs = {key: reported_at(results, data, key, alpha) for key in solvers}
        ends = {key: float(np.mean([row["paper_objective"] for row in rows])) for key, rows in runs.items()}
        n, n_lower = n + 1, n_lower + (ends["paper"] <= ends["terms"])
        n_runs += len(runs["paper"])
        n_rising += sum(bool((np.diff(row["objective"]) > 1e-6).any()) for row in runs["paper"])
        figures = ", ".join(f"{METHODS[key].title} {value:.3f}" for key, value in ends.items())
        parts.append(f"{results.facts[data]['mark']} (lambda {alpha:g}): {figures}")
    text = (
        f"With the same terms and the same lambda, the paper’s objective on the training bags ends lower by cccp than "
        f"by Algorithm 1 on {n - n_lower} of {n} data sets, and by Algorithm 1 it goes up again between rounds in "
        f"{n_rising} of {n_runs} folds: freezing the representative graph of an irrelevant label makes a lower bound "
        f"of the objective, not an upper one. {'; '.join(parts)}."
    )
    return _told("Algorithm 1 minimises the paper’s objective", n_lower, n, text)


def _selection(results: Results) -> Finding | None:
    """How much choosing on the reported folds flatters."""
    gains = []
    for data in results.facts:
        for method in results.methods:
            cells = [results.cell(data, method, *AP, selection=selection) for selection in SELECTIONS]
            settings = {setting_name(row) for row in results.rows(data, method)}
            if len(settings) > 1 and all(cell.values is not None for cell in cells):
                gains.append(cells[0].mean - cells[1].mean)
    if not gains:
        return None
    mean = float(np.mean(gains))
    text = (
        f"Over {len(gains)} pairs of a data set and a method, choosing the parameter on the reported folds gives an "
        f"average precision {number(mean)} higher on average ({number(max(gains))} at most) than choosing it inside "
        "the training folds."
    )
    return _told("The paper’s way of choosing parameters flatters", int(mean > 0), 1, text)


# -- claims of the paper -------------------------------------------------------------------------


def _strong(own: str, rival: str, results: Results) -> Finding | None:
    ours, title = METHODS[own].title, METHODS[rival].title.partition(",")[0]
    words = f"In average precision {ours} is ahead of {title} on graphs, which the paper did not try,"
    finding = _compare(own, rival, AP, f"{ours} is ahead of {title} on the same kernel", words, results)
    apart = _means(results, AP, own, rival, scheme="disjoint")
    if finding is None or not apart:
        return finding
    ahead = sum(a > b for a, b in apart.values())
    more = (
        " With folds that share no graph, so that none of a test bag can be remembered from training, it is ahead "
        f"on {ahead} of {len(apart)} ({_pairs(results, apart)})."
    )
    return replace(finding, text=finding.text + more)


def _ceiling(results: Results) -> Finding | None:
    means = _means(results, ACCURACY, "cfmgml", "sgsl-svm")
    gaps = [ceiling - own for own, ceiling in means.values()]
    text = (
        f"Graph accuracy from bag labels, and of a support vector machine that is told every graph’s label: "
        f"{_pairs(results, means)}. The mean gap is {number(sum(gaps) / max(len(gaps), 1))}."
    )
    sure = [b > a for data, (a, b) in means.items() if _told_apart(results, data, "cfmgml", "sgsl-svm", ACCURACY)]
    right = sum(gap > 0 for gap in gaps)
    return _told_by_tests("Labels of bags are worth less than labels of graphs", right, sure, len(gaps), text)


def _ranks(results: Results) -> Finding | None:
    """Mean ranks of everybody, who learns nothing included, and whether the best is told apart from the next."""
    measure = find_measure(*AP)
    tests = {apart: test for apart in (False, True) if (test := rank_test(results, measure, apart=apart)) is not None}
    if False not in tests:
        return None
    usual, ours = tests[False], {method.key for method in METHODS.values() if method.estimator is CfMGML}
    order = np.argsort(usual.ranks, kind="stable")
    keys = [usual.methods[place] for place in order]
    rival = next((place for place, key in enumerate(keys) if key not in ours), None)
    ahead = rival is None or float(usual.ranks[order[rival]] - usual.ranks[order[0]]) >= usual.critical_difference
    verdict = "does not hold" if keys[0] not in ours else "holds" if ahead else "undecided"
    texts = [
        f"{'With folds that share no graph' if apart else f'Over {len(test.data_sets)} data sets'}, in average "
        f"precision: {_in_order(test)}; ranks closer than {test.critical_difference:.2f} are not told apart."
        for apart, test in tests.items()
    ]
    return Finding("A CfMGML has the best mean rank of those that see labels of bags only", verdict, " ".join(texts))


def _in_order(test: RankTest) -> str:
    return ", ".join(
        f"{METHODS[test.methods[k]].title} {test.ranks[k]:.2f}" for k in np.argsort(test.ranks, kind="stable")
    )


def _nodes(results: Results) -> Finding | None:
    means, parts, n_ahead, sure = _means(results, AP, "cfmgml"), [], 0, []
    for name in ("msrc_v2", "voc2012"):
        values = {data: mean for data, (mean,) in means.items() if data.startswith(name)}
        labels = f"{name}-labels"
        if labels in values and len(values) > 1:
            best = max(values, key=values.__getitem__)
            n_ahead += best != labels
            a, b = (results.cell(data, "cfmgml", *AP).values for data in (best, labels))
            if best != labels and a is not None and b is not None:  # the same bags in the same folds
                sure += [True] * (corrected_paired_test(a, b, 1 / (len(a) - 1)) <= LEVEL)
            told = ", ".join(f"{results.facts[data]['mark']} {number(mean)}" for data, mean in values.items())
            parts.append(f"Average precision of CfMGML: {told}.")
    return _told_by_tests("Node attributes are better than node labels", n_ahead, sure, len(parts), " ".join(parts))


def _shared(results: Results) -> Finding | None:
    over, apart = (_means(results, ACCURACY, "cfmgml", scheme=scheme) for scheme in SCHEMES)
    both = {data: over[data] + apart[data] for data in over if data in apart}
    text = (
        f"Graph accuracy of CfMGML with folds over bags, and with folds that share no graph: {_pairs(results, both)}."
    )
    n_right = sum(a > b for a, b in both.values())
    return _told("Bags that share graphs leak into the test folds", n_right, len(both), text)


_FINDERS: tuple[Callable[[Results], Finding | None], ...] = (
    partial(_against, "cfMGML", "CfMGML, its parameters chosen honestly, is ahead of the paper’s cfMGML"),
    partial(_against, "SGSL_SVM", "CfMGML is ahead of the paper’s SGSL SVM, which sees the label of every graph"),
    _algorithm_reproduces,
    _minimises,
    partial(
        _compare, "cfmgml", "paper", ACCURACY, "Solved properly, the model labels graphs better than Algorithm 1 does",
        "In graph accuracy CfMGML is ahead of Algorithm 1",
    ),
    _selection,
    partial(
        _compare, "cfmgml", "hlk", AP, "The rank loss is better than the Hamming loss (HLK)",
        "In average precision CfMGML is ahead of HLK",
    ),
    partial(
        _compare, "cfmgml", "single", AP, "Many graphs a bag are better than one",
        "In average precision CfMGML is ahead of CfMGML(G)",
    ),
    partial(
        _compare, "m3miml", "m3miml-vectors", AP, "Graphs are better than instances",
        "On graphs M3MIML is ahead of M3MIML on mean vectors, in average precision,",
    ),
    partial(_strong, "cfmgml", "m3miml"),
    partial(_strong, "cfmgml", "misvm"),
    partial(_strong, "context", "misvm-context"),
    partial(_strong, "refined", "misvm-context"),
    _ranks,
    _nodes,
    _ceiling,
    _shared,
)  # fmt: skip
