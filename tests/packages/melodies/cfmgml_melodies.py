"""Melodies as bags of phrases, each a graph of notes: a kind of input that another package adds, in one file.

A melody is a text of notes such as ``C4 D4 E4 | G4 G4``; ``|`` ends a phrase. Notes are nodes, labelled by their pitch
class; an edge joins notes that follow one another.
"""

from dataclasses import dataclass

import numpy as np

from cfmgml import BagDataset, GraphBatch
from cfmgml.builders import Builder, Form, parameter

PITCHES = {"C": 0, "D": 2, "E": 4, "F": 5, "G": 7, "A": 9, "B": 11}


@dataclass(frozen=True)
class MelodyBuilder(Builder):
    kind = "melodies"
    version = 1
    nouns = "melodies"
    part = "phrase"
    suffixes = (".notes",)
    form = Form("text", "Notes, such as C4 D4 E4 | G4 G4")
    help = "Melodies: each .notes file becomes a bag, and each phrase a graph of notes."

    octaves: bool = parameter(False, "Tell notes of different octaves apart.")

    def build(self, sources, labels=None):
        phrases = [[part.split() for part in melody.split("|") if part.split()] for melody in sources]
        if any(not melody for melody in phrases):
            raise ValueError("a melody must have at least one note, such as C4.")
        notes = [phrase for melody in phrases for phrase in melody]
        sizes = np.array([len(phrase) for phrase in notes])
        starts = np.concatenate([[0], np.cumsum(sizes)])
        pairs = [(start + k, start + k + 1) for start, n in zip(starts, sizes, strict=False) for k in range(n - 1)]
        names = [note for phrase in notes for note in phrase]
        graphs = GraphBatch(
            node_ptr=starts,
            edge_ptr=np.concatenate([[0], np.cumsum(sizes - 1)]),
            edges=np.array(pairs, dtype=int).reshape(-1, 2).T,
            node_labels=np.array([self.pitch(note) for note in names]),
            node_names=np.array(names),
        )
        return BagDataset(graphs, np.cumsum([0, *map(len, phrases)]), Y=labels)

    def pitch(self, note):
        if note[:1] not in PITCHES or not note[1:].isdigit():
            raise ValueError(f"a note must be a letter from A to G and an octave, such as C4, got {note!r}.")
        return PITCHES[note[0]] + (12 * int(note[1:]) if self.octaves else 0)
