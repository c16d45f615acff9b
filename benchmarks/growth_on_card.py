"""How long does a fit with defaults take on a card? Made-up graphs, as many as asked for; loading is not counted.

    PYTHONPATH=src python benchmarks/growth_on_card.py --sizes 20000 50000 100000

Graphs of 20 to 30 nodes with 64 attributes in bags of 2 to 5. Nodes are of 40 kinds; a graph has each of ten labels
with probability .15 and then has 3 to 6 nodes of that label's own kind, which lies close to a common one, among nodes
of common kinds. Everything is `CfMGML(device="cuda")`'s default, ``rank="auto"`` included, and the first, small fit
that starts the card is not counted. Prints a line a size: wall-clock seconds in all and of each part of the fit, where
they can be told apart, most memory on the card, landmarks, the error aside, and how well new bags and graphs are
labelled, beside what guessing the commonest labels would give.
"""

import argparse
import json
import time
from contextlib import contextmanager

import numpy as np

from cfmgml import BagDataset, CfMGML, GraphBatch
from cfmgml.common.segments import offsets
from cfmgml.learning import in_memory, scoring
from cfmgml.metrics import bag_report, graph_report

KINDS, LABELS, ATTRIBUTES, SHARE = 30, 10, 64, 0.15
CHUNK = 20_000  # graphs made at a time


def made_bags(n_graphs: int, seed: int) -> BagDataset:
    """Bags of graphs whose labels some of their nodes decide."""
    world = np.random.default_rng(0)  # the kinds are the same for training and test
    common = world.normal(size=(KINDS, ATTRIBUTES))
    own = common[:LABELS] + 0.4 * world.normal(size=(LABELS, ATTRIBUTES))
    kinds, rng = np.vstack([common, own]), np.random.default_rng(seed)
    sizes = rng.integers(20, 31, n_graphs)
    graph_Y = rng.random((n_graphs, LABELS)) < SHARE
    node_ptr = offsets(sizes)
    kind = rng.integers(KINDS, size=node_ptr[-1])
    for label in range(LABELS):
        having = np.flatnonzero(graph_Y[:, label])
        counts = rng.integers(3, 7, len(having))
        graph = np.repeat(having, counts)  # places are drawn anew for each label: a later one may take an earlier's
        kind[node_ptr[graph] + (rng.random(len(graph)) * sizes[graph]).astype(int)] = KINDS + label
    values = np.empty((node_ptr[-1], ATTRIBUTES))
    for start in range(0, n_graphs, CHUNK):
        part = slice(node_ptr[start], node_ptr[min(start + CHUNK, n_graphs)])
        values[part] = kinds[kind[part]] + 0.7 * rng.normal(size=(part.stop - part.start, ATTRIBUTES))
    no_edges = np.zeros(n_graphs + 1, dtype=int), np.empty((2, 0), dtype=int)
    graphs = GraphBatch(node_ptr, *no_edges, node_attributes=values)
    in_bags = rng.integers(2, 6, size=n_graphs)
    ends = np.minimum(np.cumsum(in_bags), n_graphs)
    ptr = np.concatenate([[0], ends[: int(np.searchsorted(ends, n_graphs)) + 1]])
    return BagDataset(graphs, ptr, Y=np.logical_or.reduceat(graph_Y, ptr[:-1], axis=0), graph_Y=graph_Y)


@contextmanager
def timed(parts: dict[str, float]):
    """Wall-clock seconds of what a fit calls, added up by name."""
    places = [(scoring, "settle_rank"), (scoring, "normalised_features"), (in_memory, "training_rows")]
    places += [
        (in_memory, "_solve"),
        (in_memory, "share_covered"),
        (in_memory, "check_bags"),
        (BagDataset, "fingerprint"),
    ]
    real = [getattr(*place) for place in places]

    def clocked(name, function):
        def call(*args, **options):
            start = time.perf_counter()
            done = function(*args, **options)
            parts[name] = round(parts.get(name, 0.0) + time.perf_counter() - start, 2)
            return done

        return call

    for (owner, name), function in zip(places, real, strict=True):
        setattr(owner, name, clocked(name, function))
    yield
    for (owner, name), function in zip(places, real, strict=True):
        setattr(owner, name, function)


def measure(n_graphs: int, device: str) -> dict[str, object]:
    import torch

    train, test = made_bags(n_graphs, 1), made_bags(2000, 2)
    on_card = device.startswith("cuda")
    if on_card:
        torch.cuda.reset_peak_memory_stats()
    parts: dict[str, float] = {}
    start = time.perf_counter()
    with timed(parts):
        model = CfMGML(device=device).fit(train)
    row: dict[str, object] = {"graphs": n_graphs, "nodes": train.graphs.n_nodes, "fit_s": time.perf_counter() - start}
    row |= {"parts_s": parts, "steps": model.n_iter_, "error": model.approximation_error_}
    row |= {"landmarks": model.kernel_.n_components if model.kernel_.is_explicit else None}
    row |= {"card_gib": torch.cuda.max_memory_allocated() / 2**30 if on_card else None}
    start = time.perf_counter()
    bags, graphs = model.decision_function(test), model.decision_function_graphs(test)
    row |= {"score_2000_twice_s": time.perf_counter() - start}
    guess = np.tile(train.Y.mean(0), (test.n_bags, 1))
    row |= {"bag_ap": bag_report(test.Y, bags)["average_precision"]}
    row |= {"bag_ap_guessing": bag_report(test.Y, guess)["average_precision"]}
    row |= {"graph_accuracy": graph_report(test.graph_Y, graphs)["accuracy"]}
    wrong = ((graphs > 0) != test.graph_Y).mean()
    row |= {"graph_labels_wrong": wrong, "wrong_if_none": test.graph_Y.mean()}
    return {key: round(value, 4) if isinstance(value, float) else value for key, value in row.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=(20_000, 50_000, 100_000))
    parser.add_argument("--device", default="cuda")
    args = parser.parse_args()
    CfMGML(device=args.device, max_iter=2).fit(made_bags(200, 3))
    for size in args.sizes:
        print(json.dumps(measure(size, args.device), default=float), flush=True)


if __name__ == "__main__":
    main()
