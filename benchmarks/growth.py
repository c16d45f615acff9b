"""How the default grows with the number of graphs: time, memory beyond the input and accuracy, each size in a process.

    python benchmarks/growth.py digits                        # 1,000 to 64,000 graphs, none repeated
    python benchmarks/growth.py pictures --data DIR           # nodes of MSRC v2, perturbed, in float32
    python benchmarks/growth.py texts                         # sentences of words drawn by Zipf's law
    python benchmarks/growth.py digits --sizes 1000 2000 --exact --peers   # rank=None and peers beside it

Digits are shifted by up to a pixel and noised, picture nodes moved by a tenth of their own spread, sentences drawn: no
two graphs are the same. CPU seconds of one thread; exponents are slopes of the logarithm from 4,000 graphs on. Peers:
scikit-learn's Nystroem on mean nodes with logistic regression, and GraKeL (where it is installed: `make bench`) with
one support vector machine a label, graphs as labelled as their bags: GraphHopper where nodes have attributes, else
Weisfeiler-Lehman.
"""

import argparse
import ctypes
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

from cfmgml import BagDataset, CfMGML, GraphBatch, NodeSum
from cfmgml.builders.digits import digit_graphs
from cfmgml.common.segments import offsets, take_segments
from cfmgml.datasets import bags_from_texts, load_msrc_v2
from cfmgml.datasets.digits import SUBSETS, digit_numbers
from cfmgml.metrics import bag_report, graph_report
from cfmgml.model_selection import kernel_named

SIZES = (1000, 2000, 4000, 8000, 16000, 32000, 64000)
TEST_GRAPHS = 1000
CHUNK = 10_000  # nodes perturbed at a time
N_WORDS, WORDS, N_TOPICS, TOPIC_WORDS, SAID = 50_000, 12, 10, 40, 3  # sentences are drawn from


def digit_bags(n_graphs: int, subset: str, seed: int) -> BagDataset:
    """Bags of 2 to 5 digits, each moved by up to a pixel and noised."""
    rng, digits = np.random.default_rng(seed), load_digits()
    chosen = rng.choice(digit_numbers()[SUBSETS[subset]], n_graphs)
    pixels = digits.images[chosen] / 16.0
    for k, (down, right) in enumerate(rng.integers(-1, 2, size=(n_graphs, 2))):
        pixels[k] = np.roll(pixels[k], (down, right), axis=(0, 1))
    pixels = np.clip(pixels + np.where(pixels > 0.2, rng.normal(0, 0.08, pixels.shape), 0), 0, 1)
    return bagged(digit_graphs(pixels), digits.target[chosen][:, None] == np.arange(10), rng)


def picture_bags(n_graphs: int, subset: str, seed: int, folder: str) -> BagDataset:
    """Regions of MSRC v2, photos of even number to train and of odd number to test, nodes perturbed."""
    rng = np.random.default_rng(seed)
    photos = BagDataset.load(folder) if folder.endswith(".bags") else load_msrc_v2(folder, features="rich")
    some = photos[np.arange(photos.n_bags) % 2 == (subset == "test")]
    chosen = rng.integers(some.n_graphs, size=n_graphs)
    nodes, node_ptr = take_segments(some.graphs.node_ptr, chosen)
    values, spread = some.graphs.node_attributes.astype(np.float32)[nodes], 0.1 * some.graphs.node_attributes.std(0)
    for start in range(0, len(values), CHUNK):  # not all at once: in float64 they would be the peak of memory
        part = values[start : start + CHUNK]
        part += rng.standard_normal(part.shape, dtype=np.float32) * spread.astype(np.float32)
    graphs = GraphBatch(
        node_ptr, np.zeros(n_graphs + 1, dtype=int), np.empty((2, 0), dtype=int), node_attributes=values
    )
    return bagged(graphs, some.graph_Y[chosen], rng)


def text_bags(n_graphs: int, subset: str, seed: int) -> BagDataset:
    """Sentences of 12 words as frequent as Zipf has them and 3 of a topic, of which one in three is another's."""
    rng = np.random.default_rng(seed)
    chances = np.cumsum(1 / np.arange(1, N_WORDS + 1))
    drawn = np.searchsorted(chances, rng.random((n_graphs, WORDS)) * chances[-1])
    topic = rng.integers(N_TOPICS, size=n_graphs)
    said = np.where(rng.random((n_graphs, SAID)) < 2 / 3, topic[:, None], rng.integers(N_TOPICS, size=(n_graphs, SAID)))
    words = np.hstack([drawn, N_WORDS + TOPIC_WORDS * said + rng.integers(TOPIC_WORDS, size=said.shape)])
    sentences = [" ".join(f"word{number}" for number in row) for row in rng.permuted(words, axis=1).tolist()]
    sizes = bag_sizes(n_graphs, rng)
    documents = [sentences[start : start + size] for start, size in zip(offsets(sizes), sizes, strict=False)]
    return bags_from_texts(documents, graph_Y=topic[:, None] == np.arange(N_TOPICS), text=False)


MAKE = {"digits": digit_bags, "pictures": picture_bags, "texts": text_bags}


def bagged(graphs: GraphBatch, graph_Y: np.ndarray, rng: np.random.Generator) -> BagDataset:
    ptr = offsets(bag_sizes(graphs.n_graphs, rng))
    return BagDataset(graphs, ptr, Y=np.logical_or.reduceat(graph_Y, ptr[:-1], axis=0), graph_Y=graph_Y)


def bag_sizes(n_graphs: int, rng: np.random.Generator) -> np.ndarray:
    sizes = rng.integers(2, 6, size=n_graphs)
    sizes = sizes[: np.searchsorted(sizes.cumsum(), n_graphs) + 1]
    sizes[-1] -= sizes.sum() - n_graphs
    return sizes[sizes > 0]


def memory(name: str) -> float:
    """MB of this process: VmRSS, now, or VmHWM, the most since `forget_peak`."""
    found = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(name))
    return int(found.split()[1]) / 1024


def forget_peak() -> None:
    """From here on: what making the input has left behind is given back first, else it would be used unseen."""
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")


def nystroem(train: BagDataset, test: BagDataset) -> tuple[np.ndarray, np.ndarray]:
    """What one would do with scikit-learn: mean nodes, its Nystroem with 500 components, logistic regression."""
    from sklearn.kernel_approximation import Nystroem
    from sklearn.linear_model import LogisticRegression
    from sklearn.multiclass import OneVsRestClassifier
    from sklearn.pipeline import make_pipeline

    def means(graphs: GraphBatch) -> np.ndarray:
        sums = np.add.reduceat(graphs.node_attributes, graphs.node_ptr[:-1], axis=0)
        return sums / np.diff(graphs.node_ptr)[:, None]

    copied = np.repeat(train.Y, np.diff(train.bag_ptr), axis=0)
    model = make_pipeline(Nystroem(n_components=500), OneVsRestClassifier(LogisticRegression(max_iter=200)))
    scores = model.fit(means(train.graphs), copied).decision_function(means(test.graphs))
    return np.maximum.reduceat(scores, test.bag_ptr[:-1], axis=0), scores


def grakel(train: BagDataset, test: BagDataset, given: list[list[Any]]) -> tuple[np.ndarray, np.ndarray]:
    """What one would do with GraKeL and scikit-learn; given are the graphs of both in the form that GraKeL reads."""
    from grakel import GraphHopper, VertexHistogram, WeisfeilerLehman
    from sklearn.multiclass import OneVsRestClassifier
    from sklearn.svm import SVC

    if train.graphs.node_attributes is None:
        kernel = WeisfeilerLehman(n_iter=1, base_graph_kernel=VertexHistogram, normalize=True)
    else:
        gamma = NodeSum().resolve(train.graphs).gamma_
        kernel = GraphHopper(kernel_type=("gaussian", gamma), normalize=True)
    copied = np.repeat(train.Y, np.diff(train.bag_ptr), axis=0)
    machines = OneVsRestClassifier(SVC(kernel="precomputed", C=10)).fit(kernel.fit_transform(given[0]), copied)
    scores = machines.decision_function(kernel.transform(given[1]))
    return np.maximum.reduceat(scores, test.bag_ptr[:-1], axis=0), scores


def for_grakel(graphs: GraphBatch) -> list[Any]:
    values = graphs.node_labels if graphs.node_attributes is None else graphs.node_attributes
    assert values is not None
    return [
        [
            dict.fromkeys([pair for a, b in (one.edges.T).tolist() for pair in ((a, b), (b, a))], 1.0),
            dict(enumerate(values[start:stop].tolist() if values.ndim == 1 else values[start:stop])),
        ]
        for one, start, stop in zip(
            (graphs[[k]] for k in range(graphs.n_graphs)), graphs.node_ptr, graphs.node_ptr[1:], strict=False
        )
    ]


PEERS = {"Nystroem": nystroem, "GraKeL": grakel}  # with what they need made before time is taken


def measure(args: argparse.Namespace, n_graphs: int, method: str) -> dict[str, object]:
    own = [args.data] if args.what == "pictures" else []
    train, test = (MAKE[args.what](*how, *own) for how in ((n_graphs, "train", 0), (TEST_GRAPHS, "test", 1)))
    kernel = kernel_named("auto", train) if args.what == "texts" else NodeSum()
    CfMGML(kernel, max_iter=2).fit(test[:20])  # compiled
    given = [[for_grakel(bags.graphs) for bags in (train, test)]] if method == "GraKeL" else []
    forget_peak()
    before, start = memory("VmRSS"), time.process_time()
    row: dict[str, object] = {"what": args.what, "graphs": n_graphs, "nodes": train.graphs.n_nodes, "method": method}
    if method in PEERS:
        bags, graphs = PEERS[method](train, test, *given)
        row |= {"fit_s": round(time.process_time() - start, 2)}
    else:
        model = CfMGML(kernel, alpha=1e-4, rank=None if method == "exact" else "auto").fit(train)
        row |= {"fit_s": round(time.process_time() - start, 2), "error": model.approximation_error_}
        row |= {"landmarks": getattr(model.kernel_, "n_components", None) if model.kernel_.is_explicit else n_graphs}
        start = time.process_time()
        bags, graphs = model.decision_function(test), model.decision_function_graphs(test)
        row |= {"predict_ms_a_graph": round(1e3 * (time.process_time() - start) / 2 / test.n_graphs, 3)}
    row |= {
        "beyond_input_mb": round(memory("VmHWM") - before),
        "ap": round(bag_report(test.Y, bags)["average_precision"], 4),
    }
    return row | {"accuracy": round(graph_report(test.graph_Y, graphs)["accuracy"], 4)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=tuple(MAKE))
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--exact", action="store_true", help="rank=None beside it")
    parser.add_argument("--peers", action="store_true", help="Nystroem (not texts) and GraKeL beside it")
    parser.add_argument("--data", help="folder with msrc_v2, or a file of its bags with rich nodes")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        print(json.dumps(measure(args, int(args.one[0]), args.one[1])))
        return
    rows = []
    peers = [name for name in PEERS if args.peers and (name, args.what) != ("Nystroem", "texts")]
    methods = ["auto", *(["exact"] if args.exact else []), *peers]
    one_thread = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    for size in args.sizes:
        for method in methods:
            command = [sys.executable, __file__, args.what, "--one", str(size), method]
            command += ["--data", args.data] if args.data else []
            done = subprocess.run(command, check=True, capture_output=True, text=True, env=one_thread)
            rows.append(json.loads(done.stdout))
            print(json.dumps(rows[-1]), flush=True)
    large = [row for row in rows if row["method"] == "auto" and row["graphs"] >= 4000]
    if len(large) > 1:
        at = np.log([row["graphs"] for row in large])
        for name in ("fit_s", "beyond_input_mb"):
            print(f"exponent of {name}: {np.polyfit(at, np.log([row[name] for row in large]), 1)[0]:.2f}")


if __name__ == "__main__":
    main()
