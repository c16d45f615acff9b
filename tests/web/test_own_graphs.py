"""Graphs as JSON: the numbers of Python, what is refused and why, and the page for such a model."""

import json
import tracemalloc
from dataclasses import replace

import httpx
import numpy as np
import pytest

from answer_numbers import check_numbers
from cfmgml import BagDataset, CfMGML, GraphBatch, NodeSum, WeisfeilerLehman
from cfmgml.data.questions import Question
from cfmgml.web.answers import Analyst
from cfmgml.web.limits import Limits, Refused
from made_up import rings_and_chains
from page_actions import expect

ADDRESS = "/api/v1/models/graphs/graphs"
PATH = {"node_labels": ["C", "N", "C"], "edges": [[0, 1], [1, 2]]}


def test_the_same_numbers_as_python(graph_model, live):
    bags, sent = rings_and_chains(5, seed=1)
    for number, body in enumerate(sent):
        answer = httpx.post(f"{live}{ADDRESS}", json=body, timeout=120).raise_for_status().json()
        check_numbers(answer, graph_model, bags[number])
        assert answer["kind"] == "graphs"
        for part, graph in zip(answer["texts"], body["graphs"], strict=True):
            assert [part["text"][start:stop] for start, stop, _ in part["marks"]] == graph["node_labels"]
            assert [node for *_, node in part["marks"]] == list(range(*answer["graphs"][part["graph"]]["nodes"]))


def test_attributes_and_names(rng):
    """Nodes without labels are called by their numbers."""
    values = rng.normal(size=(12, 3))
    batch = GraphBatch(np.arange(0, 13, 2), np.arange(7), np.arange(12).reshape(-1, 2).T, node_attributes=values)
    bags = BagDataset(batch, np.arange(0, 7, 2), np.eye(3), label_names=list("abc"))
    model = CfMGML(NodeSum(), alpha=1e-3).fit(bags)
    graphs = [{"name": f"g{k}", "node_attributes": values[2 * k :][:2].tolist(), "edges": [[0, 1]]} for k in (2, 3)]
    answer = Analyst(model).answer("graphs", Question(json.dumps({"graphs": graphs}).encode()))
    check_numbers(answer, model, bags[1])
    assert [graph["name"] for graph in answer["graphs"]] == ["g2", "g3"]
    assert [part["text"] for part in answer["texts"]] == ["0 1", "0 1"]
    with pytest.raises(Refused, match="3 attributes, these have 1"):
        Analyst(model).answer("graphs", Question(as_body({"node_attributes": [[1.0], [2.0]]})))
    large = CfMGML(NodeSum("linear"), alpha=1e-3).fit(bags)
    answer = Analyst(large).answer("graphs", Question(as_body({"node_attributes": [[1e15, -1e15, 0]] * 2})))
    assert np.isfinite(answer["graphs"][0]["scores"]).all()


@pytest.mark.parametrize(
    ("start", "part", "stop", "status", "reason"),
    [
        ('{"graphs": [', "1,", "1]}", 422, "graphs.0: Input should be a valid dictionary"),
        ('{"graphs": [', "{},", "{}]}", 413, "at least 401 graphs; 400 are the most"),
        ('{"graphs": [', "[],", "[]]}", 422, "graphs.0: Input should be a valid dictionary"),
        ('{"graphs": [{"x": [', "[[]],", "[]]}]}", 422, "graphs.0.x: Extra inputs"),
        ('{"graphs": [{"node_labels": [', "{},", "0]}]}", 413, "at least 401 graphs"),
        ('{"graphs": [{"node_labels": [', "0,", "0]}]}", 413, "nodes; 2,000 are the most"),
        ('{"graphs": [{"edges": [', "[0,0],", "[0,0]]}]}", 413, "edges; 20,000 are the most"),
        ('{"graphs": [{"node_attributes": [["",', '"",', "0]]}]}", 422, "graphs.0.node_attributes.0.0: .* number"),
        ('{"a": 0, ', '"a": 0,', '"a": 0}', 422, "members; 16 are the most"),
        ("", "[", "", 422, "nested too deep"),
        ('{"graphs": ', "1", "}", 422, "a number is too long"),
    ],
)
def test_much_rubbish_is_refused_while_it_is_read(graph_model, start, part, stop, status, reason):
    """Limits count while parsing, and memory is a small multiple of what was sent (a report of all faults: 600)."""
    body = (start + part * (300_000 // len(part)) + stop).encode()
    tracemalloc.start()
    try:
        with pytest.raises(Refused, match=reason) as caught:
            Analyst(graph_model, Limits(nodes=2000, edges=20_000)).answer("graphs", Question(body))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert caught.value.status == status
    assert peak < 60 * len(body)


def test_edge_labels_as_in_python():
    bags, sent = rings_and_chains(12, seed=2)
    codes = {True: "double", False: "single"}
    for body in sent:
        for graph in body["graphs"]:
            graph["edge_labels"] = [codes[(a + b) % 3 == 0] for a, b in graph["edges"]]
    own = bags.graphs.edges - bags.graphs.node_ptr[np.repeat(np.arange(bags.n_graphs), np.diff(bags.graphs.edge_ptr))]
    graphs = replace(bags.graphs, edge_labels=np.array([codes[k] for k in (own.sum(axis=0) % 3 == 0).tolist()]))
    bags = replace(bags, graphs=graphs)
    model = CfMGML(WeisfeilerLehman(2, edge_labels=True), alpha=1e-3).fit(bags)
    for number, body in enumerate(sent[:3]):
        check_numbers(Analyst(model).answer("graphs", Question(json.dumps(body).encode())), model, bags[number])
    dots = {"node_labels": ["C"], "edge_labels": []}
    assert Analyst(model).answer("graphs", Question(as_body(dots)))["graphs"]
    with pytest.raises(Refused, match="not what the model compares: .*have no edge_labels"):
        Analyst(model).answer("graphs", Question(as_body(PATH)))
    crossed = {**PATH, "edges": [[0, 1], [1, 0]], "edge_labels": ["single", "double"]}
    with pytest.raises(Refused, match="other labels in one direction than in the other"):
        Analyst(model).answer("graphs", Question(as_body(crossed)))


def as_body(*graphs):
    return json.dumps({"graphs": graphs}).encode()


@pytest.mark.parametrize(
    ("body", "status", "reason"),
    [
        (b"no json", 422, "Invalid JSON"),
        (b"[" * 100_000, 422, "recursion limit|Invalid JSON"),
        (b'{"graphs": []}', 422, "at least 1"),
        (b'{"graphs": [{"nodes": 3}]}', 422, "graphs.0.nodes: Extra inputs are not permitted"),
        (as_body({}), 422, "Graph 1 must have node_labels or node_attributes"),
        (as_body({"node_labels": []}), 422, "Graph 1 must have node_labels or node_attributes"),
        (as_body(PATH, {**PATH, "edges": [[0, 3]]}), 422, "Graph 2 has an edge to a node that is not there: .* 0 to 2"),
        (as_body({**PATH, "edges": [[0, -1]]}), 422, "greater than or equal to 0"),
        (as_body({**PATH, "edges": [[0, 1, 2]]}), 422, "at most 2 items"),
        (as_body({**PATH, "node_labels": ["C", 1, "C"]}), 422, "numbers and strings among its node_labels"),
        (as_body({**PATH, "node_labels": ["C" * 201, "C", "C"]}), 422, "at most 200 characters"),
        (as_body({**PATH, "node_labels": [2**63, 1, 2]}), 422, "less than or equal to"),
        (as_body(PATH, {"node_labels": [1, 2]}), 422, "of one kind, numbers or strings"),
        (as_body({**PATH, "node_attributes": [[1.0]]}), 422, "3 node_labels and 1 node_attributes"),
        (as_body({"node_attributes": [[1.0], [1.0, 2.0]]}), 422, "same number of attributes, got .1, 2."),
        (as_body({"node_attributes": [[1.0]]}), 422, "not what the model compares: .* node_labels"),
        (b'{"graphs": [{"node_attributes": [[NaN]]}]}', 422, "finite number"),
        (as_body({"node_attributes": [[1e16]]}), 422, "less than or equal to 1000000000000000"),
        (b'{"graphs": [{"node_labels": ["\\ud800"]}]}', 422, "Invalid JSON"),
        (as_body({**PATH, "edge_labels": [1]}), 422, "2 edges and 1 edge_labels"),
        (as_body({**PATH, "edge_labels": [1, "a"]}), 422, "numbers and strings among its edge_labels"),
        (as_body(PATH, {**PATH, "edge_labels": [1, 2]}), 422, "All graphs must have edge_labels of one kind"),
        (as_body({**PATH, "edge_labels": [1] * 8}), 413, "8 edges; 7 are the most"),
        (as_body(*[{"node_labels": [1]}] * 6), 413, "6 graphs; 5 are the most"),
        (as_body({"node_labels": [1] * 21}), 413, "21 nodes; 20 are the most"),
        (as_body({**PATH, "edges": [[0, 1]] * 8}), 413, "8 edges; 7 are the most"),
    ],
)
def test_what_is_refused(graph_model, body, status, reason):
    with pytest.raises(Refused, match=reason) as caught:
        Analyst(graph_model, Limits(texts=5, nodes=20, edges=7)).answer("graphs", Question(body))
    assert caught.value.status == status


def test_the_wrong_kind_of_model(graph_model, text_model, photo_file):
    with pytest.raises(Refused, match="reads texts, not graphs"):
        Analyst(text_model).answer("graphs", Question(as_body(PATH)))
    with pytest.raises(Refused, match="reads graphs, not images"):
        Analyst(graph_model).answer("image", Question(photo_file))
    with pytest.raises(Refused, match="reads graphs, not texts"):
        Analyst(graph_model).answer("text", Question("Cells."))


@pytest.mark.slow
def test_the_page(open_page):
    page = open_page()
    page.get_by_role("radio", name="Graphs").check()
    box, alert = page.get_by_label("Graphs, as JSON"), page.get_by_role("alert")
    expect(page.locator("#graphs-hint")).to_contain_text(f"POST {ADDRESS}")
    box.fill("not json")
    page.get_by_role("button", name="Read it").click()
    alert.get_by_text("Invalid JSON").wait_for()
    box.fill(json.dumps(rings_and_chains(1)[1][0]))
    page.get_by_role("button", name="Read it").click()
    expect(page.locator("#status")).to_contain_text("graph")
    page.locator("#labels button").first.click()
    expect(page.locator("#status")).to_contain_text("Showing what speaks for")
    assert page.locator("#reading mark.for, #reading mark.against").count() >= 4
    assert page.locator("#graphs .decides").count() == 1
    assert alert.is_hidden()
