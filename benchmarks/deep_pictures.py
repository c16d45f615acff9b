"""Photos described by a network: both levels with masks, every pixel without.

One row a fold, method and setting in docs/results/pictures/rows.jsonl; rows that are there are not made again. Then
docs/results/pictures/tables.md is written from the rows.

    python benchmarks/deep_pictures.py --path DATA            # all; about an hour on two cores
    python benchmarks/deep_pictures.py --path DATA --only msrc_v2 --task pixels
    python benchmarks/deep_pictures.py --tables               # from the rows that are there

Ten folds of seed 0 (`make_folds`). ``alpha`` of CfMGML and ``C`` of the rivals are chosen by the average precision of
bags in one third of the training photos that the other two thirds did not see. ``regions``: a photo's graphs are its
true segments, named for testing only. ``pixels``: no mask is seen but by the measure; regions are found by colour. The
kernel of the deep rows is a node sum by 1,000 Nystrom features, resolved on training photos.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed

from cfmgml import BagDataset, CfMGML, NodeSum
from cfmgml.baselines import ActivationMaps
from cfmgml.builders.pictures import EncodedNodes, register_description
from cfmgml.builders.pictures.encoders.efficientnet_lite0 import efficientnet_lite0
from cfmgml.builders.pictures.image_files import read_mask
from cfmgml.builders.pictures.pooling import pool
from cfmgml.common.segments import segment_ids
from cfmgml.datasets import bags_from_images, load_msrc_v2, load_voc2012
from cfmgml.evaluation.folds import FoldPlan, make_folds
from cfmgml.evaluation.pixel_truth import pixel_truth
from cfmgml.learning.annotation import annotate
from cfmgml.learning.painting import loudest_labels
from cfmgml.metrics import bag_report, graph_report, pixel_measures

HERE = Path(__file__).parent.parent
OUT = HERE / "docs" / "results" / "pictures"
LOADERS = {"msrc_v2": load_msrc_v2, "voc2012": load_voc2012}
FOLDERS = {"msrc_v2": "msrc_v2", "voc2012": "voc2012_multi"}
SEGMENTS = {"msrc_v2": {}, "voc2012": {"min_pixels": 20}}
MAX_REGIONS = {"msrc_v2": 8, "voc2012": 20}
ALPHAS = {"regions": (1e-3, 1e-4, 3e-5, 1e-5), "pixels": (1e-3, 3e-4, 1e-4)}
SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)  # of a photo's loudest node, below which activation maps are background
CS = dict.fromkeys(ALPHAS, (0.001, 0.01, 0.1, 1.0))
BAG = ("one_error", "ranking_loss", "average_precision", "macro_f1")


# -- data ------------------------------------------------------------------------------------


class LastMap(EncodedNodes):
    """The encoder's last map as it is, averaged over the superpixel: what class activation maps are made of."""

    widths = {"last": 1280}  # noqa: RUF012

    def _rows(self, nodes, maps):
        return pool(maps[-1:], nodes.superpixels.numbers, nodes.superpixels.n_nodes)[0]


def load(data, task, path, features):
    """Bags of true segments; or for pixels bags made without masks, and the pixels' classes in every node."""
    register_description(LastMap(efficientnet_lite0, "last-map"), "last-map")
    masked = LOADERS[data](path, features=features, nodes="attributes", **SEGMENTS[data])
    if task == "regions":
        return masked, None
    cache = Path.home() / ".cache" / "cfmgml" / f"{data}-unmasked-{features}.bags"
    if not cache.is_file():
        files = [
            masked.info["folder"].path / row[0] for row in (masked.info["files"][n] for n in masked.bag_names.tolist())
        ]
        known = {"labels": masked.Y, "label_names": masked.label_names.tolist(), "names": masked.bag_names.tolist()}
        bags = bags_from_images(files, features=features, nodes="attributes", max_regions=MAX_REGIONS[data], **known)
        cache.parent.mkdir(parents=True, exist_ok=True)
        bags.save(cache)
    bags = BagDataset.load(cache)
    folder = Path(path) / FOLDERS[data] / "images"
    maps = [true_map(masked, k) for k in range(masked.n_bags)]
    truth = pixel_truth(bags, maps, len(bags.label_names), background=data == "voc2012", n_jobs=2, folder=folder)
    return bags, truth


def true_map(masked, k):
    """A function that reads a photo's mask: classes by the labels of its segments, void not counted."""
    one = masked[k]
    name = str(one.bag_names[0])
    mask_file = masked.info["folder"].path / masked.info["files"][name][1]
    labels = {
        int(graph.rsplit("#", 1)[1]): int(row.argmax())
        for graph, row in zip(one.graph_names.tolist(), one.graph_Y, strict=True)
    }
    voc, n_labels = len(masked.label_names) == 20, len(masked.label_names)

    def classes():
        numbers = read_mask(mask_file)
        found = np.full(numbers.shape, -1)
        for number, label in labels.items():
            found[numbers == number] = label
        return np.where(numbers == 0, n_labels, found) if voc else found

    return classes


# -- methods ---------------------------------------------------------------------------------


def cfmgml_path(refine):
    def path(train, settings):
        kernel = NodeSum(gamma=train.builder.gamma, approximation="nystrom", n_components=1000, random_state=0)
        return CfMGML(kernel, random_state=0, refine=refine).fit_path(train, settings)

    return path


def maps_path(columns):
    return lambda train, settings: [ActivationMaps(columns=columns, C=C, background=None).fit(train) for C in settings]


METHODS = {
    "cfmgml": ("CfMGML, deep", "deep", "alpha", ALPHAS, cfmgml_path(0)),
    "settled": ("CfMGML, deep, gamma and place chosen inside", "deep", None, None, None),  # deep_settings.py
    "both": ("CfMGML, deep, chosen inside, mean of once and twice", "deep", None, None, None),
    "lite2": ("CfMGML, deep_lite2, all chosen inside", "deep_lite2", None, None, None),
    "levels": ("CfMGML, deep_lite2, each level by itself", "deep_lite2", None, None, None),
    "again": ("CfMGML, deep, learned twice", "deep", "alpha", ALPHAS, cfmgml_path(3)),
    "rich": ("CfMGML, rich: no network", "rich", "alpha", {"pixels": ALPHAS["pixels"]}, cfmgml_path(0)),
    "activation-maps": ("activation maps of the same encoder", "last-map", "C", CS, maps_path(["last"])),
    "pooled": (
        "all its maps pooled, logistic regression", "deep", "C", {"regions": CS["regions"]},
        maps_path(["stride_16", "stride_32", "last"]),
    ),
}  # fmt: skip


def figures(test, of_bags, of_graphs, *, annotates=True):
    """Both levels by scores of photos and of their graphs."""
    row = {f"bag.{key}": value for key, value in bag_report(test.Y, of_bags).items()}
    if test.graph_Y is not None:
        row["graph.accuracy"] = graph_report(test.graph_Y, of_graphs)["accuracy"]
        if annotates:
            told = annotate(of_graphs, test.bag_ptr, test.Y)
            row["graph.annotated"] = float((told & test.graph_Y).any(axis=1).mean())
    return row


def measure(model, test, truth):
    of_bags, of_graphs = model.decision_function(test), model.decision_function_graphs(test)
    row = figures(test, of_bags, of_graphs, annotates=isinstance(model, CfMGML))
    if truth is None:
        return row
    for how in ("predicted", "given"):
        row[f"pixels.{how}"] = truth.counts(model.paint(test, given=how == "given")).tolist()
        if isinstance(model, ActivationMaps):
            allowed = test.Y if how == "given" else model.predict(test)
            row |= {
                f"pixels.{how}.{kind}": truth.counts(own).tolist() for kind, own in thresholded(model, test, allowed)
            }
    return row


def thresholded(model, test, allowed):
    """Activation maps with what is quiet as background: with the classifier's intercept and, as first published,
    without."""
    ptr = test.graphs.node_ptr[test.bag_ptr]
    scores, without = model._node_scores(test), model.intercept_ - model.mean_ @ (model.coef_ / model.scale_[:, None])
    for kind, values in (("score", scores), ("map", scores - without)):
        loud = np.where(allowed[segment_ids(ptr)], values, -np.inf)
        for share in SHARES:
            yield f"{kind}.{share}", loudest_labels(loud, ptr, share)


def run_fold(bags, truth, key, folds):
    """The row of one outer fold: settings chosen on its first inner fold."""
    _, _, name, grids, fit_path = METHODS[key]
    settings = grids["regions" if truth is None else "pixels"]
    start = time.process_time()
    outer, inner = (next(fold for fold in folds if fold.inner == which) for which in (None, 0))
    tried = fit_path(bags[inner.train], settings)
    held_out = bags[inner.test]
    inside = [bag_report(held_out.Y, model.decision_function(held_out))["average_precision"] for model in tried]
    best = settings[int(np.argmax(inside))]
    (model,) = fit_path(bags[outer.train], [best])
    seen = {str(value): score for value, score in zip(settings, inside, strict=True)}
    row = {"method": key, "fold": outer.outer, "params": {name: best}, "inside": seen}
    own = None if truth is None else truth[outer.test]
    return {**row, **measure(model, bags[outer.test], own), "cpu_seconds": time.process_time() - start}


# -- rows and tables -------------------------------------------------------------------------


def read_rows():
    path = OUT / "rows.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.is_file() else []


def write_row(data, task, bags, row):
    OUT.mkdir(parents=True, exist_ok=True)
    told = {"data": data, "task": task, "encoder": bags.builder.encoder, "n_folds": 10, "seed": 0}
    with open(OUT / "rows.jsonl", "a") as stream:
        stream.write(json.dumps({**told, **row}) + "\n")
    print(data, task, row["method"], row["fold"], row["params"], f"{row['cpu_seconds']:.0f} s", flush=True)


def run(data, task, path, n_jobs):
    there = {(row["data"], row["task"], row["method"], row["fold"]) for row in read_rows()}
    for features in ("deep", "last-map", "rich"):
        methods = [key for key, (_, own, _, grids, _) in METHODS.items() if own == features and grids and task in grids]
        todo = [(key, fold) for key in methods for fold in range(10) if (data, task, key, fold) not in there]
        if not todo:
            continue
        bags, truth = load(data, task, path, features)
        plan = make_folds(bags, FoldPlan())
        jobs = (delayed(run_fold)(bags, truth, key, [one for one in plan if one.outer == fold]) for key, fold in todo)
        for row in Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")(jobs):
            write_row(data, task, bags, row)


def tables():
    (OUT / "tables.md").write_text(table_text(read_rows()))
    print(table_text(read_rows()))


def table_text(rows):
    """Means over folds; pixels from one confusion matrix over all test photos."""
    text = ["<!-- made by python benchmarks/deep_pictures.py --tables -->", ""]
    for data in LOADERS:
        heads = ["one-error", "ranking loss", "avg. precision", "macro-F1", "graph accuracy", "annotated"]
        text += [f"### {data}: a photo's true segments as graphs", "", *_head("method", heads)]
        names = [*(f"bag.{name}" for name in BAG), "graph.accuracy", "graph.annotated"]
        for title, own in _of(rows, data, "regions"):
            means = {
                name: f"{np.mean([row[name] for row in own]):.4f}"
                for name in (*names, "bag.macro_f1_thresholds")
                if name in own[0]
            }
            if "bag.macro_f1_thresholds" in means:
                zero, by_counts = means["bag.macro_f1"], means["bag.macro_f1_thresholds"]
                means["bag.macro_f1"] = f"{by_counts} by counts, {zero} above 0"
            text.append(_line(f"{title} ({len(own)} folds)", [means.get(name, "-") for name in names]))
        heads = ["labels", "pixel accuracy", "mean IoU", "class accuracy", "avg. precision of photos"]
        text += ["", f"### {data}: every pixel, no mask seen", "", *_head("method", heads)]
        for title, own in _of(rows, data, "pixels"):
            photos = f"{np.mean([row['bag.average_precision'] for row in own]):.3f}"
            for how in ("predicted", "given"):
                for kind, measured in painted(own, how).items():
                    cells = [f"{measured[one]:.3f}" for one in ("pixel_accuracy", "mean_iou", "class_accuracy")]
                    text.append(_line(f"{title}{kind} ({len(own)} folds)", [how, *cells, photos]))
        text.append("")
    return "\n".join(text)


def painted(rows, how):
    """Measures of a method's paintings; of activation maps also with background: the usual share, and in hindsight."""
    measured = {
        name.removeprefix(f"pixels.{how}"): pixel_measures(np.sum([row[name] for row in rows], axis=0))
        for name in rows[0]
        if name.startswith(f"pixels.{how}")
    }
    if len(measured) == 1:
        return measured
    usual, best = ".map.0.2", max(filter(None, measured), key=lambda name: measured[name]["mean_iou"])
    kind, share = best.removeprefix(".").split(".", 1)
    told = f", best of {len(measured) - 1} in hindsight: {kind}s, background below {share}"
    shown = {", no background": measured[""], ", background below 0.2": measured[usual]}
    return shown if best == usual else {**shown, told: measured[best]}


def _of(rows, data, task):
    for key, (title, *_) in METHODS.items():
        own = [row for row in rows if (row["data"], row["task"], row["method"]) == (data, task, key)]
        if own:
            yield title, own


def _head(corner, names):
    return [_line(corner, names), "|---" * (len(names) + 1) + "|"]


def _line(title, cells):
    return f"| {title} | {' | '.join(cells)} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--path", type=Path, help="the folder of data sets")
    parser.add_argument("--only", choices=[*LOADERS])
    parser.add_argument("--task", choices=["regions", "pixels"])
    parser.add_argument("--tables", action="store_true", help="only write the tables")
    parser.add_argument("--n-jobs", type=int, default=1)
    given = parser.parse_args()
    if not given.tables:
        for data in [given.only] if given.only else LOADERS:
            for task in [given.task] if given.task else ("regions", "pixels"):
                run(data, task, given.path, given.n_jobs)
    tables()


if __name__ == "__main__":
    main()
