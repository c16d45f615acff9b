"""Corrected inputs as bags, how familiar an input is, and samples from files."""

import base64
import json

import httpx
import numpy as np
import pytest

from cfmgml import BagDataset, CfMGML, GraphBatch, GraphHopper, NodeSum, WeisfeilerLehman
from cfmgml.data.questions import Question
from cfmgml.datasets import load_digit_bags
from cfmgml.stores import BagStore
from cfmgml.web.answers import Analyst
from cfmgml.web.exhibits import read_samples
from cfmgml.web.familiarity import Familiarity
from cfmgml.web.limits import Refused
from made_up import rings_and_chains

TEXT = "Tumour cells grow fast. They evade the immune system."


def loaded(data, folder):
    (folder / "c.bags").write_bytes(data)
    return BagDataset.load(folder / "c.bags")


def test_texts_as_the_builder_builds_them(live, text_model, tmp_path):
    inputs = [{"name": "a", "labels": ["growth"], "content": TEXT}, {"name": "b", "labels": [], "content": "Blood."}]
    said = httpx.post(f"{live}/api/v1/models/texts/bags", json={"inputs": inputs}, timeout=60).raise_for_status()
    bags = loaded(said.content, tmp_path)
    expected = text_model.builder_.rebuild([TEXT, "Blood."])
    np.testing.assert_allclose(text_model.decision_function(bags), text_model.decision_function(expected))
    assert bags.label_sets() == [["growth"], []]
    assert bags.graph_names.tolist() == ["a#1", "a#2", "b#1"]


def test_pictures_and_graphs(photo_model, graph_model, photo_file, tmp_path):
    picture = {"name": "p", "labels": ["cat"], "content": base64.b64encode(photo_file).decode(), "regions": 3}
    bags = loaded(Analyst(photo_model).bags([picture]), tmp_path)
    answer = Analyst(photo_model).answer("image", Question(photo_file, 3))
    np.testing.assert_allclose(
        photo_model.decision_function_graphs(bags), [graph["scores"] for graph in answer["graphs"]]
    )
    _, sent = rings_and_chains(1)
    given = {"name": "g", "labels": ["ring"], "content": json.dumps(sent[0])}
    assert loaded(Analyst(graph_model).bags([given]), tmp_path).n_graphs == len(sent[0]["graphs"])


@pytest.mark.parametrize(
    ("inputs", "reason"),
    [
        ([{"name": "a", "labels": ["joy"], "content": TEXT}], "no label 'joy'; it has growth, immunity, vessels"),
        ([{"name": "a", "labels": [], "content": TEXT}] * 2, "Two inputs have the same name"),
        ([{"name": "a", "labels": [], "content": " "}], "a: There is no text"),
    ],
)
def test_what_cannot_be_learned_from(text_model, inputs, reason):
    with pytest.raises(Refused, match=reason):
        Analyst(text_model).bags(inputs)


def test_what_is_no_base64(photo_model):
    with pytest.raises(Refused, match="x: The content is not base64"):
        Analyst(photo_model).bags([{"name": "x", "labels": [], "content": "~~~"}])


def test_refusals_over_http(live):
    address = f"{live}/api/v1/models/texts/bags"
    assert httpx.post(address, json={"inputs": []}, timeout=60).status_code == 422
    assert httpx.post(address, content=b"{}", headers={"Content-Type": "text/plain"}, timeout=60).status_code == 415


def test_new_digits_are_familiar_and_noise_is_not(digit_model, rng):
    """Of digits not seen few are unlike training, of noise all: 99 in 100 is the bound, not a certainty."""
    familiarity = Familiarity(digit_model.learned_.scorer)
    assert familiarity.unlike(load_digit_bags("test", 60).graphs).mean() < 0.1
    noise = digit_model.builder_.build(rng.random((20, 8, 8)))
    assert familiarity.unlike(noise.graphs).all()
    told = familiarity.of(noise.graphs, "digit")
    assert told["warning"] == "20 of 20 digits are unlike anything in training: scores say little there."


def streamed(bags):
    model = CfMGML(NodeSum(approximation="nystrom"))
    for start in range(0, bags.n_bags, 20):
        model.partial_fit(bags[start : start + 20])
    return model


def stored(bags, folder):
    bags.to_store(folder / "store", graphs_per_partition=100)
    return CfMGML(NodeSum(approximation="nystrom"), max_iter=20).fit(BagStore(folder / "store"))


@pytest.mark.parametrize(
    "fit",
    [
        lambda bags, _: CfMGML(NodeSum(), rank=60, max_iter=20).fit(bags),
        lambda bags, _: CfMGML(NodeSum(), rank=60, max_iter=20, context=0.5).fit(bags),
        lambda bags, _: CfMGML(NodeSum(approximation="nystrom"), max_iter=20).fit(bags),
        lambda bags, _: CfMGML(NodeSum(approximation="nystrom"), max_iter=20, context=0.5).fit(bags),
        lambda bags, _: CfMGML(NodeSum(approximation="fourier"), max_iter=20).fit(bags),
        lambda bags, _: CfMGML(GraphHopper(approximation="nystrom", n_components=64), max_iter=20).fit(bags),
        lambda bags, _: streamed(bags),
        stored,
    ],
    ids=["rank", "rank, context", "nystrom", "nystrom, context", "fourier", "hopper", "stream", "store"],
)
def test_models_that_keep_no_training_graphs_remember_them(fit, tmp_path):
    """As `rank="auto"` makes them of more than a few thousand graphs; in memory and from a file."""
    fitted = fit(load_digit_bags("train", 120, random_state=0), tmp_path)
    fitted.save(tmp_path / "model")
    new, block = load_digit_bags("test", 60).graphs, np.zeros((1, 8, 8))
    block[:, 1:7, 1:7] = 1
    for model in (fitted, CfMGML.load(tmp_path / "model")):
        familiarity = Familiarity(model.learned_.scorer, model.learned_.seen)
        assert familiarity.unlike(new).mean() < 0.1
        assert familiarity.unlike(model.builder_.build(block).graphs).all()


def test_labels_in_an_order_never_seen():
    """Weisfeiler-Lehman remembers training as sparse rows: every label is known, and no graph was like this one."""
    bags, _ = rings_and_chains(40)
    model = CfMGML(WeisfeilerLehman(n_iter=2), alpha=1e-3).fit(bags)
    familiarity = Familiarity(model.learned_.scorer, model.learned_.seen)
    assert familiarity.unlike(bags.graphs).mean() < 0.05
    labels = np.full(30, bags.graphs.node_labels[0])
    complete = GraphBatch([0, 30], [0, 435], np.array(np.triu_indices(30, 1)), node_labels=labels)
    assert familiarity.unlike(complete).all()
    assert not familiarity.of(complete, "graph")["unknown"]


def test_of_few_graphs_nothing_is_remembered():
    bags = load_digit_bags(n_bags=4)[:2]
    model = CfMGML(NodeSum("linear")).fit(bags)
    assert model.learned_.seen is None
    assert not Familiarity(model.learned_.scorer, None).unlike(bags.graphs).any()


def test_a_model_of_one_graph_warns_of_nothing():
    bags = load_digit_bags(n_bags=20)
    one = CfMGML(NodeSum(), rank=1).fit(bags)
    assert not Familiarity(one.learned_.scorer).unlike(bags.graphs).any()  # as files from before have it


def test_labels_never_seen(graph_model):
    graph = {"node_labels": ["C", "Xx", "Yy"], "edges": [[0, 1], [1, 2]]}
    told = Analyst(graph_model).answer("graphs", Question(json.dumps({"graphs": [graph]}).encode()))["familiarity"]
    assert told["unknown"] == [1, 2]
    assert told["warning"] == "2 of 3 nodes have a label that training never had: scores say little there."


def test_words_never_seen(text_model):
    """Pairs of words, which are nearly always new, do not count."""

    def warning(text):
        return Analyst(text_model).answer("text", Question(text))["familiarity"]["warning"]

    assert warning("Tumour cells attack blood. New growth.") is None
    assert warning("Der Hund bellt laut, cells.") == "4 of 5 words were never in training: scores say little there."
    assert warning("Hund.") == "1 of 1 word was never in training: scores say little there."


def test_samples_from_files(tmp_path, photo_file):
    (tmp_path / "cat.png").write_bytes(photo_file)
    (tmp_path / "note.txt").write_text("Cells grow.")
    cat, note = read_samples([tmp_path])
    assert (cat.title, cat.media_type, cat.data) == ("cat", "image/png", photo_file)
    assert (note.title, note.media_type, note.content) == ("note", "text/plain", "Cells grow.")
    with pytest.raises(FileNotFoundError, match="no sample .*gone"):
        read_samples([tmp_path / "gone"])
    (tmp_path / "odd.bin").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match="odd.bin is neither an image nor a text"):
        read_samples([tmp_path])
