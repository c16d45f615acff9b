"""Words by vectors learned from the texts that are built: `cfmgml.builders.texts.word_vectors`."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from cfmgml.builders.texts.descriptions import WordDescription
from cfmgml.builders.texts.word_vectors import N_COLUMNS, WordVectors, learn_vectors
from cfmgml.common.typing import FloatArray, Json


@dataclass(frozen=True)
class CorpusVectors(WordDescription):
    """A word's vector; zeros for pairs of words, whose words have their own, and for words seldom seen."""

    vectors: WordVectors | None = None

    n_columns = N_COLUMNS
    learns = True
    node_kernel = "linear"  # lengths of vectors say how much a word counts

    def learn(self, texts: Iterable[Sequence[str]]) -> Json:
        return learn_vectors(texts).to_json()

    def recalling(self, learned: Json) -> "CorpusVectors":
        return replace(self, vectors=WordVectors.from_json(learned))

    def describe(self, words: Sequence[str]) -> FloatArray:
        if self.vectors is None:
            raise ValueError("features='corpus' describes words after it has learned from texts.")
        return self.vectors.of(words)


DESCRIPTION = CorpusVectors()
