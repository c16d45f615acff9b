"""Mixtures: what is known is known of the mixture; the model says which molecule it is that carries it.

python examples/mixtures.py
"""

from cfmgml import CfMGML, WeisfeilerLehman
from cfmgml.datasets import load_mixtures
from cfmgml.metrics import bag_report, graph_report

train, test = load_mixtures("train"), load_mixtures("test", n_bags=50)  # no molecule is in both
model = CfMGML(WeisfeilerLehman(1, edge_labels=True), alpha=1e-3).fit(train)  # sees no molecule's own labels

scores = model.decision_function_graphs(test)
print(f"mixtures:  average precision {bag_report(test.Y, model.decision_function(test))['average_precision']:.3f}")
print(f"molecules: average precision {graph_report(test.graph_Y, scores)['average_precision']:.3f}")

print("\nThe first mixture:")
for number in range(*test.bag_ptr[:2]):
    found = ", ".join(model.label_names_[scores[number] > 0]) or "none"
    truth = ", ".join(test.label_names[test.graph_Y[number]]) or "none"
    print(f"  {test.graph_names[number]:24} predicted {found:20} true {truth}")
