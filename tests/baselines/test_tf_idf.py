import numpy as np
import pytest
from sklearn.base import clone

from cfmgml.baselines import TfIdf
from cfmgml.datasets import bags_from_texts, load_digit_bags

TOPICS = {"gene": "gene tumour cell", "query": "query index join"}


def topic_bags(n_bags=24, seed=0):
    rng = np.random.default_rng(seed)
    has = rng.random((n_bags, 2)) < 0.5
    texts = []
    for row in has:
        words = [word for topic, own in zip(TOPICS.values(), row, strict=True) if own for word in topic.split()]
        texts.append([" ".join(rng.permutation([*words, "paper", "result"])), "Nothing else."])
    return bags_from_texts(texts, has, label_names=list(TOPICS))


def test_documents_and_their_texts_are_scored():
    bags, new = topic_bags(), topic_bags(seed=1)
    model = TfIdf().fit(bags)
    assert (model.predict(new) == new.Y).mean() > 0.95
    assert model.decision_function_graphs(new).shape == (new.n_graphs, 2)
    np.testing.assert_allclose(model.decision_function(new[[2, 0]]), model.decision_function(new)[[2, 0]])


def test_manners():
    bags = topic_bags()
    model = TfIdf(C=3.0, pairs=True, balanced=False)
    assert clone(model).get_params() == model.get_params()
    one, two = (clone(model).fit(bags).decision_function(bags) for _ in range(2))
    np.testing.assert_array_equal(one, two)
    with pytest.raises(Exception, match="not fitted"):
        TfIdf().predict(bags)


def test_unknown_and_constant_labels_are_borne():
    bags = topic_bags()
    Y = bags.Y.astype(float)
    Y[:3, 0] = np.nan
    Y[:, 1] = 1
    model = TfIdf().fit(bags, Y)
    assert model.predict(bags)[:, 1].all()


def test_characters_are_words_in_chinese():
    bags = bags_from_texts(["我爱北京。", "他爱北京。", "数据很大。", "数据很多。"], [[1], [1], [0], [0]])
    assert (TfIdf().fit(bags).predict(bags) == bags.Y).all()


@pytest.mark.parametrize("texts", [["Dog.", "Cat.", "Mouse."], ["", "?!", "..."]])
def test_where_no_word_is_shared_the_more_frequent_answer_is_given(texts):
    bags = bags_from_texts(texts, [[1, 0], [1, 0], [0, 0]])
    assert TfIdf(balanced=False).fit(bags).predict(bags).tolist() == [[True, False]] * 3


def test_bags_without_texts_are_refused():
    with pytest.raises(ValueError, match="TfIdf reads the texts that bags were built from"):
        TfIdf().fit(load_digit_bags(n_bags=5))
