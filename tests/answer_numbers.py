"""Whether an answer of the API holds the numbers that Python gives."""

import numpy as np

from cfmgml.common.segments import segment_sum


def check_numbers(answer, model, bags):
    """Scores and contributions are the model's own, to the last digits."""
    scores = model.decision_function_graphs(bags)
    np.testing.assert_allclose([graph["scores"] for graph in answer["graphs"]], scores, rtol=0, atol=1e-9)
    by_name = dict(zip(model.label_names_.tolist(), model.decision_function(bags)[0], strict=True))
    np.testing.assert_allclose(
        [label["score"] for label in answer["labels"]],
        [by_name[label["name"]] for label in answer["labels"]],
        atol=1e-9,
    )
    columns = [model.label_names_.tolist().index(name) for name in answer["explanation"]["labels"]]
    contributions = np.array(answer["explanation"]["contributions"])
    np.testing.assert_allclose(contributions, model.explain(bags)[:, columns].T, rtol=0, atol=1e-9)
    whole = segment_sum(contributions.T, bags.graphs.node_ptr) + answer["explanation"]["intercepts"]
    np.testing.assert_allclose(whole, scores[:, columns], rtol=0, atol=1e-9)
