"""The same protocol for anybody's bags: `own_data` makes a data set of a file, and all else is as for the paper's."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from cfmgml.data.bags import BagDataset
from cfmgml.data.overlap import overlap_summary
from cfmgml.experiments.reproduction.catalogue import DataSet, joined
from cfmgml.experiments.reproduction.comparing import best_and_ties, cell_text
from cfmgml.experiments.reproduction.measures import MEASURES
from cfmgml.experiments.reproduction.methods import METHODS
from cfmgml.experiments.reproduction.planning import MANY_GRAPHS, Facts, Protocol, overlap_facts
from cfmgml.experiments.reproduction.selecting import Results
from cfmgml.experiments.reproduction.tables import Table, TableCell, TableRow
from cfmgml.kernels import Kernel
from cfmgml.reading.contents import same_graphs

DEFAULT_METHODS = ("cfmgml", "hlk", "m3miml", "misvm", "mimlfast", "sgsl-svm", "dummy")


def own_data(bags: BagDataset, name: str, kernel: Kernel, apart: bool = False) -> DataSet:
    """Bags of one's own as a data set of the protocol.

    Graphs that are the same by content are one graph, whatever they are called. With ``apart``, where bags share some,
    a second set of folds shares none.

    >>> from cfmgml.datasets import load_digit_bags
    >>> from cfmgml.kernels import NodeSum
    >>> own_data(load_digit_bags(n_bags=20), "digits", NodeSum()).title
    'digits'
    """
    if bags.Y is None:
        raise ValueError("these bags have no labels (Y) to measure against.")
    numbers = same_graphs(bags)
    shared = overlap_summary(numbers, bags.bag_ptr)["n_shared_graphs"] > 0
    bags = replace(bags, graph_names=numbers.astype(np.str_))

    def load(path: Path | None) -> BagDataset:
        return bags

    def load_single(path: Path | None) -> BagDataset:
        return joined(bags)

    about = str(bags.info.get("description") or f"{bags.n_bags:,} bags")
    return DataSet(
        name, name, about.rstrip("."), load, kernel, load_single=load_single, shared=shared, apart=apart,
        n_graphs=bags.n_graphs,
    )  # fmt: skip


def summary_table(results: Results, data: str, scheme: str = "bags") -> Table:
    """All measures of one data set, a row a method, parameters chosen in training folds."""
    measures = [
        measure
        for measure in MEASURES
        if any(
            results.cell(data, key, measure.level, measure.key, scheme=scheme).values is not None
            for key in results.methods
        )
    ]
    best = {measure: best_and_ties(results, data, measure, "nested", scheme) for measure in measures}
    rows = []
    for key in results.methods:
        cells = [cell_text(results.cell(data, key, m.level, m.key, scheme=scheme)) for m in measures]
        bold = [key in best[measure] and not cell.muted for measure, cell in zip(measures, cells, strict=True)]
        title = METHODS[key].title + (" (sees graph labels)" if METHODS[key].sees_graph_labels else "")
        rows.append(TableRow(title, tuple(TableCell(c.text, b, c.muted) for c, b in zip(cells, bold, strict=True))))
    fact = results.facts[data]
    return Table(
        "summary", f"{fact['title']}: {_folds(results, data, scheme)}",
        tuple(f"{measure.title} {measure.arrow}" for measure in measures), tuple(rows),
        notes=(overlap_note(fact["overlap"], scheme),) if fact["overlap"] else (), corner="method",
    )  # fmt: skip


def _folds(results: Results, data: str, scheme: str) -> str:
    fact = results.facts[data]
    n_folds, n_inner = fact["protocol"]["n_folds"], fact["n_inner_run"]
    apart = " that share no graph" if scheme == "disjoint" else ""
    inside = f"{n_inner} folds" if n_inner > 1 else f"1 of {fact['protocol']['n_inner']} folds"
    return f"{n_folds} folds{apart}, parameters chosen in {inside} inside each"


def overlap_note(overlap: Facts, scheme: str = "bags") -> str:
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
    if protocol.n_inner_run(data) < protocol.n_inner:
        told.append(
            f"There are {data.n_graphs:,} graphs, more than {MANY_GRAPHS:,}: parameters are chosen in "
            f"{protocol.n_inner_run(data)} of {protocol.n_inner} inner folds; --inner {protocol.n_inner} uses all."
        )
    return told


def wanted_methods(names: Sequence[str] | None, bags: BagDataset) -> list[str]:
    """The methods asked for; by default those that these bags allow and that take no more than minutes."""
    if names:
        return list(names)
    return [key for key in DEFAULT_METHODS if bags.graph_Y is not None or not METHODS[key].sees_graph_labels]
