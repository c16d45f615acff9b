import gzip
import json

import pytest

from cfmgml.data.overlap import shared_graph_groups
from cfmgml.datasets.dblp import load_dblp

PAPERS = [
    {"id": 1, "field": "DB", "venue": "vldb", "topics": ["query", "index"], "references": [2, 3],
     "title": "A", "abstract": "Query <i>plans</i> join. Index trees if a < b.", "links": [2]},
    {"id": 2, "field": "AI", "venue": "icml", "topics": ["learning"], "references": [],
     "title": "B", "abstract": "Kernel learning.", "links": []},
    {"id": 3, "field": "DB", "venue": "widm", "topics": [], "references": [],
     "title": "C", "abstract": "Index trees.", "links": []},
    {"id": 4, "field": "DB", "title": "D", "links": [2, 9]},
    {"id": 5, "field": "DB", "venue": "sigmod", "topics": ["query"], "references": [2],
     "title": "E", "abstract": "Kernel joins.", "links": []},
]  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    with gzip.open(tmp_path / "papers.jsonl.gz", "wt", encoding="utf-8") as lines:
        lines.writelines(json.dumps(paper) + "\n" for paper in PAPERS)
    return tmp_path


def test_papers_of_unknown_topic_are_left_out(folder):
    bags = load_dblp(folder, cache_dir=False)
    assert bags.bag_names.tolist() == ["1", "5"]
    assert bags.graph_names.tolist() == ["1", "2", "5", "2"]
    assert bags.label_sets() == [["index", "learning", "query"], ["learning", "query"]]
    assert bags.graph_Y.tolist() == [
        [True, False, True],
        [False, True, False],
        [False, False, True],
        [False, True, False],
    ]
    assert shared_graph_groups(bags).tolist() == [0, 0]
    assert bags.info["overlap"]["n_distinct_graphs"] == 3


def test_other_targets_take_every_abstract(folder):
    venues = load_dblp(folder, target="venue", min_references=2, cache_dir=False)
    assert venues.graph_names.tolist() == ["1", "2", "3"]
    assert venues.label_sets() == [["icml", "vldb"]]
    assert venues.graph_Y.sum(axis=1).tolist() == [1, 1, 0]
    assert load_dblp(folder, target="field", min_references=2, cache_dir=False).label_sets() == [["AI", "DB"]]
    assert load_dblp(folder, target=None, min_references=2, cache_dir=False).Y is None


def test_tags_are_no_words(folder):
    assert load_dblp(folder, cache_dir=False, pairs=False, recipe=2).graphs[0].node_names.tolist() == [
        "query",
        "plans",
        "join",
        "index",
        "trees",
    ]


def test_joined_bags_still_tell_their_overlap(folder):
    bags = load_dblp(folder, cache_dir=False, single_graph=True)
    assert bags.n_graphs == 2
    assert bags.info["overlap"]["n_shared_graphs"] == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"field": "XX"}, "field must be one of AI, DB, got 'XX'"),
        ({"target": "year"}, "target must be 'topics', 'venue', 'field' or"),
    ],
)
def test_what_cannot_be_had_is_said(folder, options, message):
    with pytest.raises(ValueError, match=message):
        load_dblp(folder, cache_dir=False, **options)


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.parametrize(
    ("field", "target", "min_references", "n_bags", "n_graphs"),
    [
        ("DB", "topics", 1, 786, 2318),
        ("CV", "topics", 1, 479, 1485),
        ("DM", "topics", 1, 495, 1604),
        ("AI", "topics", 1, 3, 7),
        ("DB", "field", 4, 1173, 8840),
        ("AI", "venue", 1, 466, 1376),
        ("CV", None, 1, 632, 2068),
    ],
)
def test_the_real_papers(data_folder, field, target, min_references, n_bags, n_graphs):
    bags = load_dblp(data_folder, field=field, target=target, min_references=min_references, cache_dir=False)
    assert (bags.n_bags, bags.n_graphs) == (n_bags, n_graphs)
    assert bags.n_labels == {"topics": 14, "venue": 8, "field": 4, None: 0}[target]
    assert bags.info["n_without_keywords"] == 0
    if target == "topics":
        assert bags.graph_Y.any(axis=1).all()
