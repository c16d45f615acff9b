"""The mean of models is a model."""

import numpy as np
import pytest

from cfmgml import CfMGML, NodeSum, WeisfeilerLehman
from cfmgml.datasets import bags_from_texts, load_digit_bags
from cfmgml.model import mean_model

WORDS = WeisfeilerLehman(0, tfidf=True)
WHOLE = {"context": 0.3, "context_scale": "unit"}


@pytest.fixture(scope="module")
def bags():
    texts = ["Genes mutate. Cells grow fast.", "Queries run. Genes mutate.", "Cells grow.", "Queries run fast."]
    return bags_from_texts(texts, [[1, 0, 1], [1, 1, 0], [0, 0, 1], [0, 1, 0]])


@pytest.mark.parametrize("whole", [{}, WHOLE], ids=["alone", "context"])
def test_scores_explanations_and_files_are_those_of_the_mean(bags, whole, tmp_path):
    models = [
        *CfMGML(WORDS, **whole).fit_path(bags, [1e-2, 1e-3]),
        CfMGML(WORDS, 1e-2, loss="hamming", class_weight="balanced", **whole).fit(bags),
    ]
    mean = mean_model(models)
    scores = np.mean([model.decision_function_graphs(bags) for model in models], axis=0)
    np.testing.assert_allclose(mean.decision_function_graphs(bags), scores)
    np.testing.assert_allclose(mean.explain(bags), np.mean([model.explain(bags) for model in models], axis=0))
    mean.save(tmp_path / "mean.cfmgml")
    again = CfMGML.load(tmp_path / "mean.cfmgml")
    np.testing.assert_array_equal(again.decision_function_graphs(bags), mean.decision_function_graphs(bags))
    assert again.predict(bags[::-1]).shape == bags.Y.shape


def test_models_of_other_things_have_no_mean(bags):
    model = CfMGML(WORDS, 1e-2).fit(bags)
    for other, told in (
        (CfMGML(WORDS, 1e-2).fit(bags[:3]), "the same training bags"),
        (CfMGML(WeisfeilerLehman(1), 1e-2).fit(bags), "the same kernel"),
        (CfMGML(WORDS, 1e-2, **WHOLE).fit(bags), "the same context"),
    ):
        with pytest.raises(ValueError, match=told):
            mean_model([model, other])
    with pytest.raises(ValueError, match="at least one model"):
        mean_model([])
    with pytest.raises(TypeError, match="an explicit map, got NodeSum"):
        mean_model([CfMGML(NodeSum(), 1e-2).fit(load_digit_bags(n_bags=5))])
