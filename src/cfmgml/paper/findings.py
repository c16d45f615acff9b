"""What the results say, in words: where the paper holds, where not, and why. Every number comes from the rows."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from cfmgml.common.typing import FloatArray
from cfmgml.evaluation.comparison import number
from cfmgml.evaluation.folds import SCHEMES
from cfmgml.evaluation.measures import find_measure
from cfmgml.evaluation.methods import METHODS
from cfmgml.evaluation.ranking import rank_test
from cfmgml.evaluation.rows import Row
from cfmgml.evaluation.selection import SELECTIONS, Results, common_alpha, reported_at, setting_name
from cfmgml.evaluation.statistics import RankTest, corrected_interval
from cfmgml.model import CfMGML
from cfmgml.paper.against import Against, against_paper
from cfmgml.paper.finding import Compared, Finding

AP, ACCURACY = ("bag", "average_precision"), ("graph", "accuracy")
Key = tuple[str, str]  # level and key of a measure


def findings(results: Results) -> list[Finding]:
    """All findings for which the results have the figures."""
    return [finding for find in _FINDERS if (finding := find(results)).compared]


# -- the parts they are made of ------------------------------------------------------------------


def _verdict(n_right: int, n: int) -> str:
    return "holds" if n_right == n else "does not hold" if n_right == 0 else "holds in part"


def _verdict_by_intervals(compared: Sequence[Compared]) -> str:
    """Where no interval is on one side of 0, nothing is decided."""
    sure = [one.ahead > 0 for one in compared if one.low > 0 or one.high < 0]
    if not any(sure):
        return "does not hold" if sure else "undecided"
    return "holds" if all(sure) and _n_ahead(compared) == len(compared) else "holds in part"


def _n_ahead(compared: Iterable[Compared]) -> int:
    return sum(one.ahead > 0 for one in compared)


def _difference(name: str, first: FloatArray, second: FloatArray, paired: bool = True) -> Compared:
    """Of two values a fold; paired where the folds are the same ones."""
    variance = (first - second).var(ddof=1) if paired else first.var(ddof=1) + second.var(ddof=1)
    means = float(first.mean()), float(second.mean())
    n = len(first)
    low, high = corrected_interval(means[0] - means[1], float(variance), n, 1 / (n - 1))
    return Compared(name, *means, means[0] - means[1], low, high)


def _pairs(
    results: Results, measure: Key, first: str, second: str, scheme: str = "bags", more: str = ""
) -> list[Compared]:
    """The first method beside the second on every data set that has both."""
    compared = []
    for data, fact in results.facts.items():
        a, b = (results.cell(data, method, *measure, scheme=scheme).values for method in (first, second))
        if a is not None and b is not None:
            compared.append(_difference(f"{fact['mark']}{more}", a, b))
    return compared


def _title(measure: Key) -> str:
    return find_measure(*measure).title


def _surely(compared: Sequence[Compared]) -> str:
    """Where the first is ahead, in words."""
    ahead, behind = sum(one.low > 0 for one in compared), sum(one.high < 0 for one in compared)
    return f"on {_n_ahead(compared)} of {len(compared)} data sets, surely so on {ahead} and surely behind on {behind}"


def _compare(first: str, second: str, measure: Key, claim: str, words: str, results: Results) -> Finding:
    """Whether the first method is ahead of the second, data set by data set."""
    compared = _pairs(results, measure, first, second)
    return Finding(
        claim, _verdict_by_intervals(compared), f"{words} {_surely(compared)}.", tuple(compared),
        (METHODS[first].title, METHODS[second].title), f"ahead by, in {_title(measure)}",
    )  # fmt: skip


# -- against the printed tables ------------------------------------------------------------------


def _beside(row: Against, folds: FloatArray, group: str) -> Compared:
    """Ours less a printed figure, which is taken as it is."""
    n = len(folds)
    low, high = corrected_interval(row.ahead, float(folds.var(ddof=1)), n, 1 / (n - 1))
    return Compared(row.measure.title, row.ours, row.theirs, row.ahead, low, high, group)


def _printed(results: Results, data: str, method: str, theirs: str, selection: str = "nested") -> list[Compared]:
    compared = []
    for row in against_paper(results, data, method, theirs, selection):
        folds = results.cell(data, method, *row.measure[:2], selection).values
        assert folds is not None  # a row has them
        compared.append(_beside(row, folds, results.facts[data]["mark"]))
    return compared


def _against(theirs: str, claim: str, results: Results) -> Finding:
    own = [data for data, fact in results.facts.items() if not fact["stand_in"]]
    compared = [one for data in own for one in _printed(results, data, "cfmgml", theirs)]
    n_ahead = _n_ahead(compared)
    return Finding(
        claim, _verdict(n_ahead, len(compared)),
        f"Ahead in {n_ahead} of {len(compared)} comparisons on data the paper used.", tuple(compared),
        (METHODS["cfmgml"].title, f"the paper’s {theirs.replace('_', ' ')}"), "better by",
    )  # fmt: skip


def _algorithm_reproduces(results: Results) -> Finding:
    """Whether Algorithm 1, corrected, on the paper's own nodes and with its selection, gives the paper's figures."""
    data = "msrc_v2-paper"
    compared = _printed(results, data, "paper", "cfMGML", "reported") if data in results.facts else []
    n_reached = sum(one.ahead >= 0 for one in compared)
    return Finding(
        "The algorithm as described gives the paper’s figures", _verdict(n_reached, len(compared)),
        "Algorithm 1 with its errors corrected, on the paper’s nodes and with its parameter chosen as in the paper, "
        f"reaches {n_reached} of {len(compared)} of the paper’s figures.", tuple(compared),
        (METHODS["paper"].title, "the paper’s cfMGML"), "better by",
    )  # fmt: skip


# -- the algorithm -------------------------------------------------------------------------------


def _minimises(results: Results) -> Finding:
    """The paper's objective at what both solvers find, at the lambda that is best for Algorithm 1."""
    compared, n_rising, n_runs = [], 0, 0
    for data, fact in results.facts.items():
        alpha = common_alpha(results, data, ("terms", "paper", "printed"), "paper")
        if alpha is None:
            continue
        runs = {key: _by_fold(reported_at(results, data, key, alpha)) for key in ("paper", "terms")}
        ends = {key: np.array([row["paper_objective"] for row in rows]) for key, rows in runs.items()}
        n_runs += len(runs["paper"])
        n_rising += sum(bool((np.diff(row["objective"]) > 1e-6).any()) for row in runs["paper"])
        ratio = _difference(fact["mark"], np.log10(ends["paper"]), np.log10(ends["terms"]))
        compared.append(ratio._replace(first=float(ends["paper"].mean()), second=float(ends["terms"].mean())))
    n_lower = sum(one.ahead <= 0 for one in compared)
    sentence = (
        "With the same terms and the lambda that is best for Algorithm 1, the paper’s objective on the training bags "
        f"ends lower by cccp than by Algorithm 1 on {len(compared) - n_lower} of {len(compared)} data sets, and by "
        f"Algorithm 1 it goes up again between rounds in {n_rising} of {n_runs} folds, because freezing the "
        "representative graph of an irrelevant label makes a lower bound of the objective, not an upper one."
    )
    return Finding(
        "Algorithm 1 minimises the paper’s objective", _verdict(n_lower, len(compared)), sentence, tuple(compared),
        (METHODS["paper"].title, METHODS["terms"].title), "the first, times as large as the second", as_ratio=True,
    )  # fmt: skip


def _by_fold(rows: list[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: row["fold"])


def _selection(results: Results) -> Finding:
    """How much choosing on the reported folds flatters, on average over methods."""
    compared, gains = [], []
    for data, fact in results.facts.items():
        means = []
        for method in results.methods:
            cells = [results.cell(data, method, *AP, selection=selection) for selection in SELECTIONS]
            settings = {setting_name(row) for row in results.rows(data, method)}
            if len(settings) > 1 and all(cell.values is not None for cell in cells):
                means.append([cell.mean for cell in cells])
        if means:
            own = np.subtract(*np.transpose(means))
            gains += own.tolist()
            first, second = np.mean(means, axis=0).tolist()
            gain, low, high = float(own.mean()), float(own.min()), float(own.max())
            compared.append(Compared(fact["mark"], first, second, gain, low, high))
    mean = float(np.mean(gains)) if gains else 0.0
    sentence = (
        f"Over {len(gains)} pairs of a data set and a method, choosing the parameter on the reported folds gives an "
        f"average precision {number(mean)} higher on average ({number(max(gains, default=0.0))} at most) than choosing "
        "it inside the training folds."
    )
    return Finding(
        "The paper’s way of choosing parameters flatters", _verdict(int(mean > 0), 1), sentence, tuple(compared),
        ("as in the paper", "in training folds"), "higher by, mean of methods", interval="smallest to largest",
    )  # fmt: skip


# -- claims of the paper -------------------------------------------------------------------------


def _strong(own: str, rival: str, results: Results) -> Finding:
    ours, title = METHODS[own].title, METHODS[rival].title.partition(",")[0]
    words = f"In average precision {ours} is ahead of {title} on graphs, which the paper did not try,"
    finding = _compare(own, rival, AP, f"{ours} is ahead of {title} on the same kernel", words, results)
    apart = _pairs(results, AP, own, rival, "disjoint", ", apart")
    if not finding.compared or not apart:
        return finding
    more = (
        f", and with folds that share no graph (apart), so that none of a test bag is remembered from training, on "
        f"{_n_ahead(apart)} of {len(apart)}."
    )
    return replace(finding, sentence=finding.sentence.removesuffix(".") + more, compared=(*finding.compared, *apart))


def _ceiling(results: Results) -> Finding:
    compared = _pairs(results, ACCURACY, "sgsl-svm", "cfmgml")
    gap = sum(one.ahead for one in compared) / max(len(compared), 1)
    return Finding(
        "Labels of bags are worth less than labels of graphs", _verdict_by_intervals(compared),
        "A support vector machine that is told every graph’s label is ahead of CfMGML, which is told those of bags, "
        f"on {_n_ahead(compared)} of {len(compared)} data sets, by {number(gap)} on average.", tuple(compared),
        (METHODS["sgsl-svm"].title, METHODS["cfmgml"].title), "ahead by, in graph accuracy",
    )  # fmt: skip


def _ranks(results: Results) -> Finding:
    """Mean ranks of everybody, who learns nothing included, and whether the best is told apart from the next."""
    measure = find_measure(*AP)
    tests = {apart: test for apart in (False, True) if (test := rank_test(results, measure, apart=apart)) is not None}
    sentence, verdict, compared = "", "undecided", list[Compared]()
    if False in tests:
        usual, ours = tests[False], {method.key for method in METHODS.values() if method.estimator is CfMGML}
        order = np.argsort(usual.ranks, kind="stable").tolist()
        keys, best, clear = [usual.methods[k] for k in order], usual.ranks[order[0]], usual.critical_difference
        for k in order[1:]:
            behind = float(usual.ranks[k] - best)
            title = METHODS[usual.methods[k]].title
            compared.append(Compared(title, float(usual.ranks[k]), float(best), behind, behind - clear, behind + clear))
        rivals = [usual.ranks[k] for k, key in zip(order, keys, strict=True) if key not in ours]
        ahead = not rivals or rivals[0] - best >= clear
        verdict = "does not hold" if keys[0] not in ours else "holds" if ahead else "undecided"
        parts = [
            f"{'with folds that share no graph' if apart else f'Over {len(test.data_sets)} data sets'}, in average "
            f"precision: {_in_order(test)}; ranks closer than {test.critical_difference:.2f} are not told apart"
            for apart, test in tests.items()
        ]
        sentence = f"{'; '.join(parts)}."
    return Finding(
        "A CfMGML has the best mean rank of those that see labels of bags only", verdict, sentence, tuple(compared),
        ("mean rank", "the best one"), "behind the best mean rank by", interval="what is not told apart",
    )  # fmt: skip


def _in_order(test: RankTest) -> str:
    return ", ".join(
        f"{METHODS[test.methods[k]].title} {test.ranks[k]:.2f}" for k in np.argsort(test.ranks, kind="stable")
    )


def _nodes(results: Results) -> Finding:
    """The same pictures in the same folds, with attributes and with labels."""
    compared = []
    for name in ("msrc_v2", "voc2012"):
        variants = {data: results.cell(data, "cfmgml", *AP).values for data in results.facts if data.startswith(name)}
        labels = variants.pop(f"{name}-labels", None)
        for data, values in variants.items():
            if values is not None and labels is not None:
                compared.append(_difference(results.facts[data]["mark"], values, labels))
    return Finding(
        "Node attributes are better than node labels", _verdict_by_intervals(compared),
        f"With attributes CfMGML is ahead of itself with node labels in {_n_ahead(compared)} of {len(compared)} cases.",
        tuple(compared), ("attributes", "labels"), "ahead by, in average precision",
    )  # fmt: skip


def _shared(results: Results) -> Finding:
    compared = []
    for data, fact in results.facts.items():
        over, apart = (results.cell(data, "cfmgml", *ACCURACY, scheme=scheme).values for scheme in SCHEMES)
        if over is not None and apart is not None:
            compared.append(_difference(fact["mark"], over, apart, paired=False))
    return Finding(
        "Bags that share graphs leak into the test folds", _verdict_by_intervals(compared),
        "With folds over bags CfMGML’s graph accuracy is higher than with folds that share no graph on "
        f"{_n_ahead(compared)} of {len(compared)} data sets whose bags share graphs.", tuple(compared),
        ("folds over bags", "no graph shared"), "higher by, in graph accuracy",
    )  # fmt: skip


_FINDERS: tuple[Callable[[Results], Finding], ...] = (
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
    partial(_strong, "again-context", "misvm-context"),
    _ranks,
    _nodes,
    _ceiling,
    _shared,
)  # fmt: skip
