"""Graphs of all words and of pairs of neighbouring ones: what `bags_from_texts` makes by default."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

from cfmgml import BagDataset, CfMGML, WeisfeilerLehman
from cfmgml.builders.texts.builder import TextBuilder
from cfmgml.data.builder import builder_of
from cfmgml.datasets import bags_from_texts
from cfmgml.model_selection import kernel_named
from cfmgml.stores import BagStore
from needs import needs


def names(text, **options):
    return bags_from_texts([[text]], **options).graphs.node_names.tolist()


def test_every_word_and_every_two_neighbours_are_nodes():
    graph = bags_from_texts([["Gene therapy of the tumour gene. Therapy works."]]).graphs
    words, pairs = (
        ["gene", "therapy", "tumour", "works"],
        ["gene therapy", "therapy tumour", "tumour gene", "therapy works"],
    )
    repeats = ["gene ×2", "therapy ×2"]
    assert graph.node_names.tolist() == words + repeats + pairs
    ends = {tuple(pair) for pair in graph.node_names[graph.edges].T.tolist()}
    assert ("gene", "gene therapy") in ends
    assert ("gene therapy", "therapy") in ends
    assert graph.n_edges == 2 * len(pairs)


def test_nothing_depends_on_other_texts():
    one, many = bags_from_texts(["Rare words stay."]), bags_from_texts(["Rare words stay.", "Others come. And go."] * 9)
    np.testing.assert_array_equal(one.graphs.node_labels, many[0].graphs.node_labels)
    assert one.builder == many.builder
    long = " ".join(f"{chr(97 + k // 26)}{chr(97 + k % 26)}x" for k in range(200))
    assert bags_from_texts([[long]]).graphs.n_nodes == 200 + 199


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, ["polish", "army"]),
        ({"case": True}, ["Polish", "polish", "army"]),
        ({"numbers": True}, ["polish", "40", "2", "army"]),
        ({"stop_words": "none"}, ["the", "polish", "i", "army"]),
        ({"stop_words": ["POLISH"]}, ["the", "i", "army"]),
    ],
)
def test_what_is_a_word_can_be_told(options, expected):
    assert names("The Polish polish: I, 40-2 army", pairs=False, repeats=False, stem=False, **options) == expected


def test_stop_words_of_a_language_or_a_file(tmp_path):
    needs("stop_words")
    assert names("Der Hund und die Katze", pairs=False, stop_words="german", stem=False) == ["hund", "katze"]
    assert names("Der Hund und die Katze", pairs=False, stop_words="de", stem=False) == ["hund", "katze"]
    (tmp_path / "mine.txt").write_text("Hund der # animals\nund")
    builder = TextBuilder(stop_words=str(tmp_path / "mine.txt"), pairs=False, stem=False)
    assert builder.stop_words == ("der", "hund", "und")
    assert builder_of(builder.told()) == builder
    with pytest.raises(ValueError, match="stop_words must be none, a file, .* german, .* got 'klingon'"):
        TextBuilder(stop_words="klingon")


def test_a_long_list_of_stop_words_is_told_in_short():
    mine = TextBuilder(stop_words=[f"word{k:03}" for k in range(200)])
    assert "stop_words=['word000', 'word001', 'word002', and 197 more]" in mine.describe()
    with pytest.raises(ValueError, match="and 197 more") as refused:
        TextBuilder().check_same(mine)
    assert len(str(refused.value)) < 400


def test_a_file_of_bags_cannot_have_other_files_read(tmp_path):
    (tmp_path / "secret.txt").write_text("secret")
    told = {**TextBuilder().told(), "parameters": {"stop_words": str(tmp_path / "secret.txt")}}
    with pytest.raises(ValueError, match="must hold their stop words"):
        builder_of(told)


def test_characters_are_words_where_there_are_no_spaces():
    assert names("我爱北京") == ["我", "爱", "北", "京", "我 爱", "爱 北", "北 京"]
    assert names("データ解析を行う", pairs=False) == ["データ", "解", "析", "を", "行", "う"]
    assert names("我爱北京", pairs=False, recipe=2) == ["我爱北京"]


def test_a_node_says_where_a_sentence_stands():
    bags = bags_from_texts(["One dog. Two cats. Three cows. Four hens.", "Alone here."], position=True, pairs=False)
    last = [graph.node_names.tolist()[-1] for graph in bags.graphs]
    assert last == ["(first)", "(middle)", "(middle)", "(last)", "(first)"]


def test_words_of_a_family_share_their_beginning(tmp_path):
    told = {"pairs": False, "stem": False, "beginnings": 5}
    assert names("Angiogenesis, angiogenic genes", **told) == ["angiogenesis", "angiogenic", "genes", "angio…"]
    assert names("Angiogenesis ANGIO", case=True, **told) == ["Angiogenesis", "ANGIO", "Angio…"]
    bags = bags_from_texts(["Angiogenic drugs."], beginnings=5)
    bags.save(tmp_path / "a.bags")
    again = BagDataset.load(tmp_path / "a.bags").builder
    assert again == bags.builder
    assert again.rebuild(["Angiotensin."]).graphs.node_names.tolist() == ["angiotensin", "angio…"]
    with pytest.raises(ValueError, match="beginnings must be at least 1 letter"):
        TextBuilder(beginnings=0)


def test_what_is_rare_is_settled_by_training_texts_alone():
    train = bags_from_texts(["Common words here. Common words again.", "Lonely terms."])
    kernel = kernel_named("auto", train).resolve(train.graphs)
    new = train.builder.rebuild(["Lonely lonely terms.", "Lonely terms.", "Common words."])
    assert kernel.features(train.graphs).shape[1] == 3  # common, words, and both
    assert (kernel.features(new.graphs).toarray() > 0).tolist() == [[False] * 3] * 2 + [[True] * 3]


def test_where_a_sentence_stands_can_be_learned():
    """A label is for first sentences, whatever they say."""
    documents = [[f"{word} results were seen", "others were shown"] for word in ("old", "new", "good", "odd") * 6]
    roles = np.tile([[1, 0], [0, 1]], (len(documents), 1))
    swapped = [texts if k // 4 % 2 else texts[::-1] for k, texts in enumerate(documents)]
    right = {}
    for position in (False, True):
        bags = bags_from_texts(swapped, graph_Y=roles, position=position)
        graphs = replace(bags, bag_ptr=np.arange(bags.n_graphs + 1), Y=roles, bag_names=None)
        model = CfMGML(kernel_named("auto", bags), alpha=1e-3).fit(graphs)
        right[position] = (model.decision_function(graphs).argmax(1) == roles.argmax(1)).mean()
    assert right[True] == 1.0
    assert right[False] < 0.7


def test_a_recipe_from_elsewhere_is_refused_by_name():
    told = TextBuilder().told()
    told["parameters"] = {**told["parameters"], "recipe": 9}
    with pytest.raises(ValueError, match="recipe must be 3, or 2 for the former one, got 9"):
        builder_of(told)


@pytest.mark.parametrize("options", [{"window": 2}, {"threshold": 0.1}])
def test_edges_between_words_are_for_graphs_without_pairs(options):
    with pytest.raises(ValueError, match="pass pairs=False"):
        bags_from_texts(["Genes mutate."], **options)


# -- texts are kept --------------------------------------------------------------------------


def test_bags_keep_their_texts(tmp_path):
    bags = bags_from_texts(["Genes mutate. Größe zählt.", ["", "我爱你 \ud800"]], [[1], [0]], label_names=["x"])
    expected = ["Genes mutate.", "Größe zählt.", "", "我爱你 \ufffd"]
    bags.save(tmp_path / "a.bags")
    bags.to_store(tmp_path / "store", graphs_per_partition=2)
    kept = (
        BagDataset.load(tmp_path / "a.bags"),
        BagStore(tmp_path / "store").load(),
        BagDataset.from_frame(bags.to_frame()),
    )
    for others in (bags, *kept, BagDataset.concatenate([bags[:1], bags[1:]])):
        assert others.graph_texts.tolist() == expected
    assert bags[1].graph_texts.tolist() == expected[2:]
    assert bags.fingerprint() == kept[0].fingerprint() != replace(bags, graph_texts=None).fingerprint()
    assert bags_from_texts(["Genes mutate."], text=False).graph_texts is None
    assert bags_from_texts([["a b", "c"]], single_graph=True).graph_texts.tolist() == ["a b\nc"]


def test_a_text_for_every_graph(tmp_path):
    bags = bags_from_texts(["Genes mutate. They do."])
    with pytest.raises(ValueError, match=r"graph_texts must have shape \(2,\)"):
        replace(bags, graph_texts=["one"])


# -- order -----------------------------------------------------------------------------------


def ordered_corpus(n, seed):
    """A label is whether a sentence is "alpha beta", and not "beta alpha"; each document has one of them."""
    rng = np.random.default_rng(seed)
    has = np.arange(n) % 2 == 0
    documents = []
    for positive in has:
        others = [" ".join(rng.choice(FILLERS, 6)) for _ in range(3)]
        others.insert(int(rng.integers(4)), "alpha beta" if positive else "beta alpha")
        documents.append(others)
    return documents, has[:, None]


FILLERS = [f"{a}{b}{c}" for a in "bdgk" for b in "aeiou" for c in "lmnr"]


def test_a_label_may_depend_on_the_order_of_two_words():
    (documents, Y), (new, truth) = ordered_corpus(160, 0), ordered_corpus(80, 1)
    pairs = bags_from_texts(documents, Y)
    model = CfMGML(kernel_named("auto", pairs), alpha=1e-3).fit(pairs)
    assert (model.predict(pairs.builder.rebuild(new)) == truth).mean() > 0.95
    directed = bags_from_texts(documents, Y, pairs=False, order=True)
    model = CfMGML(WeisfeilerLehman(1, tfidf=True, edge_labels="directed", min_graphs=2), alpha=1e-3).fit(directed)
    seen = (model.predict(directed.builder.rebuild(new)) == truth).mean()
    blind = CfMGML(WeisfeilerLehman(1, tfidf=True), alpha=1e-3).fit(directed).predict(directed.builder.rebuild(new))
    assert seen > 0.95
    assert (blind == truth).mean() < 0.7


@pytest.mark.parametrize(("most", "least", "most_right"), [(1, 0.3, 0.7), (2, 0.9, 1.0)])
def test_tf_idf_sees_the_order_in_pairs_of_words_only(most, least, most_right):
    (documents, Y), (new, truth) = ordered_corpus(160, 0), ordered_corpus(80, 1)
    count = TfidfVectorizer(ngram_range=(1, most), sublinear_tf=True)
    rows = count.fit_transform([" . ".join(texts) for texts in documents])
    others = count.transform([" . ".join(texts) for texts in new])
    right = (LogisticRegression(C=100).fit(rows, Y[:, 0]).predict(others) == truth[:, 0]).mean()
    assert least <= right <= most_right
