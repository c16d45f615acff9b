"""What every kernel must keep, a function a rule.

A rule is given a kernel of its own, not resolved, and graphs. Values of exact arithmetic may differ by 1e-9.
"""

import copy
from dataclasses import replace

import numpy as np
from sklearn.base import clone

from cfmgml.checks.made import shuffle_nodes
from cfmgml.checks.verdict import demand, demand_close, demand_error, named_rules
from cfmgml.common.segments import offsets, segment_ids, segment_sum
from cfmgml.common.typing import FloatArray
from cfmgml.data.graphs import GraphBatch
from cfmgml.kernels.base import Kernel, dense
from cfmgml.kernels.files import kernel_from_state, kernel_state
from cfmgml.kernels.gram import gram_matrix


def _raw(kernel: Kernel, graphs: GraphBatch) -> FloatArray:
    return gram_matrix(kernel, graphs, normalize=False)


def symmetric(kernel: Kernel, graphs: GraphBatch) -> None:
    """K is symmetric."""
    K = kernel.block(graphs, graphs)  # gram_matrix computes one half and mirrors it
    demand_close(K, K.T, "K", "as its mirror image")


def positive_semidefinite(kernel: Kernel, graphs: GraphBatch) -> None:
    """K, normalised, has no negative eigenvalue."""
    smallest = np.linalg.eigvalsh(gram_matrix(kernel, graphs)).min()
    demand(smallest > -1e-9, f"the smallest eigenvalue is {smallest:.6g}.")


def unit_diagonal(kernel: Kernel, graphs: GraphBatch) -> None:
    """K, normalised, is finite, 1 on the diagonal (0 for a graph of zero norm), and nowhere above 1."""
    K = gram_matrix(kernel, graphs)
    demand(np.isfinite(K).all(), f"{(~np.isfinite(K)).sum()} of {K.size} values are not finite.")
    norms = np.diagonal(K)
    demand_close(norms, norms > 0, "the diagonal", "where it is not 0")
    demand(norms.any(), "every graph has zero norm, so the kernel tells nothing.")
    demand(np.abs(K).max() <= 1 + 1e-9, f"a value is {np.abs(K).max():.6g}.")


def selection(kernel: Kernel, graphs: GraphBatch) -> None:
    """The values of selected graphs are the selected values."""
    kernel = kernel.resolve(graphs)
    # what an approximation misses of a graph it has in common with itself and not with its copy
    index = np.array([3, 0, 7] if kernel.has_residue else [3, 0, 3, 7])
    expected = _raw(kernel, graphs)[np.ix_(index, index)]
    demand_close(_raw(kernel, graphs[index]), expected, "K of graphs 3, 0 and 7", "as among all graphs")


def rectangle_of_the_square(kernel: Kernel, graphs: GraphBatch) -> None:
    """The values of two batches are those of both together."""
    kernel = kernel.resolve(graphs)
    found, expected = gram_matrix(kernel, graphs[:5], graphs[5:]), gram_matrix(kernel, graphs)[:5, 5:]
    demand_close(found, expected, "K of the first five graphs and the others", "as among all graphs")


def node_order(kernel: Kernel, graphs: GraphBatch) -> None:
    """The order of a graph's nodes does not matter."""
    kernel = kernel.resolve(graphs)
    shuffled = shuffle_nodes(graphs, np.random.default_rng(0))
    demand_close(gram_matrix(kernel, shuffled), gram_matrix(kernel, graphs), "K", "as before nodes were shuffled")


def simple_graph(kernel: Kernel, graphs: GraphBatch) -> None:
    """Direction, parallel edges and self-loops do not matter, unless the kernel looks at edges' labels."""
    if not kernel.ignores_edge_labels:
        return
    first = graphs.node_ptr[:-1]
    loops = np.stack([first, first])
    graph_of = np.concatenate([*2 * [segment_ids(graphs.edge_ptr)], np.arange(graphs.n_graphs)])
    order = np.argsort(graph_of, kind="stable")
    edges = np.concatenate([graphs.edges[::-1], graphs.edges, loops], axis=1)[:, order]
    counts = np.bincount(graph_of, minlength=graphs.n_graphs)
    more = replace(graphs, edges=edges, edge_ptr=offsets(counts), edge_weights=None, edge_labels=None)
    kernel = kernel.resolve(graphs)
    demand_close(_raw(kernel, more), _raw(kernel, graphs), "K", "as without reversed, parallel and looping edges")


def edge_labels(kernel: Kernel, graphs: GraphBatch) -> None:
    """A kernel that says it ignores edges' labels has the same values without them."""
    if kernel.ignores_edge_labels:
        kernel = kernel.resolve(graphs)
        bare = replace(graphs, edge_labels=None)
        demand_close(_raw(kernel, bare), _raw(kernel, graphs), "K without edge_labels", "as with them", atol=0)


def without_edges(kernel: Kernel, graphs: GraphBatch) -> None:
    """Graphs without edges, and a single graph, have finite values too."""
    labels = None if graphs.edge_labels is None else graphs.edge_labels[:0]
    edges, edge_ptr = graphs.edges[:, :0], np.zeros_like(graphs.edge_ptr)
    bare = replace(graphs, edges=edges, edge_ptr=edge_ptr, edge_labels=labels, edge_weights=None)
    for batch, what in ((bare, "graphs without edges"), (graphs[:1], "a single graph")):
        demand(np.isfinite(gram_matrix(clone(kernel), batch)).all(), f"K of {what} is not finite.")


def float32(kernel: Kernel, graphs: GraphBatch) -> None:
    """In float32 the values are float32, and differ by at most 1e-5."""
    kernel = kernel.resolve(graphs)
    found = gram_matrix(kernel, graphs, dtype="float32")
    demand(found.dtype == np.float32, f"K has dtype {found.dtype}.")
    demand_close(found, gram_matrix(kernel, graphs), "K in float32", "as in float64", atol=1e-5)


def tile_size(kernel: Kernel, graphs: GraphBatch) -> None:
    """However tiles are cut and shared among threads, the values are the same."""
    kernel = kernel.resolve(graphs)
    expected = gram_matrix(kernel, graphs)
    kernel.tile_size = 7
    for n_jobs in (None, 2):
        found = gram_matrix(kernel, graphs, n_jobs=n_jobs)
        demand_close(found, expected, f"K in small tiles, n_jobs={n_jobs},", "as in one", atol=1e-12)


def diagonal(kernel: Kernel, graphs: GraphBatch) -> None:
    """``diagonal`` gives K(g, g)."""
    kernel = kernel.resolve(graphs)
    demand_close(kernel.diagonal(graphs), np.diagonal(_raw(kernel, graphs)), "diagonal", "as in K", atol=0)


def features(kernel: Kernel, graphs: GraphBatch) -> None:
    """``features`` gives rows whose products are the kernel, if it is explicit; else a TypeError."""
    kernel = kernel.resolve(graphs)
    if not kernel.is_explicit:
        demand_error(
            lambda: kernel.features(graphs), TypeError, "features of a kernel that is not explicit", "explicit"
        )
        return
    rows = dense(kernel.features(graphs))
    demand_close(rows @ rows.T, kernel.block(graphs, graphs), "the products of features", "as in K")
    weights = np.random.default_rng(0).normal(size=(rows.shape[1], 3))
    summed = segment_sum(kernel.node_scores(graphs, weights), graphs.node_ptr)
    demand_close(summed, rows @ weights, "node_scores summed over a graph's nodes", "as features @ weights")


def features_of_unseen_graphs(kernel: Kernel, graphs: GraphBatch) -> None:
    """Columns of ``features`` are those known when resolved; what new graphs have beside them is in ``diagonal``."""
    half = graphs.n_graphs // 2
    known, new = graphs[:half], graphs[half:]
    kernel = kernel.resolve(known)
    if not kernel.is_explicit:
        return
    found = dense(kernel.features(new)) @ dense(kernel.features(known)).T
    demand_close(found, kernel.block(new, known), "the products of features of new and known graphs", "as in K")
    norms, inside = kernel.diagonal(new), np.diagonal(kernel.block(new, new))
    if kernel.has_residue:
        demand((norms >= inside - 1e-9).all(), "diagonal is below K(g, g) for a kernel that has a residue.")
    else:
        demand_close(norms, inside, "diagonal of new graphs", "as in K")


def nodes_add_up(kernel: Kernel, graphs: GraphBatch) -> None:
    """``node_block`` adds up to the kernel over each graph's nodes, if it is additive; else a TypeError."""
    kernel = kernel.resolve(graphs)
    some = graphs[:7]
    if not kernel.is_additive:
        demand_error(lambda: kernel.node_block(some, graphs), TypeError, "node_block of a kernel that is not additive")
        return
    summed = segment_sum(kernel.node_block(some, graphs), some.node_ptr)
    demand_close(summed, kernel.block(some, graphs), "node_block summed over a graph's nodes", "as in K")


def resolved_by_the_first_batch(kernel: Kernel, graphs: GraphBatch) -> None:
    """A kernel that is not resolved compares two batches as one resolved on the first does."""
    a, b = graphs[:6], graphs[6:]
    demand_close(kernel.block(a, b), kernel.resolve(a).block(a, b), "K of an unresolved kernel", "as of a resolved one")


def parameters(kernel: Kernel, graphs: GraphBatch) -> None:
    """``resolve`` settles a copy; ``clone`` keeps the parameters and forgets what was settled."""
    before = copy.deepcopy(vars(kernel))
    resolved = kernel.resolve(graphs)
    demand(resolved is not kernel and not kernel.is_resolved, "resolve changed the kernel itself.")
    demand(vars(kernel).keys() == before.keys(), f"resolve left {sorted(vars(kernel).keys() - before.keys())} behind.")
    demand(resolved.is_resolved, "what resolve returned says that it is not resolved.")
    again = clone(resolved)
    demand(not again.is_resolved, "a clone of a resolved kernel is resolved.")
    settled = sorted(name for name in vars(again) if name.endswith("_"))
    demand(not settled, f"a clone remembers {settled}.")
    demand(repr(again) == repr(kernel), f"a clone is {again!r}.")


def kept_in_files(kernel: Kernel, graphs: GraphBatch) -> None:
    """What a model's file says of the kernel makes the same kernel again; one that files may not name is refused."""
    kernel = kernel.resolve(graphs)
    try:
        state = kernel_state(kernel)
    except TypeError as error:
        demand("cannot be saved" in str(error), f"saving it raised {error!r}, which does not say that it cannot be.")
        return
    again = kernel_from_state(*state)
    demand_close(again.block(graphs[:3], graphs), kernel.block(graphs[:3], graphs), "K once read", "as written", atol=0)


def refuses_what_is_no_batch(kernel: Kernel, graphs: GraphBatch) -> None:
    """A list instead of a GraphBatch is a TypeError that says so, and no graph at all a ValueError."""
    some_list: list[int] = [1, 2, 3]
    demand_error(lambda: kernel.resolve(some_list), TypeError, "resolving on a list", "GraphBatch")  # type: ignore[arg-type]
    demand_error(lambda: kernel.resolve(graphs[:0]), ValueError, "resolving on no graph")


KERNEL_RULES = named_rules(
    (
        symmetric, positive_semidefinite, unit_diagonal, selection, rectangle_of_the_square, node_order, simple_graph,
        edge_labels, without_edges, float32, tile_size, diagonal, features, features_of_unseen_graphs, nodes_add_up,
        resolved_by_the_first_batch, parameters, kept_in_files, refuses_what_is_no_batch,
    )
)  # fmt: skip
