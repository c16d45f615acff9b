import gzip
import json
from dataclasses import fields

import numpy as np
import pytest

from cfmgml.builders.texts.texts import bags_from_texts
from cfmgml.datasets.hallmarks import load_hallmarks, load_hallmarks_texts

SENTENCES = [
    {"bag": "7", "sent": 1, "text": "Cells divide without end .", "labels": ["immortality"], "labels_full": []},
    {"bag": "7", "sent": 0, "text": "TNF-\\u03b1 induces death of cells .", "labels": ["death", "immortality"]},
    {"bag": "9", "sent": 0, "text": "Mice were fed .", "labels": []},
    {"bag": "3", "sent": 0, "text": "Cells die .", "labels": ["death"]},
]


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "data" / "hoc_sentences"
    place.mkdir(parents=True)
    with gzip.open(place / "sentences.jsonl.gz", "wt", encoding="utf-8") as lines:
        lines.writelines(json.dumps(sentence) + "\n" for sentence in SENTENCES)
    return place


def test_abstracts_are_bags_and_sentences_graphs(folder):
    bags = load_hallmarks(folder, cache_dir=False)
    assert bags.bag_names.tolist() == ["7", "3"]
    assert bags.graph_names.tolist() == ["7:0", "7:1", "3:0"]
    assert bags.label_names.tolist() == ["death", "immortality"]
    assert bags.graph_Y.tolist() == [[True, True], [False, True], [True, False]]
    assert bags.label_sets() == [["death", "immortality"], ["death"]]
    assert bags.info["builder"] == "texts"
    assert all(bags.info[name] for name in ("description", "source", "licence", "parameters"))


def test_unlabelled_abstracts_can_stay(folder):
    bags = load_hallmarks(folder.parent, labelled_only=False, cache_dir=False)
    assert bags.bag_names.tolist() == ["7", "9", "3"]
    assert bags.Y[1].tolist() == [False, False]


def test_letters_spelt_out_are_read(folder):
    assert load_hallmarks_texts(folder)["7:0"] == "TNF-α induces death of cells ."
    assert "α" in load_hallmarks(folder, cache_dir=False).graphs[0].node_names.tolist()


def test_options_reach_the_builder(folder):
    bags = load_hallmarks(folder, cache_dir=False, single_graph=True, max_keywords=1)
    assert bags.n_graphs == bags.n_bags == 2
    assert bags.info["parameters"]["max_keywords"] == 1


def test_the_second_time_comes_from_the_cache(folder, tmp_path):
    first = load_hallmarks(folder, cache_dir=tmp_path / "cache")
    (file,) = (tmp_path / "cache").iterdir()
    written = file.stat().st_mtime_ns
    second = load_hallmarks(folder, cache_dir=tmp_path / "cache")
    assert file.stat().st_mtime_ns == written
    assert second.info == first.info
    for field in fields(first.graphs):
        np.testing.assert_array_equal(getattr(first.graphs, field.name), getattr(second.graphs, field.name))
    load_hallmarks(folder, cache_dir=tmp_path / "cache", window=1, stop_words="english", n_jobs=2)  # the defaults
    assert len(list((tmp_path / "cache").iterdir())) == 1
    load_hallmarks(folder, cache_dir=tmp_path / "cache", case=True, stop_words={"die", "mice"})
    assert len(list((tmp_path / "cache").iterdir())) == 2
    assert load_hallmarks(folder, cache_dir=tmp_path / "cache", text=False).graph_texts is None
    assert len(list((tmp_path / "cache").iterdir())) == 3


def test_unknown_options_are_refused(folder):
    with pytest.raises(TypeError, match="unknown option 'windows'; options are single_graph, max_keywords, window"):
        load_hallmarks(folder, cache_dir=False, windows=3)


@pytest.mark.parametrize(
    "damage", [lambda raw: raw[:-20], lambda raw: b"no gzip", lambda raw: gzip.compress(b"{}\n{oops")]
)
def test_a_damaged_file_is_named(folder, damage):
    file = folder / "sentences.jsonl.gz"
    file.write_bytes(damage(file.read_bytes()))
    with pytest.raises(ValueError, match=r"sentences\.jsonl\.gz.*(damaged|line 2, is not JSON).*get the file anew"):
        load_hallmarks(folder, cache_dir=False)


@pytest.mark.slow
@pytest.mark.data
def test_the_real_sentences(data_folder):
    bags = load_hallmarks(data_folder, labelled_only=False, cache_dir=False)
    assert (bags.n_bags, bags.n_graphs, bags.n_labels) == (1852, 17464, 10)
    assert bags.Y.sum() / bags.n_bags == pytest.approx(1.33, abs=0.005)
    labelled = load_hallmarks(data_folder, cache_dir=False)
    assert (labelled.n_bags, labelled.n_graphs) == (1580, 14919)
    assert labelled.Y.any(axis=1).all()
    texts = load_hallmarks_texts(data_folder)
    assert set(bags.graph_names.tolist()) == set(texts)
    again = bags_from_texts([[texts[name]] for name in labelled.graph_names[:50].tolist()], **_recipe(labelled))
    assert again.graphs.node_names.tolist() == labelled.graphs[:50].node_names.tolist()


def _recipe(bags):
    return bags.info["parameters"]
