"""Frequent subgraphs of MSRC v2's labelled region graphs: our miner beside PyPI's gspan-mining, the same task.

    python -m venv .venv-gspan && .venv-gspan/bin/pip install gspan-mining==0.2.3 "numpy<2" "pandas<2"
    python benchmarks/gspan_peer.py --peer-python .venv-gspan/bin/python --data ../shared/data

prints a Markdown table: patterns found, the sum of their supports (both must agree), CPU seconds (medians) and ratios.
The peer runs in an environment of its own, since it needs old versions of numpy and pandas.
"""

import argparse
import json
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from cfmgml.datasets import load_msrc_v2
from cfmgml.mining import mine_subgraphs

PEER = """
import contextlib, io, json, sys, time
from gspan_mining.config import parser
from gspan_mining.main import main
options, _ = parser.parse_known_args(args=["-s", sys.argv[2], "-l", "2", "-u", sys.argv[3], sys.argv[1]])
text, start = io.StringIO(), time.process_time()
with contextlib.redirect_stdout(text):
    main(options)
lines = text.getvalue().splitlines()
supports = [int(line.split(":")[1]) for line in lines if line.startswith("Support")]
print(json.dumps([len(supports), sum(supports), time.process_time() - start]))
"""


def write_graphs(graphs, path):
    """In the peer's own text format."""
    lines = []
    for number, graph in enumerate(graphs):
        lines.append(f"t # {number}")
        lines += [f"v {node} {label}" for node, label in enumerate(graph.node_labels.tolist())]
        pairs = sorted({tuple(sorted(edge)) for edge in graph.edges.T.tolist() if edge[0] != edge[1]})
        lines += [f"e {a} {b} 1" for a, b in pairs]
    Path(path).write_text("\n".join([*lines, "t # -1", ""]))


def ours(graphs, support, max_nodes):
    start = time.process_time()
    found = mine_subgraphs(graphs, support, min_nodes=2, max_nodes=max_nodes)
    return [len(found), int(found.supports.sum()), time.process_time() - start]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer-python", required=True, help="Python of an environment that has gspan-mining")
    parser.add_argument("--data", default=None, help="the folder of data sets; CFMGML_DATA if left out")
    parser.add_argument("--sizes", type=int, nargs="+", default=[500, 1000, 1871])
    parser.add_argument("--share", type=float, default=0.05, help="minimum support, as a share of the graphs")
    parser.add_argument("--max-nodes", type=int, default=4)
    parser.add_argument("--passes", type=int, default=3)
    args = parser.parse_args()
    graphs = load_msrc_v2(args.data).graphs
    mine_subgraphs(graphs[:5], 2, max_edges=2)  # compiles
    print("| graphs | minimum support | patterns | sum of supports | cfmgml CPU s | gspan-mining 0.2.3 CPU s | ratio |")
    print("|---|---|---|---|---|---|---|")
    for size in args.sizes:
        support = max(2, round(args.share * size))
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "graphs.data"
            write_graphs(graphs[:size], file)
            own, peer = [], []
            for _ in range(args.passes):
                own.append(ours(graphs[:size], support, args.max_nodes))
                command = [args.peer_python, "-c", PEER, str(file), str(support), str(args.max_nodes)]
                done = subprocess.run(command, capture_output=True, text=True, check=True)
                peer.append(json.loads(done.stdout))
        if own[0][:2] != peer[0][:2]:
            raise SystemExit(f"the miners disagree: {own[0][:2]} against {peer[0][:2]}")
        mine, theirs = (statistics.median(row[2] for row in rows) for rows in (own, peer))
        cells = [size, support, *own[0][:2], f"{mine:.2f}", f"{theirs:.2f}", f"{theirs / mine:.0f}"]
        print("| " + " | ".join(map(str, cells)) + " |", flush=True)


if __name__ == "__main__":
    main()
