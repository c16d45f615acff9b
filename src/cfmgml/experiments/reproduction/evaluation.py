"""The same protocol for anybody's bags: `own_data` makes a data set of a file, and all else is as for the paper's."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from cfmgml.bags import BagDataset
from cfmgml.experiments.reproduction.catalogue import DataSet, joined
from cfmgml.experiments.reproduction.comparing import best_and_ties, cell_text
from cfmgml.experiments.reproduction.measures import MEASURES
from cfmgml.experiments.reproduction.methods import METHODS
from cfmgml.experiments.reproduction.selecting import Results
from cfmgml.experiments.reproduction.tables import Table, TableCell, TableRow
from cfmgml.kernels import Kernel

DEFAULT_METHODS = ("cfmgml", "hlk", "m3miml", "misvm", "mimlfast", "sgsl-svm", "dummy")


def own_data(bags: BagDataset, name: str, kernel: Kernel) -> DataSet:
    """Bags of one's own as a data set of the protocol.

    >>> from cfmgml.datasets import load_digit_bags
    >>> from cfmgml.kernels import NodeSum
    >>> own_data(load_digit_bags(n_bags=20), "digits", NodeSum()).title
    'digits'
    """
    if bags.Y is None:
        raise ValueError("these bags have no labels (Y) to measure against.")
    repeated = bags.graph_names is not None and len(np.unique(bags.graph_names)) < bags.n_graphs

    def load(path: Path | None) -> BagDataset:
        return bags

    def load_single(path: Path | None) -> BagDataset:
        return joined(bags)

    about = str(bags.info.get("description") or f"{bags.n_bags:,} bags")
    return DataSet(
        name, name, about.rstrip("."), load, kernel, load_single=load_single, shared=repeated, n_graphs=bags.n_graphs,
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
        tuple(f"{measure.title} {measure.arrow}" for measure in measures), tuple(rows), corner="method",
    )  # fmt: skip


def _folds(results: Results, data: str, scheme: str) -> str:
    fact = results.facts[data]
    n_folds, n_inner = fact["protocol"]["n_folds"], fact["n_inner_run"]
    apart = " that share no graph" if scheme == "disjoint" else ""
    inside = f"{n_inner} folds" if n_inner > 1 else f"1 of {fact['protocol']['n_inner']} folds"
    return f"{n_folds} folds{apart}, parameters chosen in {inside} inside each"


def wanted_methods(names: Sequence[str] | None, bags: BagDataset) -> list[str]:
    """The methods asked for; by default those that these bags allow and that take no more than minutes."""
    if names:
        return list(names)
    return [key for key in DEFAULT_METHODS if bags.graph_Y is not None or not METHODS[key].sees_graph_labels]
