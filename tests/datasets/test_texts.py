import json
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cfmgml.builders.texts.text_graphs import CHUNK
from cfmgml.builders.texts.texts import KEYWORDS, NO_KEYWORD, bags_from_texts
from cfmgml.data.bags import BagDataset
from cfmgml.data.checks import label_codes

WORDS = ["gene", "tumour", "cell", "growth", "kinase", "the", "größe", "слово", "42"]
texts = st.lists(st.sampled_from([*WORDS, ". A"]), max_size=8).map(" ".join)
documents = st.lists(st.lists(texts, max_size=3), min_size=1, max_size=4)


def keyword_bags(documents, *labels, **options):
    """As the paper's reading has it: tests/builders/test_word_graphs.py is about what is made by default."""
    return bags_from_texts(documents, *labels, **{**KEYWORDS, **options})


def edges_of(graph):
    """The edges by name, each pair once, with weights."""
    first, second = graph.node_names[graph.edges]
    pairs = zip(first.tolist(), second.tolist(), graph.edge_weights.tolist(), strict=True)
    return {tuple(sorted((a, b))): weight for a, b, weight in pairs}


def assert_same_graphs(left, right):
    assert left.arrays().keys() == right.arrays().keys()
    for name, array in left.arrays().items():
        np.testing.assert_array_equal(array, right.arrays()[name], err_msg=name)


# -- documents -------------------------------------------------------------------------------


def test_a_string_is_a_bag_of_its_sentences_and_a_list_a_bag_of_its_texts():
    bags = keyword_bags(["Genes mutate. Cells grow! Why?", ["Genes mutate. Cells grow!", "Tumours"]])
    assert np.diff(bags.bag_ptr).tolist() == [3, 2]
    assert bags.graphs[0].node_names.tolist() == ["genes", "mutate"]
    assert bags.graphs[3].node_names.tolist() == ["genes", "mutate", "cells", "grow"]


def test_names_lead_back_to_the_text():
    bags = keyword_bags([["one gene", "two genes"], ["a cell"]], bag_names=["x", "y"])
    assert bags.graph_names.tolist() == ["x:0", "x:1", "y:0"]


def test_the_same_text_is_the_same_graph_in_every_bag_and_is_counted_once():
    bags = keyword_bags([["gene therapy", "cell growth"], ["gene therapy"], ["gene mutation"]])
    assert bags.info["vocabulary"] == {"n_texts": 3, "counts": {"gene": 2}, "pairs": {}}
    assert edges_of(bags.graphs[0]) == edges_of(bags.graphs[2]) == {("gene", "therapy"): pytest.approx(2 / 3)}


@pytest.mark.parametrize("document", ["", "   ", [], [""], "The of and.", "1 2 3 %", ["—!?"], "x"])
def test_without_keywords_there_is_one_node_that_says_so(document):
    bags = keyword_bags([document, "Genes mutate."])
    graph = bags[0].graphs
    assert (bags[0].n_graphs, graph.n_nodes, graph.n_edges) == (1, 1, 0)
    assert graph.node_names.tolist() == [NO_KEYWORD]
    assert graph.node_labels.tolist() == label_codes([NO_KEYWORD]).tolist()
    assert bags.info["n_without_keywords"] == 1


def test_no_text_can_spell_the_reserved_keyword():
    bags = keyword_bags([NO_KEYWORD], stop_words=[], stem=False)
    assert bags.graphs.node_names.tolist() == ["no", "keyword"]


@pytest.mark.parametrize(
    ("documents", "error", "message"),
    [
        ("one text", TypeError, r"documents must be a list .* got str; for one document pass \[text\]"),
        (b"one", TypeError, "documents must be a list .* got bytes"),
        (3, TypeError, "documents must be a list .* got int"),
        ([], ValueError, "at least one document, got none"),
        (["ok", None], TypeError, "document 1 must be a string or a list of strings, got NoneType"),
        (["ok", b"no"], TypeError, "document 1 must be a string or a list of strings, got bytes"),
        ([["ok", 3.5]], TypeError, "document 0 must hold strings; text 1 is of type float"),
    ],
)
def test_wrong_documents_are_refused(documents, error, message):
    with pytest.raises(error, match=message):
        keyword_bags(documents)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"max_keywords": 0}, "max_keywords must be at least 1, or None for all, got 0"),
        ({"window": 0}, "window must be at least 1"),
        ({"threshold": 1.5}, "threshold must be from 0 to 1, as the weights are, got 1.5"),
        ({"vocabulary": {}}, r"vocabulary must be what bags_from_texts wrote down.*n_texts|pairs"),
        ({"vocabulary": {"n_texts": 1, "counts": {}, "pairs": {"a b c": 2}}}, "vocabulary must be what"),
        ({"graph_Y": [[1], [0]]}, r"graph_Y must have shape \(1, n_labels\)"),
        ({"bag_names": ["a", "b"]}, r"bag_names must have shape \(1,\)"),
    ],
)
def test_wrong_parameters_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        keyword_bags(["Genes mutate."], **parameters)


# -- labels ----------------------------------------------------------------------------------


def test_a_bag_has_the_labels_of_its_graphs():
    bags = keyword_bags([["a gene", "a cell"], ["a virus"]], graph_Y=[[1, 0], [0, 0], [0, 1]], label_names=["g", "v"])
    assert bags.label_sets() == [["g"], ["v"]]
    assert bags.graph_Y.tolist() == [[True, False], [False, False], [False, True]]


def test_given_labels_of_bags_stay():
    bags = keyword_bags(["a gene", "a virus"], [[1, 0], [1, 1]])
    assert bags.Y.tolist() == [[True, False], [True, True]]
    assert bags.graph_Y is None


def test_graphs_do_not_depend_on_labels():
    documents = ["Gene expression rises. Gene therapy.", "Cells grow."]
    assert_same_graphs(keyword_bags(documents, [[0], [1]]).graphs, keyword_bags(documents, [[1], [0]]).graphs)


# -- the recipe ------------------------------------------------------------------------------


def test_weights_are_dice_coefficients_over_texts():
    bags = keyword_bags([["gene therapy works", "gene therapy", "gene", "cell works"]], stem=False, window=1)
    # gene is in 3 texts, therapy in 2, both together in 2; works in 2, next to therapy in 1
    assert edges_of(bags.graphs[0]) == {
        ("gene", "therapy"): pytest.approx(4 / 5),
        ("therapy", "works"): pytest.approx(2 / 4),
    }
    assert edges_of(bags.graphs[3]) == {("cell", "works"): pytest.approx(2 / 3)}


def test_edges_go_both_ways_with_one_weight():
    graph = keyword_bags(["Gene therapy works."]).graphs
    weights = dict(zip(map(tuple, graph.edges.T.tolist()), graph.edge_weights.tolist(), strict=True))
    assert len(weights) == 6
    assert all(weights[b, a] == weight for (a, b), weight in weights.items())


def test_threshold_leaves_weak_edges_out():
    documents = [["gene therapy works", "gene therapy", "gene", "cell works"]]
    strong = keyword_bags(documents, window=1, threshold=0.6)
    assert edges_of(strong.graphs[0]) == {("gene", "therapy"): pytest.approx(4 / 5)}
    assert keyword_bags(documents, window=1, threshold=0).graphs[0].n_edges == 4


def test_the_window_counts_content_words_and_ends_with_the_sentence():
    related = edges_of(keyword_bags([["Gene of the therapy. Cells divide fast."]], window=1, threshold=0).graphs)
    assert set(related) == {("gene", "therapy"), ("cells", "divide"), ("divide", "fast")}
    wide = edges_of(keyword_bags([["Gene therapy. Cells divide fast."]], window=2, threshold=0).graphs)
    assert set(wide) == {("gene", "therapy"), ("cells", "divide"), ("divide", "fast"), ("cells", "fast")}


def test_keywords_are_those_with_the_largest_tf_idf_in_the_order_of_the_text():
    common = [["cell rare cell gene gene gene", "cell", "cell", "cell", "cell"]]
    chosen = keyword_bags(common, max_keywords=2).graphs[0].node_names.tolist()
    assert chosen == ["cell", "gene"]  # 2 * 1 and 3 * 2.1 against 1 * 2.1: idf of cell is 1
    assert keyword_bags(common, max_keywords=1).graphs[0].node_names.tolist() == ["gene"]
    assert keyword_bags(common, max_keywords=None).graphs[0].n_nodes == 3


def test_ties_go_to_the_first_word():
    assert keyword_bags(["delta alpha gamma beta"], max_keywords=2).graphs.node_names.tolist() == ["delta", "alpha"]


def test_stop_words_can_be_chosen():
    assert keyword_bags(["Der Hund bellt."], stop_words=["der"], stem=False).graphs.node_names.tolist() == [
        "hund",
        "bellt",
    ]
    assert keyword_bags(["The dog"], stop_words=[]).graphs.node_names.tolist() == ["the", "dog"]


def test_forms_of_a_word_are_one_keyword_named_as_first_spelt():
    graph = keyword_bags(["Migrating cells; the cell's migration."]).graphs
    assert graph.node_names.tolist() == ["migrating", "cells"]
    plain = keyword_bags(["Migrating cells; the cell's migration."], stem=False).graphs
    assert plain.node_names.tolist() == ["migrating", "cells", "cell", "migration"]


def test_unicode_spellings_of_a_word_are_one_keyword():
    graph = keyword_bags(["ﬁsh FISH ｆｉｓｈ Straße STRASSE é é"], stem=False).graphs
    assert graph.node_names.tolist() == ["fish", "strasse", "é"]


@pytest.mark.parametrize(
    "text", ["слово дело", "संधि विच्छेद", "λέξη γράφος", "كلمة جديدة", "단어 그래프", "キーワード グラフ"]
)
def test_letters_of_any_script_are_words(text):
    assert keyword_bags([text]).graphs.node_names.tolist() == [word.casefold() for word in text.split()]


@given(documents)
def test_every_weight_is_in_range_and_every_edge_simple(documents):
    graphs = keyword_bags(documents, threshold=0.2).graphs
    assert ((graphs.edge_weights >= 0.2) & (graphs.edge_weights <= 1)).all()
    assert (graphs.edges[0] != graphs.edges[1]).all()
    assert len(set(map(tuple, graphs.edges.T.tolist()))) == graphs.n_edges


# -- new texts -------------------------------------------------------------------------------


@given(documents, st.sampled_from([0.0, 0.3, 1.0]), st.sampled_from([None, 2]))
def test_texts_built_with_their_own_vocabulary_are_the_same_again(documents, threshold, max_keywords):
    bags = keyword_bags(documents, threshold=threshold, max_keywords=max_keywords)
    info = json.loads(json.dumps(dict(bags.info)))
    again = bags_from_texts(documents, vocabulary=info["vocabulary"], **info["parameters"])
    assert_same_graphs(bags.graphs, again.graphs)
    assert again.info == bags.info


@given(documents, st.data())
def test_building_with_a_vocabulary_commutes_with_selection(documents, data):
    bags = keyword_bags(documents)
    chosen = data.draw(st.lists(st.integers(0, len(documents) - 1), min_size=1, max_size=3))
    new = keyword_bags([documents[k] for k in chosen], vocabulary=bags.info["vocabulary"])
    left = {name: array for name, array in bags[chosen].graphs.arrays().items() if name != "graph_ids"}
    for name, array in left.items():
        np.testing.assert_array_equal(array, getattr(new.graphs, name), err_msg=name)


def test_files_keep_what_new_texts_need(tmp_path):
    bags = keyword_bags(["Gene therapy works. Gene therapy."], stop_words=["works"], window=3)
    bags.save(tmp_path / "texts.bags")
    info = BagDataset.load(tmp_path / "texts.bags").info
    new = bags_from_texts(["Gene therapy works."], vocabulary=info["vocabulary"], **info["parameters"])
    assert edges_of(new.graphs) == {("gene", "therapy"): 1.0}


@pytest.mark.slow
def test_the_result_does_not_depend_on_the_order_of_sets():
    code = (
        "from cfmgml.builders.texts.texts import bags_from_texts, KEYWORDS; import json;"
        "few = {**KEYWORDS, 'max_keywords': 3};"
        "b = bags_from_texts([['gene therapy cell growth', 'cell growth gene virus']], **few);"
        "print(json.dumps([dict(b.info), {k: v.tolist() for k, v in b.graphs.arrays().items()}]))"
    )
    seeds = [{**os.environ, "PYTHONHASHSEED": seed} for seed in ("1", "2")]
    one, two = (
        subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, check=True).stdout for env in seeds
    )
    assert one == two
    assert len(one) > 100


# -- workers ---------------------------------------------------------------------------------


def test_the_result_does_not_depend_on_the_workers():
    rng = np.random.default_rng(0)
    documents = [[" ".join(rng.choice(WORDS, size=5)) for _ in range(3)] for _ in range(2 * CHUNK)]
    one, two = (keyword_bags(documents, n_jobs=n, max_keywords=3, threshold=0.3, verbose=False) for n in (1, 2))
    assert len({text for bag in documents for text in bag}) > 2 * CHUNK  # enough for both workers to have some
    assert_same_graphs(one.graphs, two.graphs)
    assert list(one.info["vocabulary"]["pairs"].items()) == list(two.info["vocabulary"]["pairs"].items())


def test_progress_goes_to_stderr(capsys):
    keyword_bags(["Genes mutate."], verbose=True)
    out, err = capsys.readouterr()
    assert out == ""
    assert err != ""
    keyword_bags(["Genes mutate."], verbose=False)
    assert capsys.readouterr() == ("", "")


# -- one graph a bag -------------------------------------------------------------------------


def test_a_single_graph_joins_what_its_texts_have():
    documents = [["gene therapy works", "", "therapy fails"], ["cell growth"], [""]]
    parts = keyword_bags(documents, graph_Y=[[1], [0], [0], [0], [1]], label_names=["x"])
    joined = keyword_bags(documents, graph_Y=[[1], [0], [0], [0], [1]], label_names=["x"], single_graph=True)
    assert joined.n_graphs == joined.n_bags == 3
    assert joined.graphs[0].node_names.tolist() == ["gene", "therapy", "works", "fails"]
    assert edges_of(joined.graphs[0]) == edges_of(parts.graphs[0]) | edges_of(parts.graphs[2])
    assert joined.graphs[2].node_names.tolist() == [NO_KEYWORD]
    assert joined.Y.tolist() == parts.Y.tolist()
    assert joined.graph_Y is None
    assert joined.graph_names.tolist() == ["0", "1", "2"]
