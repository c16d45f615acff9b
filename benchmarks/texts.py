"""Texts: CfMGML and tf-idf with logistic regression, nested: inner folds choose what either has to choose.

    python benchmarks/texts.py --data ../shared/data                     # goes on where it stopped, fold by fold
    python benchmarks/texts.py --data ../shared/data --only hallmarks --methods default,tf-idf --folds 2
    python benchmarks/texts.py --table                                   # docs/results/texts.md from the rows

Rows go to docs/results/texts/rows.jsonl, one for each data set, method and outer fold; those that are there are not
measured again. 5 outer folds, and settings by average precision of bags in one of 3 inner folds, as `cfmgml evaluate`
does above 2,000 graphs. Papers that share references are kept apart: no graph is on two sides of a fold.
"""

import argparse
import functools
import json
import re
import time
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

import numpy as np

from cfmgml import CfMGML, WeisfeilerLehman
from cfmgml.baselines import TfIdf
from cfmgml.builders.texts.texts import KEYWORDS
from cfmgml.datasets import bags_from_texts, load_cora_topics, load_dblp, load_hallmarks
from cfmgml.datasets._records import label_matrix, read_records
from cfmgml.evaluation.folds import FoldPlan, make_folds
from cfmgml.evaluation.measures import measure_model
from cfmgml.model_selection import kernel_named

HERE = Path(__file__).resolve().parents[1] / "docs" / "results"
ROWS, PAGE = HERE / "texts" / "rows.jsonl", HERE / "texts.md"
N_FOLDS, N_INNER = 5, 3
MEASURES = {
    "bag.average_precision": "average precision ↑",
    "bag.ranking_loss": "ranking loss ↓",
    "bag.one_error": "one-error ↓",
    "bag.macro_f1": "macro-F1 ↑",
    "graph.accuracy": "graphs: top-1 ↑",
}

# -- data ------------------------------------------------------------------------------------


def dblp_sentences(folder, **options):
    """Abstracts by sentence; the labels of a paper are its topics."""
    papers = read_records(Path(folder) / "dblp_acm" / "papers.jsonl.gz")
    papers = [paper for paper in papers if paper.get("topics") and paper.get("abstract")]
    names = sorted({topic for paper in papers for topic in paper["topics"]})
    texts = [re.sub(r"</?[A-Za-z][^<>]*>", " ", paper["abstract"]) for paper in papers]
    labels = label_matrix([paper["topics"] for paper in papers], names)
    return bags_from_texts(texts, labels, label_names=names, bag_names=[str(p["id"]) for p in papers], **options)


def cora(folder, **options):
    """Titles' terms have no order, so that pairs of neighbours would mean nothing."""
    words = {"pairs": False, "window": 1, "threshold": 0.0, "max_keywords": None, "recipe": 3}
    return load_cora_topics(folder, n_labels=13, **({} if "recipe" in options else words))


DATA = {
    "hallmarks": ("Hallmarks of Cancer, abstracts by sentence", load_hallmarks, "bags"),
    "dblp_db": ("DBLP (DB), papers with references", functools.partial(load_dblp, field="DB"), "disjoint"),
    "dblp_cv": ("DBLP (CV), papers with references", functools.partial(load_dblp, field="CV"), "disjoint"),
    "dblp_dm": ("DBLP (DM), papers with references", functools.partial(load_dblp, field="DM"), "disjoint"),
    "cora": ("Cora, title terms with references", cora, "disjoint"),
    "dblp_sentences": ("DBLP, abstracts by sentence", dblp_sentences, "bags"),
}

# -- methods: all that is tried stands here --------------------------------------------------


@dataclass(frozen=True)
class Way:
    """A method: how texts are built, what is fixed, and the grid that inner folds choose from."""

    title: str
    grid: dict = field(default_factory=lambda: {"alpha": ALPHAS})
    fixed: dict = field(default_factory=dict)  # further parameters of the estimator
    kernel: object = None  # None: what suits the bags
    former: bool = False  # built as `KEYWORDS` says
    pairs: bool | None = True  # whether pairs of words are nodes; None: in sentences, not in whole abstracts


ALPHAS = (3e-3, 1e-3, 3e-4, 1e-4, 3e-5)
ALIKE = {"loss": "hamming", "term_weights": "sum", "class_weight": "balanced"}  # labels weigh the same
METHODS = {
    "tf-idf": Way("tf-idf, logistic regression", dict(TfIdf.compared[0].grid)),
    "context": Way(
        "CfMGML, pairs, context and class weights chosen",
        {"pairs": (0, 1), "context": (0.0, 0.6), "class_weight": (None, "balanced"), "alpha": ALPHAS},
    ),
    "alike": Way(
        "CfMGML, labels weigh the same, context and class weights chosen",
        {"context": (0.0, 0.6, 0.9), "class_weight": (None, "balanced"), "alpha": (1e-2, 3e-3, 1e-3, 3e-4)},
        {"loss": "hamming", "term_weights": "sum"},
    ),
    "whole": Way(
        "CfMGML, labels weigh the same, the whole as loud as a part, its share chosen",
        {"context": (0.3, 0.6), "alpha": (1e-2, 3e-3, 1e-3, 3e-4, 1e-4)},
        {"context_scale": "unit", **ALIKE},
        pairs=None,
    ),
    "default": Way("CfMGML, as it comes (alpha chosen)"),
    "former": Way("CfMGML, the former recipe", kernel=WeisfeilerLehman(1, tfidf=True), former=True),
}


@functools.lru_cache(maxsize=4)
def load(data, folder, former, pairs=True):
    return DATA[data][1](folder, **(KEYWORDS if former else {} if pairs else {"pairs": False}))


def fits(name, load_bags, rows, grid):
    """Every setting of a grid, with the model that it gives and the bags it is for; alphas are fitted as a path."""
    way = METHODS[name]
    pairs = way.pairs if way.pairs is not None else DATA[load_bags.args[0]][2] == "bags"
    others = {key: values for key, values in grid.items() if key not in ("alpha",)}
    for setting in (dict(zip(others, values, strict=True)) for values in product(*others.values())):
        if name == "tf-idf":
            bags = load_bags(way.former)
            yield setting, bags, TfIdf(**way.fixed, **setting).fit(bags[rows])
            continue
        bags = load_bags(way.former, bool(setting.get("pairs", pairs)))
        own = {key: value for key, value in setting.items() if key != "pairs"}
        suited = kernel_named("auto", bags) if bags.builder.pairs else WeisfeilerLehman(0, tfidf=True, min_graphs=2)
        models = CfMGML(way.kernel or suited, **way.fixed, **own).fit_path(bags[rows], grid["alpha"])
        yield from (({**setting, "alpha": a}, bags, model) for a, model in zip(grid["alpha"], models, strict=True))


def measured(name, load_bags, fold, inner):
    """What the setting with the best average precision in the inner fold reaches in the outer one."""
    found = fits(name, load_bags, inner.train, METHODS[name].grid)
    scores = [(model.score(bags[inner.test]), setting) for setting, bags, model in found]
    best, chosen = max(scores, key=lambda pair: pair[0])
    start = time.process_time()
    ((_, bags, model),) = fits(name, load_bags, fold.train, {key: (value,) for key, value in chosen.items()})
    seconds = round(time.process_time() - start, 1)
    report = measure_model(model, bags[fold.test], ("bag", "graph"), None)
    kept = {key: round(float(report[key]), 5) for key in MEASURES if report.get(key) is not None}
    return {**kept, "chosen": chosen, "inner": round(float(best), 5), "cpu_seconds": seconds}


# -- rows ------------------------------------------------------------------------------------


def read_rows():
    return [json.loads(line) for line in ROWS.read_text().splitlines()] if ROWS.exists() else []


def measure(folder, only, methods, n_folds):
    ROWS.parent.mkdir(parents=True, exist_ok=True)
    done = {(row["data"], row["method"], row["fold"]) for row in read_rows()}
    for number, data, name in product(range(n_folds), only, methods):  # a part of the table is a fair part
        if (data, name, number) in done:
            continue
        bags = load(data, folder, METHODS[name].former)
        folds = [one for one in make_folds(bags, FoldPlan(DATA[data][2], N_FOLDS, N_INNER, 0)) if one.outer == number]
        (fold,), inner = [one for one in folds if one.inner is None], next(one for one in folds if one.inner == 0)
        row = {"data": data, "method": name, "fold": number, "n_bags": bags.n_bags, "n_graphs": bags.n_graphs}
        row |= measured(name, functools.partial(load, data, folder), fold, inner)
        with ROWS.open("a") as file:
            file.write(json.dumps(row) + "\n")
        print(row, flush=True)


# -- the page --------------------------------------------------------------------------------


def means(rows):
    """By data set and method: the folds done, and the mean of each measure over them."""
    found = {}
    for data, name in product(DATA, METHODS):
        own = {row["fold"]: row for row in rows if (row["data"], row["method"]) == (data, name)}
        if own:
            found[data, name] = own
    return found


def common(found, data, names):
    """The folds that all these methods have."""
    return sorted(set.intersection(*(set(found.get((data, name), ())) for name in names)))


def verdicts(found):
    """Where tf-idf is ahead in average precision, and where it is not, in the folds that both have."""
    lost, won = [], []
    for data in DATA:
        folds = common(found, data, ("context", "tf-idf"))
        if not folds:
            continue
        ours, theirs = (
            [found[data, name][fold]["bag.average_precision"] for fold in folds] for name in ("context", "tf-idf")
        )
        better = sum(a > b for a, b in zip(ours, theirs, strict=True))
        told = f"{DATA[data][0]}: {np.mean(ours):.3f} against {np.mean(theirs):.3f}, ahead in {better} of {len(folds)}"
        (won if np.mean(ours) >= np.mean(theirs) else lost).append(f"- {told} folds.")
    return "\n".join(lost) or "- Nowhere, in the folds measured so far.", "\n".join(won) or "- Nowhere."


def table(found):
    lines = [f"| data | method | folds | {' | '.join(MEASURES.values())} | seconds a fit |"]
    lines.append("|" + "---|" * (len(MEASURES) + 4))
    for data in DATA:
        there = [name for name in METHODS if (data, name) in found]
        folds = common(found, data, there) if there else []
        for name in there:
            rows = [found[data, name][fold] for fold in folds]
            cells = [f"{np.mean([r[m] for r in rows]):.3f}" if rows and m in rows[0] else "-" for m in MEASURES]
            seconds = f"{np.median([row['cpu_seconds'] for row in rows]):.0f}" if rows else "-"
            lines.append(f"| {' | '.join([DATA[data][0], METHODS[name].title, str(len(folds)), *cells, seconds])} |")
    return "\n".join(lines)


PAGE_TEXT = """# Texts against tf-idf

Made by `python benchmarks/texts.py --table` from `texts/rows.jsonl`, which has figures only. Rows are made by

```
python benchmarks/texts.py --data ../shared/data
```

fold by fold; {n_rows} of {n_all} are there so far, and a table compares methods in the folds that all of its rows for a
data set have.

## Where tf-idf is ahead of us (average precision of bags)
{lost}

## Where it is not
{won}

## All figures
{table}

5 outer folds (seed 0); in each, settings are those with the best average precision of bags in one of 3 inner folds.
Tf-idf: words or words and pairs, balanced or not, C of 1, 10 and 100. CfMGML: alpha of 3e-3 to 3e-5, and where it is
chosen words or words and pairs, context of 0 or .6, balanced or not (not searched in the rows of DBLP by sentence,
whose settings name no class_weight). Papers with references are in folds that share no graph, so that a fold trains on
474 to 608 of DB's 786 bags, 202 to 361 of CV's 479 and DM's 495, 184 to 493 of Cora's 957.
Tf-idf scores a sentence by what it learned from whole documents. Cora's titles are terms without order: no pairs there.

The builder's defaults were settled before, by throw-away code, so that parts of what is reported here were looked at
then. On two inner folds of the first training fold of 10, Hallmarks and DBLP by sentence: average precision with pairs
and context .8 was .944 and .849, with stop words kept .943 and .846, without pairs .941 and .841; words that one
sentence has alone left out, macro-F1 .835 instead of .769 at most, without context. On three inner folds of the first
training fold here, DBLP (DB) with context .6: nodes for words that come 2, 4, 8 times .802 instead of .780 with pairs,
.798 instead of .768 without; endings kept .791 instead of .798, stop words kept .795.
"""


def write_page():
    rows = read_rows()
    found = means(rows)
    lost, won = verdicts(found)
    n_all = N_FOLDS * len(DATA) * len(METHODS)
    PAGE.write_text(PAGE_TEXT.format(lost=lost, won=won, table=table(found), n_rows=len(rows), n_all=n_all))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="the folder of data sets")
    parser.add_argument("--only", default=",".join(DATA), help="data sets, separated by commas")
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--folds", type=int, default=N_FOLDS, help=f"of {N_FOLDS}, how many to run")
    parser.add_argument("--table", action="store_true", help="write the page")
    given = parser.parse_args()
    if given.data is not None:
        measure(given.data, given.only.split(","), given.methods.split(","), given.folds)
    if given.table:
        write_page()


if __name__ == "__main__":
    main()
