"""How fast is the Gram matrix on a card, how exact, and how close to what the card can do?

    PYTHONPATH=src python benchmarks/gpu_gram.py [--graphs 8000] [--large 50000] [--sweep]

Needs numpy and torch with a card, and nothing else of ours but `cfmgml.gpu`. Graphs have 10 to 40 nodes (25 in the
mean), 873 attributes and weights as wide as path counts are. Prints a check against float64 on the CPU, then one line a
measurement: seconds, and the share of the matrix product's own speed on this card, measured in the same run.
"""

import argparse
import time

import numpy as np
import torch

from cfmgml.gpu import fused, node_pairs
from cfmgml.gpu.layout import BLOCK
from cfmgml.gpu.node_blocks import GraphNodes, place_nodes

N_ATTRIBUTES, GAMMA = 873, 1.0
CARD = torch.device("cuda")


def make_nodes(n_graphs, seed=0, weighted=True, n_attributes=N_ATTRIBUTES):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(10, 41, n_graphs)
    widths = (
        rng.choice([4, 6, 9, 12, 16, 20], n_graphs, p=[0.1, 0.2, 0.3, 0.2, 0.15, 0.05]) if weighted else sizes * 0 + 1
    )
    values = rng.integers(0, 30, int((sizes * widths).sum())).astype(float) if weighted else np.ones(int(sizes.sum()))
    different = rng.standard_gamma(0.05, (min(int(sizes.sum()), 30_000), n_attributes)).astype(np.float32)
    different = np.sqrt(different / (different.sum(1, keepdims=True) + 1e-9))
    attributes = different[rng.integers(0, len(different), int(sizes.sum()))]
    return GraphNodes(attributes, np.concatenate([[0], np.cumsum(sizes)]), widths, values)


def reference(graphs):
    """By definition, in float64, on the CPU."""
    width = int(graphs.widths.max())
    sizes = np.diff(graphs.node_ptr)
    each = np.repeat(graphs.widths, sizes)
    table = np.zeros((len(each), width))
    table[np.repeat(np.arange(len(each)), each), np.concatenate([np.arange(w) for w in each])] = graphs.values
    x = graphs.attributes.astype(np.float64)
    squares = (x * x).sum(1)
    values = np.exp(-GAMMA * np.maximum(squares[:, None] + squares - 2 * x @ x.T, 0)) * (table @ table.T)
    return np.add.reduceat(np.add.reduceat(values, graphs.node_ptr[:-1], 0), graphs.node_ptr[:-1], 1)


def seconds(work, repeats=5):
    """Median of device seconds, after one run that compiles."""
    work()
    found = []
    for _ in range(repeats):
        start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        work()
        stop.record()
        torch.cuda.synchronize()
        found.append(start.elapsed_time(stop) / 1000)
    return float(np.median(found))


def peaks():
    """Measured speed of matrix products, FLOP/s, and of copies, bytes/s."""
    found = {}
    for name, dtype, tf32 in (("float16", torch.float16, False), ("tf32", torch.float32, True),
                              ("float32", torch.float32, False), ("float64", torch.float64, False)):  # fmt: skip
        torch.backends.cuda.matmul.allow_tf32 = tf32
        n = 8192
        a, b = (torch.randn(n, n, dtype=dtype, device=CARD) for _ in range(2))
        found[name] = 2 * n**3 / seconds(lambda a=a, b=b: a @ b)
    torch.backends.cuda.matmul.allow_tf32 = False
    x = torch.randn(1 << 29, device=CARD)
    found["copy"] = 2 * x.nbytes / seconds(lambda: x.clone())
    return found


def check():
    print("# largest error relative to float64 on the CPU: 200 graphs")
    for weighted in (True, False):
        graphs = make_nodes(200, seed=1, weighted=weighted)
        exact = reference(graphs)
        scale = np.sqrt(np.outer(np.diagonal(exact), np.diagonal(exact)))
        for precision in node_pairs.PRECISIONS:
            for use in (False, True) if precision != "float64" else (False,):
                found = node_pairs.pair_gram(graphs, None, np.zeros(N_ATTRIBUTES), GAMMA, precision, CARD, use)
                found = found.double().cpu().numpy()
                entry = np.abs(found / exact - 1).max()
                norm = np.linalg.norm(found - exact) / np.linalg.norm(exact)
                print(f"check weighted={weighted} {precision:8} fused={use!s:5}: entries {entry:.1e}, normalised "
                      f"{np.abs((found - exact) / scale).max():.1e}, Frobenius {norm:.1e}")  # fmt: skip
                assert norm < {"float64": 1e-12, "float32": 2e-6, "tf32": 1e-3}[precision]
                half = node_pairs.pair_gram(
                    subset(graphs, 80), graphs, np.zeros(N_ATTRIBUTES), GAMMA, precision, CARD, use
                )
                np.testing.assert_allclose(half.double().cpu().numpy(), exact[:80], rtol=1e-3)


def subset(graphs, n):
    last, cut = int(graphs.node_ptr[n]), int((np.diff(graphs.node_ptr) * graphs.widths)[:n].sum())
    return GraphNodes(graphs.attributes[:last], graphs.node_ptr[: n + 1], graphs.widths[:n], graphs.values[:cut])


def tiles_only(graphs, precision, use_fused, **options):
    """Seconds for the tiles alone, nodes being on the card in blocks; and how many pairs of nodes they are."""
    side = place_nodes(graphs, np.zeros(graphs.attributes.shape[1]), GAMMA, precision, CARD, graphs.is_plain, use_fused)
    n = side.layout.n_graphs
    out = torch.zeros(n, n, dtype=torch.float64 if precision == "float64" else torch.float32, device=CARD)

    def work():
        if use_fused:
            fused.add_tiles(side, side, True, out, **options)
        else:
            out.zero_()
            node_pairs._add_tiles(side, side, True, out)

    took = seconds(work, 3)
    if use_fused:
        kernel = fused.add_tiles(side, side, True, out, **options)
        print(f"  (registers {kernel.n_regs}, spilt {kernel.n_spills}, shared {kernel.metadata.shared} bytes)")
    return took, (side.layout.n_blocks * BLOCK) ** 2 / 2, side.layout.n_blocks * BLOCK / graphs.node_ptr[-1]


def sweep(graphs):
    print("# sweep of the fused kernel, tiles only")
    for precision in ("tf32", "float32"):
        for n_warps, n_stages, strip in ((8, 2, 16), (8, 3, 16), (8, 4, 16), (8, 3, 8), (8, 3, 32), (4, 3, 16)):
            choice = {"n_warps": n_warps, "n_stages": n_stages, "strip": strip}
            try:
                took, pairs, _ = tiles_only(graphs, precision, True, **choice)
            except Exception as error:
                print(f"sweep {precision} {choice}: {type(error).__name__}")
                continue
            flops = 2 * pairs * 896 * (3 if precision == "float32" else 1)
            print(f"sweep {precision} {choice}: {took:.4f} s, {flops / took / 1e12:.0f} TFLOP/s", flush=True)


def compiled(graphs):
    """What torch.compile makes of the same work."""
    plain = node_pairs.summed
    node_pairs.summed = torch.compile(plain, dynamic=True)
    for precision in ("tf32", "float32"):
        torch.backends.cuda.matmul.allow_tf32 = precision == "tf32"
        took = tiles_only(graphs, precision, False)[0]
        print(f"compiled torch {len(graphs.widths)} graphs {precision}: {took:.3f} s", flush=True)
    node_pairs.summed = plain
    torch.backends.cuda.matmul.allow_tf32 = False


def whole(graphs, precision, repeats=3):
    """Wall seconds from arrays in the machine's memory to the matrix on the card, and back in memory."""
    found = []
    for _ in range(repeats):
        torch.cuda.synchronize()
        start = time.perf_counter()
        gram = node_pairs.pair_gram(graphs, None, np.zeros(graphs.attributes.shape[1]), GAMMA, precision, CARD)
        torch.cuda.synchronize()
        there = time.perf_counter()
        gram.cpu()
        found.append((there - start, time.perf_counter() - start))
        del gram
    return np.median(found, axis=0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", type=int, default=8000)
    parser.add_argument("--large", type=int, default=0, help="also try this many graphs, in float32 and tf32")
    parser.add_argument("--sweep", action="store_true", help="try sizes of the fused kernel")
    parser.add_argument("--compiled", action="store_true", help="also time torch.compile on the same tiles")
    options = parser.parse_args()
    print(torch.cuda.get_device_name(), "torch", torch.__version__)
    check()
    found = peaks()
    print(
        "peaks:",
        ", ".join(f"{k} {v / 1e12:.1f} {'TB/s' if k == 'copy' else 'TFLOP/s'}" for k, v in found.items()),
        flush=True,
    )
    for weighted in (True, False):
        graphs = make_nodes(options.graphs, weighted=weighted)
        for precision, use in (
            ("tf32", True),
            ("float32", True),
            ("tf32", False),
            ("float32", False),
            ("float64", False),
        ):
            torch.backends.cuda.matmul.allow_tf32 = precision == "tf32"
            took, pairs, fill = tiles_only(graphs, precision, use)
            flops = 2 * pairs * N_ATTRIBUTES / took
            print(f"tiles {options.graphs} graphs weighted={weighted} {precision:8} fused={use!s:5}: {took:.3f} s, "
                  f"{flops / 1e12:.0f} TFLOP/s of distances, blocks {fill:.3f} of nodes", flush=True)  # fmt: skip
        torch.backends.cuda.matmul.allow_tf32 = False
        for precision in ("tf32", "float32", "float64"):
            there, back = whole(graphs, precision)
            what = f"whole {options.graphs} graphs weighted={weighted} {precision:8}"
            print(f"{what}: to the card {there:.3f} s, and back {back:.3f} s (wall)", flush=True)
    if options.sweep:
        sweep(make_nodes(options.graphs))
    if options.compiled:
        compiled(make_nodes(options.graphs))
    if options.large:
        graphs = make_nodes(options.large)
        for precision in ("tf32", "float32"):
            torch.cuda.reset_peak_memory_stats()
            start = time.perf_counter()
            gram = node_pairs.pair_gram(graphs, None, np.zeros(N_ATTRIBUTES), GAMMA, precision, CARD)
            torch.cuda.synchronize()
            took, most = time.perf_counter() - start, torch.cuda.max_memory_allocated() / 2**30
            print(f"large {options.large} graphs {precision}: {took:.2f} s wall, {most:.1f} GiB at most", flush=True)
            del gram


if __name__ == "__main__":
    main()
