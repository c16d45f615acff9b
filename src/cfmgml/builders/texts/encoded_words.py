"""Words or sentences described by an encoder of one's own: `EncodedWords`."""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Literal

import numpy as np

from cfmgml.builders.texts.descriptions import WordDescription
from cfmgml.common.typing import ArrayLike, FloatArray, Json

Encode = Callable[[list[str]], ArrayLike]  # from strings to an array (n_strings, n_columns)
PROBE = ["the", "hand", "A tumour grows and the cells are small."]  # an encoder is known again by what it says of these
PROBED = 8  # columns of each
CLOSE = 1e-2  # numbers may differ a little from machine to machine


class EncodedWords(WordDescription):
    """The vector that an encoder gives a word, or a node's whole text, scaled to length 1.

    Parameters
    ----------
    encode
        A function of a list of strings that gives a vector for each, such as ``SentenceTransformer(...).encode``.
    name
        As in ``features=``. New texts are described in a process that knows an encoder of this name.
    of
        ``"words"``: nodes have the vector of their word (or pair of words), as it is spelt. ``"sentences"``: all nodes
        of a graph have the vector of its text, so that `NodeSum` compares texts by theirs.
    gamma
        Of the rbf kernel between nodes.

    Examples
    --------
    >>> from cfmgml.datasets import bags_from_texts
    >>> lengths = EncodedWords(lambda words: [[len(word), 1] for word in words], "lengths")
    >>> bags_from_texts(["Warm hands."], features=lengths).graphs.node_attributes.round(2)
    array([[0.97, 0.24],
           [0.98, 0.2 ],
           [1.  , 0.1 ]], dtype=float32)
    """

    def __init__(
        self, encode: Encode, name: str, of: Literal["words", "sentences"] = "words", gamma: float = 1.0
    ) -> None:
        if of not in ("words", "sentences"):
            raise ValueError(f"of must be 'words' or 'sentences', got {of!r}.")
        if not name:
            raise ValueError("an encoder needs a name, by which bags and models remember it.")
        self.name, self.gamma = name, gamma
        self.sees = "spellings" if of == "words" else "whole"
        self._encode = encode

    @property
    def n_columns(self) -> int:  # type: ignore[override]  # known once the encoder was asked
        return int(self._probe.shape[1])

    @cached_property
    def _probe(self) -> FloatArray:
        return self._vectors(PROBE)

    def identity(self) -> Json:
        probe = self._probe[:, :PROBED].astype(np.float64).round(4)
        return {"name": self.name, "columns": self.n_columns, "gamma": self.gamma, "probe": probe.tolist()}

    def is_like(self, identity: Json) -> bool:
        mine = self.identity()
        if any(mine[key] != identity.get(key) for key in ("name", "columns", "gamma")):
            return False
        given = np.asarray(identity["probe"], dtype=np.float64)
        return given.shape == np.shape(mine["probe"]) and bool(np.allclose(mine["probe"], given, atol=CLOSE))

    def describe(self, words: Sequence[str]) -> FloatArray:
        rows = self._vectors(list(words))
        if rows.shape[1] != self.n_columns:
            raise ValueError(
                f"encoder {self.name!r} gave {rows.shape[1]} numbers a string, and {self.n_columns} before."
            )
        return rows

    def _vectors(self, strings: list[str]) -> FloatArray:
        rows = np.asarray(self._encode(strings), dtype=np.float32)
        if rows.ndim != 2 or len(rows) != len(strings) or not rows.shape[1] or not np.isfinite(rows).all():
            raise ValueError(
                f"encoder {self.name!r} must give finite numbers of shape ({len(strings)}, n_columns) for "
                f"{len(strings)} strings, got shape {rows.shape}."
            )
        return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9))
