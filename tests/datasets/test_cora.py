import gzip
import json

import pytest

from cfmgml.datasets.cora import load_cora_topics

PAPERS = [
    {
        "id": 1,
        "field": "AI",
        "label": "AI/Agents",
        "references": [2, 3],
        "terms": {"agents": 0.2, "the": 0.9, "mobile": 0.4},
    },
    {"id": 2, "field": "AI", "label": "AI/Vision", "references": [3, 4], "terms": {"mobile": 0.5, "vision": 0.1}},
    {"id": 3, "field": "DB", "label": "DB/Query", "references": [], "terms": {"query": 1.0, "++": 2.0}},
    {"id": 4, "field": "AI", "label": "AI/Agents", "references": [1], "terms": {"agents": 0.3, "mobile": 0.2}},
]


@pytest.fixture
def folder(tmp_path):
    with gzip.open(tmp_path / "papers.jsonl.gz", "wt", encoding="utf-8") as lines:
        lines.writelines(json.dumps(paper) + "\n" for paper in PAPERS)
    return tmp_path


def test_a_paper_and_its_references_are_a_bag(folder):
    bags = load_cora_topics(folder, min_references=2, cache_dir=False)
    assert bags.bag_names.tolist() == ["1", "2"]
    assert bags.graph_names.tolist() == ["1", "2", "3", "2", "3", "4"]
    assert bags.label_names.tolist() == ["AI/Agents", "AI/Vision", "DB/Query"]
    assert bags.graph_Y.argmax(axis=1).tolist() == [0, 1, 2, 1, 2, 0]
    assert bags.info["overlap"]["n_distinct_graphs"] == 4
    assert "not public" in bags.info["stand_in"]


def test_terms_are_nodes_and_sharing_titles_makes_edges(folder):
    graph = load_cora_topics(folder, min_references=2, cache_dir=False).graphs[0]
    assert graph.node_names.tolist() == ["mobile", "agents"]
    # mobile is in papers 1, 2 and 4, agents in 1 and 4: 2 * 2 / (3 + 2)
    assert graph.edge_weights.tolist() == pytest.approx([0.8, 0.8])


def test_only_frequent_topics_can_be_kept(folder):
    bags = load_cora_topics(folder, min_references=1, n_labels=1, cache_dir=False)
    assert bags.label_names.tolist() == ["AI/Agents"]
    assert bags.bag_names.tolist() == ["1", "2", "4"]
    assert bags.graph_Y[:, 0].tolist() == [True, False, False, False, False, True, True, True]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"field": "XX"}, "field must be one of AI, DB, got 'XX'"),
        ({"min_references": 9}, "no paper of AI has 9 references that can be used; ask for fewer"),
        ({"n_labels": 0}, "n_labels must be at least 1, or None for all, got 0"),
    ],
)
def test_what_cannot_be_had_is_said(folder, options, message):
    with pytest.raises(ValueError, match=message):
        load_cora_topics(folder, cache_dir=False, **options)


@pytest.mark.slow
@pytest.mark.data
def test_the_real_papers(data_folder):
    bags = load_cora_topics(data_folder, field="AI", min_references=4, cache_dir=False)
    assert (bags.n_bags, bags.n_graphs) == (1013, 7498)
    assert (bags.graph_Y.sum(axis=1) == 1).all()
    top = load_cora_topics(data_folder, n_labels=13, cache_dir=False)
    assert (top.n_bags, top.n_graphs, top.n_labels) == (957, 7143, 13)
    assert top.info["overlap"]["n_distinct_graphs"] == 2743
    assert top.Y.any(axis=1).all()
