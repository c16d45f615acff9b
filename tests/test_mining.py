"""The gSpan miner against exhaustive enumeration, and what is done with its patterns."""

import itertools
import json
from collections import defaultdict
from functools import cache

import networkx as nx
import numpy as np
import pytest

from cfmgml import GraphBatch
from cfmgml.mining import SubgraphPatterns, label_entropy, mine_subgraphs
from cfmgml.mining._loops import is_least_code
from examples import random_graphs


@cache
def canonical(labels, edges):
    """The same for isomorphic labelled graphs only: the least form over all orders of nodes that sort the labels."""
    classes = defaultdict(list)
    for node, label in enumerate(labels):
        classes[label].append(node)
    forms = []
    for orders in itertools.product(*(itertools.permutations(classes[label]) for label in sorted(classes))):
        place = {node: k for k, node in enumerate(itertools.chain(*orders))}
        forms.append(tuple(sorted(tuple(sorted((place[i], place[j]))) for i, j in edges)))
    return tuple(sorted(labels)), min(forms)


def connected_subgraphs(labels, edges):
    """Canonical forms of every connected subgraph, by trying every set of edges."""
    found = {((label,), ()) for label in labels}
    for size in range(1, len(edges) + 1):
        for chosen in itertools.combinations(edges, size):
            nodes = sorted({node for edge in chosen for node in edge})
            graph = nx.Graph(chosen)
            if nx.is_connected(graph):
                place = {node: k for k, node in enumerate(nodes)}
                found.add(canonical(tuple(labels[n] for n in nodes), tuple((place[i], place[j]) for i, j in chosen)))
    return found


def enumerate_all(graphs):
    """Canonical form -> the graphs that contain it."""
    where = defaultdict(set)
    for k, graph in enumerate(graphs):
        edges = sorted({tuple(sorted(edge)) for edge in graph.edges.T.tolist() if edge[0] != edge[1]})
        for form in connected_subgraphs(graph.node_labels.tolist(), edges):
            where[form].add(k)
    return where


def mined_forms(found):
    forms = {}
    for k in range(len(found)):
        one = found.graphs[k]
        form = canonical(tuple(one.node_labels.tolist()), tuple(map(tuple, one.edges.T.tolist())))
        assert form not in forms, f"pattern {k} was found twice"
        forms[form] = set(found.occurrences[found.occurrence_ptr[k] : found.occurrence_ptr[k + 1]].tolist())
    return forms


def small_graphs(n_graphs, seed, n_labels=2, n_nodes=6, n_edges=8):
    """Random labelled graphs of up to ``n_nodes`` nodes and ``n_edges`` edges, some disconnected."""
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(n_graphs):
        n = int(rng.integers(1, n_nodes + 1))
        pairs = list(itertools.combinations(range(n), 2))
        rng.shuffle(pairs)
        graph = nx.Graph(pairs[: rng.integers(0, n_edges + 1)])
        graph.add_nodes_from(range(n))
        nx.set_node_attributes(graph, {node: int(rng.integers(n_labels)) * 5 - 3 for node in graph}, "label")
        made.append(graph)
    return GraphBatch.from_networkx(made, "label")


@pytest.mark.parametrize("min_support", [1, 3])
@pytest.mark.parametrize("n_labels", [1, 2, 4])
@pytest.mark.parametrize("seed", range(6))
def test_equal_to_exhaustive_enumeration(seed, n_labels, min_support):
    """Patterns and the graphs they are in, on 36 x 12 random graphs; one label gives the most symmetric ones."""
    graphs = small_graphs(12, seed=100 * seed + n_labels, n_labels=n_labels, n_edges=7)
    expected = {form: where for form, where in enumerate_all(graphs).items() if len(where) >= min_support}
    found = mine_subgraphs(graphs, min_support)
    assert found.complete
    assert mined_forms(found) == expected


def test_dense_graphs_of_one_label():
    """Complete graphs: every connected graph of up to 5 nodes is in K5, 1 + 1 + 2 + 6 + 21 of them."""
    graphs = GraphBatch.from_networkx([nx.complete_graph(5)])
    graphs = GraphBatch(graphs.node_ptr, graphs.edge_ptr, graphs.edges, node_labels=np.zeros(5, dtype=int))
    assert len(mine_subgraphs(graphs, 1)) == 31


@pytest.mark.parametrize(("limit", "of"), [({"max_edges": 3}, 1), ({"max_nodes": 3}, 0), ({"min_nodes": 3}, 0)])
def test_sizes_are_bounded(limit, of):
    graphs = small_graphs(15, seed=1, n_edges=7)
    name, value = next(iter(limit.items()))

    def fits(form):
        size = len(form[of])
        return size >= value if name == "min_nodes" else size <= value

    expected = {form: where for form, where in enumerate_all(graphs).items() if len(where) >= 2 and fits(form)}
    assert mined_forms(mine_subgraphs(graphs, 2, **limit)) == expected


def test_support_as_a_share():
    graphs = small_graphs(12, seed=2)
    np.testing.assert_array_equal(mine_subgraphs(graphs, 0.25).supports, mine_subgraphs(graphs, 3).supports)


def test_direction_parallel_edges_and_self_loops_do_not_matter():
    plain = GraphBatch([0, 3], [0, 2], [[0, 1], [1, 2]], node_labels=[1, 2, 1])
    messy = GraphBatch([0, 3], [0, 5], [[1, 0, 1, 2, 2], [0, 1, 2, 1, 2]], node_labels=[1, 2, 1])
    assert mined_forms(mine_subgraphs(plain, 1)) == mined_forms(mine_subgraphs(messy, 1))


def test_order_of_graphs_does_not_matter():
    graphs = random_graphs(30, seed=4)
    order = np.random.default_rng(0).permutation(30)
    straight, shuffled = mine_subgraphs(graphs, 5), mine_subgraphs(graphs[order], 5)
    assert [straight.code(k) for k in range(len(straight))] == [shuffled.code(k) for k in range(len(shuffled))]
    np.testing.assert_array_equal(straight.mined_matrix().toarray()[order], shuffled.mined_matrix().toarray())


def test_least_codes_are_the_least_of_all_searches():
    """Of all DFS codes of a graph exactly one passes, and it is the least in the order of the paper."""
    for seed in range(20):
        graph = small_graphs(1, seed=seed, n_nodes=5, n_edges=6)
        edges = [tuple(edge) for edge in graph.edges.T.tolist() if edge[0] < edge[1]]
        if not edges or not nx.is_connected(nx.Graph(edges)):
            continue
        codes = all_codes(graph.node_labels.tolist(), edges)
        passing = [code for code in codes if passes(code)]
        assert len(passing) == 1
        assert passing[0] == min(codes, key=sort_key)


def all_codes(labels, edges):
    """Every DFS code: from each node, every order of visiting neighbours, back edges as soon as they are due."""
    around = defaultdict(set)
    for i, j in edges:
        around[i].add(j)
        around[j].add(i)
    done = set()

    def go(order, path, used, code):
        last = path[-1]
        back = [n for n in path[:-1] if n in around[last] and frozenset((n, last)) not in used]
        if back:
            n = min(back, key=order.index)
            step = (order.index(last), order.index(n), labels[last], labels[n])
            go(order, path, used | {frozenset((n, last))}, (*code, step))
            return
        if len(used) == len(edges):
            done.add(code)
            return
        for depth in range(len(path) - 1, -1, -1):
            fresh = [n for n in around[path[depth]] if n not in order]
            for n in fresh:
                step = (order.index(path[depth]), len(order), labels[path[depth]], labels[n])
                go([*order, n], [*path[: depth + 1], n], used | {frozenset((path[depth], n))}, (*code, step))
            if fresh:
                return  # a search leaves a node only when nothing new is next to it

    for root in around:
        go([root], [root], frozenset(), ())
    return done


def sort_key(code):
    return [(0, j, 0, 0) if j < i else (1, -i, a, b) if i else (1, 0, a, b) for i, j, a, b in code]


def passes(code):
    values = sorted({label for step in code for label in step[2:]})
    labels = {}
    for i, j, a, b in code:
        labels[i], labels[j] = values.index(a), values.index(b)
    source, target = (np.array(ends) for ends in list(zip(*code, strict=True))[:2])
    return is_least_code(source, target, np.array([labels[k] for k in range(len(labels))]))


# -- guards ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("limit", "reason"),
    [({"max_seconds": 0.0}, "time"), ({"max_gib": 1e-5}, "memory"), ({"max_patterns": 7}, "patterns")],
)
def test_a_limit_ends_the_search_with_what_was_found(limit, reason):
    graphs = random_graphs(40, seed=4)
    with pytest.warns(UserWarning, match=f"ended by its limit on {reason} with"):
        found = mine_subgraphs(graphs, 3, **limit)
    assert found.stopped_by == reason
    assert not found.complete
    assert "there are more" in repr(found)
    everything = mine_subgraphs(graphs, 3)
    assert everything.complete
    assert len(found) < len(everything)
    known = mined_forms(everything)
    assert all(known[form] == where for form, where in mined_forms(found).items())


def test_exploding_embeddings_end_the_search():
    """A star of 60 equal leaves has 60!/(60 - k)! embeddings of k edges: memory is guarded before they are made."""
    star = nx.star_graph(60)
    nx.set_node_attributes(star, 1, "label")
    graphs = GraphBatch.from_networkx([star, star], "label")
    with pytest.warns(UserWarning, match="limit on memory"):
        found = mine_subgraphs(graphs, 2, max_gib=0.02)
    assert len(found) >= 3


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"min_support": 0}, "min_support must be"),
        ({"max_edges": -1}, "max_edges must not be negative"),
        ({"max_gib": 0}, "max_gib must be above 0"),
    ],
)
def test_bad_parameters(params, message):
    with pytest.raises(ValueError, match=message):
        mine_subgraphs(random_graphs(3), **params)


def test_graphs_without_labels_are_refused():
    with pytest.raises(ValueError, match="no node_labels"):
        mine_subgraphs(GraphBatch([0, 1], [0, 0], [[], []]))
    with pytest.raises(TypeError, match="GraphBatch"):
        mine_subgraphs([1, 2])


def test_nothing_frequent():
    found = mine_subgraphs(random_graphs(3), 100)
    assert len(found) == 0
    assert found.contained_in(random_graphs(2)).shape == (2, 0)


# -- what is done with patterns --------------------------------------------------------------


def test_containment_equals_mining_on_the_mined_graphs():
    graphs = random_graphs(40, seed=9)
    found = mine_subgraphs(graphs, 3)
    assert found.supports.max() > 20
    np.testing.assert_array_equal(found.contained_in(graphs), found.mined_matrix().toarray())


def test_containment_in_new_graphs_equals_networkx():
    found, new = mine_subgraphs(random_graphs(30, seed=9), 4), random_graphs(20, seed=10)
    got = found.contained_in(new)
    same = nx.isomorphism.categorical_node_match("label", None)
    for g, graph in enumerate(new.to_networkx()):
        for k, pattern in enumerate(found.graphs.to_networkx()):
            matcher = nx.isomorphism.GraphMatcher(graph, pattern, node_match=same)
            assert got[g, k] == matcher.subgraph_is_monomorphic()


def test_selection_keeps_occurrences():
    found = mine_subgraphs(random_graphs(20, seed=3), 3)
    index = np.array([5, 0, 5])
    np.testing.assert_array_equal(found[index].mined_matrix().toarray(), found.mined_matrix().toarray()[:, index])
    assert found[index].code(0) == found.code(5)


def test_entropy_equals_the_formula(rng):
    contained, Y, bag = rng.random((12, 6)) < 0.4, rng.random((5, 3)) < 0.5, np.repeat(np.arange(5), [2, 3, 1, 4, 2])
    contained[:, 5] = False
    got = label_entropy(contained, bag, Y)
    for k in range(6):
        bags = sorted(set(bag[contained[:, k]].tolist()))
        terms = []
        for c in range(3):
            p = np.mean([Y[b, c] for b in bags]) if bags else 0.5
            terms.append(-sum(q * np.log2(q) for q in (p, 1 - p) if q > 0))
        assert got[k] == pytest.approx(np.mean(terms))


def test_patterns_can_be_written_and_compared(tmp_path):
    found = mine_subgraphs(random_graphs(20, seed=3), 3)
    entropies = np.linspace(0, 1, len(found))
    found.save(tmp_path / "patterns.jsonl", entropies)
    rows = [json.loads(line) for line in (tmp_path / "patterns.jsonl").read_text().splitlines()]
    assert rows[0] == {"n_mined": 20, "stopped_by": None}
    assert [row["support"] for row in rows[1:]] == found.supports.tolist()
    assert [row["entropy"] for row in rows[1:]] == entropies.tolist()
    again = SubgraphPatterns.load(tmp_path / "patterns.jsonl")
    assert mined_forms(again) == mined_forms(found)
    found.save(tmp_path / "patterns.csv")
    table = (tmp_path / "patterns.csv").read_text().splitlines()
    assert table[0] == "n_nodes,n_edges,labels,edges,support"
    assert len(table) == len(found) + 1


def test_files_that_are_not_patterns_are_refused(tmp_path):
    found = mine_subgraphs(random_graphs(5), 3)
    with pytest.raises(ValueError, match=r"\.jsonl or \.csv"):
        found.save(tmp_path / "patterns.txt")
    with pytest.raises(ValueError, match="one a pattern"):
        found.save(tmp_path / "patterns.csv", np.zeros(1 + len(found)))
    (tmp_path / "bad.jsonl").write_text("{}\n")
    with pytest.raises(ValueError, match="does not hold patterns"):
        SubgraphPatterns.load(tmp_path / "bad.jsonl")


def test_progress_is_shown_on_stderr_only(capsys):
    mine_subgraphs(random_graphs(10), 3, verbose=True)
    assert capsys.readouterr().out == ""
