"""Words described by vectors: learned from the texts themselves, or by an encoder of one's own."""

import json

import numpy as np
import pytest

from cfmgml import BagDataset, CfMGML
from cfmgml.builders.texts import EncodedWords
from cfmgml.builders.texts.word_vectors import MOST_WORDS, N_COLUMNS, WordVectors, _information, _near, learn_vectors
from cfmgml.data.builder import builder_of
from cfmgml.datasets import bags_from_texts
from cfmgml.model_selection import kernel_named
from cfmgml.stores import BagStore

TOPICS = {
    "food": ["garlic", "soup", "bread", "onion"],
    "music": ["drum", "violin", "song", "choir"],
    "sea": ["wave", "ship", "sail", "harbour"],
    "law": ["judge", "court", "clause", "verdict"],
}


def letters(n, seed=0):
    """A label says what a document is about; documents of one topic need not share a word."""
    rng = np.random.default_rng(seed)
    has = rng.integers(0, 4, n)
    words = list(TOPICS.values())
    return [[" ".join(rng.choice(words[k], 3)) for _ in range(3)] for k in has], np.eye(4, dtype=bool)[has]


def test_counts_and_information_written_out_by_hand():
    words, text_of = np.array([0, 1, 0, 2], dtype=np.int32), np.array([0, 0, 0, 1], dtype=np.int32)
    near = _near(words, text_of, 3).toarray()
    np.testing.assert_allclose(near, [[1.6, 2.0, 0], [2.0, 0, 0], [0, 0, 0]], rtol=1e-6)
    own = near.sum(1)
    found = _information(_near(words, text_of, 3)).toarray()
    for row, column in np.ndindex(3, 3):
        expected = 0.0
        if near[row, column]:
            chance = own[row] * own[column] ** 0.75 / (own**0.75).sum()
            expected = max(0.0, np.log(near[row, column] / chance) - np.log(2))
        assert found[row, column] == pytest.approx(expected, abs=1e-6)


def test_words_that_stand_among_the_same_words_are_near():
    documents, _ = letters(200)
    texts = [text.split() for document in documents for text in document]
    vectors = learn_vectors(texts)
    np.testing.assert_array_equal(vectors.rows, learn_vectors(texts).rows)
    food, music, *_ = (vectors.of(words) for words in TOPICS.values())
    assert min((food @ food.T).min(), (music @ music.T).min()) > (food @ music.T).max()
    np.testing.assert_array_equal(vectors.of(["nowhere"]), np.zeros((1, N_COLUMNS)))


@pytest.mark.parametrize("texts", [[], [["alone"]], [["one", "two"]] * 3, [["same"]] * 9])
def test_few_words_have_no_vectors_and_do_no_harm(texts):
    assert not learn_vectors(texts).of(["one", "same"]).any()


def test_frequent_words_are_short():
    documents, _ = letters(200)
    texts = [["and", *text.split(), "garlic"] for document in documents for text in document]
    lengths = np.linalg.norm(learn_vectors(texts).of(["garlic", "soup"]), axis=1)
    assert lengths[0] < lengths[1] / 2


def test_vectors_are_kept_and_new_texts_are_described_alike(tmp_path):
    documents, Y = letters(120)
    bags = bags_from_texts(documents, Y, features="corpus", label_names=list(TOPICS))
    assert bags.graphs.n_attributes == N_COLUMNS
    assert kernel_named("auto", bags).is_explicit
    model = CfMGML(kernel_named("auto", bags), alpha=1e-3).fit(bags)
    bags.save(tmp_path / "a.bags")
    model.save(tmp_path / "m.cfmgml")
    kept, again = BagDataset.load(tmp_path / "a.bags"), CfMGML.load(tmp_path / "m.cfmgml")
    assert kept.builder == bags.builder == again.builder_
    new, truth = letters(30, seed=1)
    built = again.builder_.rebuild(new)
    np.testing.assert_array_equal(built.graphs.node_attributes, kept.builder.rebuild(new).graphs.node_attributes)
    np.testing.assert_array_equal(built.graphs.node_attributes, bags.builder.rebuild(new).graphs.node_attributes)
    assert (again.predict(built) == truth).mean() > 0.95
    other = bags_from_texts(new, truth, features="corpus", label_names=list(TOPICS))
    with pytest.raises(ValueError, match="Build it the same way"):
        again.predict(other)


def test_a_store_learns_the_same_vectors(tmp_path, capsys):
    from cfmgml.cli import main

    documents, Y = letters(60)
    labels = [[list(TOPICS)[row.argmax()]] for row in Y]
    rows = [{"id": str(k), "texts": texts, "labels": labels[k]} for k, texts in enumerate(documents)]
    (tmp_path / "texts.jsonl").write_text("\n".join(map(json.dumps, rows)))
    command = ["build", "text", str(tmp_path / "texts.jsonl"), "--features", "corpus"]
    assert main([*command, "-o", str(tmp_path / "a.bags")]) in (0, None)
    assert main([*command, "--store", str(tmp_path / "store")]) in (0, None)
    bags, store = BagDataset.load(tmp_path / "a.bags"), BagStore(tmp_path / "store").load()
    assert store.builder == bags.builder
    np.testing.assert_array_equal(store.graphs.node_attributes, bags.graphs.node_attributes)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"words": "garlic"}, "a list of words"),
        ({"words": ["garlic", "garlic"]}, f"at most {MOST_WORDS:,} different words"),
        ({"rows": "!"}, "cannot be read"),
        ({"rows": None}, "cannot be read"),
        ({"rows": "AAAA"}, "must hold 64 numbers, got 3"),
        ({"scales": "AADAfw=="}, "must be numbers below 1"),  # not a number
    ],
)
def test_vectors_of_a_file_are_checked(change, message):
    held = WordVectors.of_arrays(["garlic"], np.ones((1, N_COLUMNS))).to_json()
    assert WordVectors.from_json(held).words == ("garlic",)
    with pytest.raises(ValueError, match=message):
        WordVectors.from_json({**held, **change})


# -- encoders --------------------------------------------------------------------------------


def hashed(seed):
    """An encoder with weights made at random: a sum over letters."""
    weights = np.random.default_rng(seed).normal(size=(128, 6))
    return lambda strings: np.array([weights[[ord(c) % 128 for c in s] or [0]].sum(0) for s in strings])


def test_an_encoder_of_ones_own_describes_words_or_texts(tmp_path):
    documents, Y = letters(20)
    words = bags_from_texts(documents, Y, features=EncodedWords(hashed(0), "my-words"))
    assert words.graphs.n_attributes == 6
    node = words.graphs.node_names.tolist().index("soup")
    expected = hashed(0)(["soup"])[0]
    np.testing.assert_allclose(words.graphs.node_attributes[node], expected / np.linalg.norm(expected), rtol=1e-5)
    texts = bags_from_texts(documents, Y, features=EncodedWords(hashed(0), "my-texts", of="sentences", gamma=2.0))
    for graph, text in zip(texts.graphs, texts.graph_texts, strict=True):
        expected = hashed(0)([text])[0]
        for row in graph.node_attributes:
            np.testing.assert_allclose(row, expected / np.linalg.norm(expected), rtol=1e-5)
    assert texts.builder.gamma == 2.0
    model = CfMGML(kernel_named("nodes", texts), alpha=1e-3).fit(texts)
    model.save(tmp_path / "m.cfmgml")
    again = CfMGML.load(tmp_path / "m.cfmgml")
    new = again.builder_.rebuild(documents[:3])
    np.testing.assert_allclose(again.decision_function(new), model.decision_function(texts[:3]), atol=1e-6)


def test_another_encoder_of_that_name_is_refused():
    bags = bags_from_texts(["Warm hands."], features=EncodedWords(hashed(0), "mine"))
    told = json.loads(json.dumps(bags.builder.told()))
    bags_from_texts(["Warm hands."], features=EncodedWords(hashed(1), "mine"))
    with pytest.raises(ValueError, match="the encoder 'mine', and what has that name here gives other vectors"):
        builder_of(told).rebuild(["Cold feet."])
    told["parameters"]["features"] = "unheard-of"
    unknown = builder_of(told)  # bags and models are read all the same
    assert unknown.gamma == 1.0
    with pytest.raises(ValueError, match="got 'unheard-of'; one's own is known once it was passed"):
        unknown.rebuild(["Cold feet."])


@pytest.mark.parametrize(
    ("encode", "message"),
    [
        (lambda words: [1.0] * len(words), r"must give finite numbers of shape \(3, n_columns\)"),
        (lambda words: [[np.nan]] * len(words), "must give finite numbers"),
        (lambda words: [[1.0, 2.0]], "must give finite numbers"),
    ],
)
def test_what_an_encoder_gives_is_checked(encode, message):
    with pytest.raises(ValueError, match=message):
        bags_from_texts(["Warm hands."], features=EncodedWords(encode, "bad"))


def test_what_is_no_description_is_refused():
    with pytest.raises(TypeError, match="features must be None, the name of a description"):
        bags_from_texts(["Warm hands."], features=hashed(0))
    with pytest.raises(ValueError, match="there is a description called 'corpus' already"):
        bags_from_texts(["Warm hands."], features=EncodedWords(hashed(0), "corpus"))
    with pytest.raises(ValueError, match="of must be 'words' or 'sentences'"):
        EncodedWords(hashed(0), "x", of="letters")
    with pytest.raises(ValueError, match="an encoder needs a name"):
        EncodedWords(hashed(0), "")
