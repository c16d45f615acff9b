"""All measures of one data set in one table, and what to know of it in words."""

from cfmgml.data.builder import known_builder
from cfmgml.evaluation.comparison import FLOOR, best_and_ties, bold_methods, cell_text, mean_note, method_title
from cfmgml.evaluation.data_sets import DataSet
from cfmgml.evaluation.facts import OverlapFacts, overlap_facts
from cfmgml.evaluation.measures import MEASURES
from cfmgml.evaluation.protocol import MANY_GRAPHS, Protocol
from cfmgml.evaluation.selection import Results
from cfmgml.evaluation.tables import Table, TableRow


def summary_table(results: Results, data: str, scheme: str = "bags") -> Table:
    """All measures of one data set, a row a method, parameters chosen in training folds."""
    keys = results.methods
    cells = {m: {key: results.cell(data, key, *m[:2], scheme=scheme) for key in keys} for m in MEASURES}
    measures = [measure for measure, own in cells.items() if any(cell.values is not None for cell in own.values())]
    best = {measure: bold_methods(results, data, measure, "nested", scheme) for measure in measures}
    floor = [m.title for m in measures if FLOOR in best_and_ties(results, data, m, "nested", scheme)]
    rows = [
        TableRow(method_title(key), tuple(cell_text(cells[m][key], key in best[m]) for m in measures)) for key in keys
    ]
    fact = results.facts[data]
    n_folds, n_inner = fact["protocol"]["n_folds"], fact["n_inner_run"]
    apart = " that share no graph" if scheme == "disjoint" else ""
    inside = f"{n_inner} folds" if n_inner > 1 else f"1 of {fact['protocol']['n_inner']} folds"
    told = (
        f"Dummy, which learns nothing, is not told apart from the best by {', '.join(floor)}: more folds or bags may."
    )
    floored = (told,) if floor else ()
    shared = (overlap_note(fact["overlap"], scheme),) if fact["overlap"] else ()
    return Table(
        "summary", f"{fact['title']}: {n_folds} folds{apart}, parameters chosen in {inside} inside each",
        tuple(f"{measure.title} {measure.arrow}" for measure in measures), tuple(rows),
        notes=(mean_note(results), *floored, *shared), corner="method",
    )  # fmt: skip


def overlap_note(overlap: OverlapFacts, scheme: str = "bags") -> str:
    """What bags that share graphs mean for a table, in words."""
    counts = f"{overlap['n_graphs']:,} graphs are {overlap['n_distinct_graphs']:,} different ones"
    if scheme == "disjoint":
        return (
            f"{counts}; these folds share none. {overlap['mean_trained']:,.0f} bags a fold are trained on and "
            f"{overlap['mean_left_out']:,.0f} left out."
        )
    told = f"{counts}: {overlap['seen_in_training']:.0%} of the graphs that a fold tests are also among those it trains"
    hint = "" if "mean_trained" in overlap else " Recommended: --apart, for folds that share no graph."
    return f"{told} on, so this measures memory, too.{hint}"


def remarks(data: DataSet, protocol: Protocol) -> list[str]:
    """What to know before it is measured: graphs that are on both sides, and fewer inner folds than usual."""
    told = []
    if data.shared:
        told.append(overlap_note(overlap_facts(data.load(None), data, protocol)))
    elif data.apart:
        told.append("No graph is in two bags: folds over bags share none, and --apart changes nothing.")
    if known_builder(data.load(None).builder).words and not data.texts:
        told.append(
            "These bags do not have the texts they were built from (--no-text, or an earlier cfmgml): the baseline "
            "of tf-idf is missing in the table. Build them with texts to have it."
        )
    if protocol.n_inner_run(data) < protocol.n_inner:
        told.append(
            f"There are {data.n_graphs:,} graphs, more than {MANY_GRAPHS:,}: parameters are chosen in "
            f"{protocol.n_inner_run(data)} of {protocol.n_inner} inner folds; --inner {protocol.n_inner} uses all."
        )
    return told
