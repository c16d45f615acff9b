"""
A kind of input of your own
===========================

One class turns your things into bags; the rest (models, files, plots, the command line, the server) asks it. Here a
melody is a bag of phrases, and a phrase a graph of the notes that follow one another.

    python examples/own_input.py
"""

from dataclasses import dataclass, replace

import numpy as np

from cfmgml import BagDataset, CfMGML, GraphBatch, WeisfeilerLehman
from cfmgml.builders import Builder, parameter
from cfmgml.plots import plot_bag


@dataclass(frozen=True)
class TuneBuilder(Builder):
    """Tunes such as ``C D E | G G``: a bag of phrases."""

    kind = "tunes"
    version = 1
    repeats: bool = parameter(True, "Keep notes that repeat the one before.")

    def build(self, sources, labels=None, label_names=None):
        phrases = [[self.kept(part.split()) for part in tune.split("|")] for tune in sources]
        notes = [phrase for tune in phrases for phrase in tune]
        starts = np.cumsum([0, *map(len, notes)])
        pairs = [(start + k, start + k + 1) for start, p in zip(starts, notes, strict=False) for k in range(len(p) - 1)]
        graphs = GraphBatch(
            node_ptr=starts,
            edge_ptr=np.cumsum([0, *(len(phrase) - 1 for phrase in notes)]),
            edges=np.array(pairs, dtype=int).reshape(-1, 2).T,
            node_labels=np.array([ord(note[0]) for phrase in notes for note in phrase]),
            node_names=np.array([note for phrase in notes for note in phrase]),
        )
        return BagDataset(graphs, np.cumsum([0, *map(len, phrases)]), Y=labels, label_names=label_names)

    def kept(self, phrase):
        return [note for k, note in enumerate(phrase) if self.repeats or k == 0 or note != phrase[k - 1]]


# %%
# Scales that go up and scales that go down, told of tunes as a whole.

rng = np.random.default_rng(0)
PHRASES = {"up": ["C D E F", "D E F G", "E F G A", "C D E F G"], "down": ["A G F E", "G F E D", "F E D C", "B A G"]}
asked = [rng.choice(["up", "down"], rng.integers(1, 3), replace=False).tolist() for _ in range(40)]
tunes = [" | ".join(rng.choice(PHRASES[way]) for way in ways) for ways in asked]
labels = [[way in ways for way in PHRASES] for ways in asked]
bags = TuneBuilder(repeats=False).build(tunes, labels, list(PHRASES))
print(bags, bags.builder)

# %%
# The graph of a phrase has no direction, so that what tells is which notes there are and what is beside what. The model
# remembers the builder, and builds new tunes as the old ones were.

model = CfMGML(WeisfeilerLehman(1), alpha=1e-2).fit(bags)
new = model.builder_.rebuild(["C C D E F G | B A A G F"])
scores = model.decision_function_graphs(new)
print(model.label_names_[scores.argmax(axis=1)])
plot_bag(replace(new, label_names=model.label_names_), scores=scores, contributions=model.explain(new), label="up")
