"""Vectors of words, learned from the texts that hold them: words that stand among the same words are near one another.

1. Words that come less than `LEAST_TIMES`, and all but the `MOST_WORDS` most frequent, are left out.
2. Two words of a text that stand d apart, at most `WINDOW`, count (WINDOW + 1 - d) / WINDOW.
3. Of these counts, shifted positive pointwise mutual information (Levy and Goldberg, NeurIPS 2014), with the contexts'
   frequencies to the power .75.
4. A truncated singular value decomposition; a word's vector is U sqrt(S), scaled to length a / (a + frequency), so that
   frequent words, which say little, are short (Arora et al., ICLR 2017).

A vector is held in bytes and a scale, so that files stay small; texts are described by these from the start, so that
new ones are described exactly as the old ones were.
"""

import base64
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse
from scipy.sparse.linalg import svds

from cfmgml.common.typing import Array, FloatArray, IntArray, Json, NumberArray

N_COLUMNS = 64
MOST_WORDS = 20_000
MOST_READ = 20_000_000  # words; what comes after them is not learned from
LEAST_TIMES = 5
WINDOW = 5
SHIFT = np.log(2.0)
SMOOTHING = 0.75
FREQUENT = 1e-3  # the a above
AT_ONCE = 2_000_000  # words whose neighbours are counted together
LARGEST_BYTE = 127


@dataclass(frozen=True)
class WordVectors:
    """Words, and for each a row of bytes and what they are multiplied by."""

    words: tuple[str, ...]
    rows: Array  # (n_words, N_COLUMNS), int8
    scales: Array  # (n_words,), float32

    @classmethod
    def of_arrays(cls, words: Iterable[str], vectors: FloatArray) -> "WordVectors":
        scales = np.maximum(np.abs(vectors).max(axis=1, initial=0.0), 1e-12) / LARGEST_BYTE
        rows = np.rint(vectors / scales[:, None]).astype(np.int8)
        return cls(tuple(words), rows, scales.astype(np.float32))

    @cached_property
    def _place(self) -> dict[str, int]:
        return {word: place for place, word in enumerate(self.words)}

    def of(self, words: Sequence[str]) -> FloatArray:
        """(len(words), N_COLUMNS) in float32; zeros for a word that is not known."""
        places = np.array([self._place.get(word, -1) for word in words], dtype=np.int64)
        found = np.zeros((len(words), N_COLUMNS), dtype=np.float32)
        known = places[places >= 0]
        found[places >= 0] = self.rows[known] * self.scales[known, None]
        return found

    def to_json(self) -> Json:
        packed = {name: base64.b64encode(getattr(self, name).tobytes()).decode("ascii") for name in ("rows", "scales")}
        return {"words": list(self.words), **packed}

    @classmethod
    def from_json(cls, held: Json) -> "WordVectors":
        words = held.get("words")
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
            raise ValueError("word_vectors must hold a list of words.")
        if len(words) > MOST_WORDS or len(set(words)) < len(words):
            raise ValueError(f"word_vectors must hold at most {MOST_WORDS:,} different words, got {len(words):,}.")
        rows = _unpacked(held.get("rows", ""), np.int8, len(words) * N_COLUMNS)
        scales = _unpacked(held.get("scales", ""), np.float32, len(words))
        if not (np.isfinite(scales) & (np.abs(scales) < 1)).all():
            raise ValueError("the scales of word_vectors must be numbers below 1.")
        return cls(tuple(words), rows.reshape(-1, N_COLUMNS), scales)


def _unpacked(packed: str, dtype: DTypeLike, size: int) -> Array:
    try:
        found = np.frombuffer(base64.b64decode(packed, validate=True), dtype=dtype)
    except (TypeError, ValueError) as error:
        raise ValueError(f"the arrays of word_vectors cannot be read: {error}.") from error
    if found.size != size:
        raise ValueError(f"an array of word_vectors must hold {size} numbers, got {found.size}.")
    return found


def learn_vectors(texts: Iterable[Sequence[str]]) -> WordVectors:
    """Vectors of the words of these texts, from the words of each in order.

    >>> texts = ["warm hands", "cold hands", "fast car", "slow car", "blue sky", "red sky"] * 9
    >>> warm, cold, fast = learn_vectors(map(str.split, texts)).of(["warm", "cold", "fast"])
    >>> bool(warm @ cold > 10 * abs(warm @ fast))
    True
    """
    names, numbers, text_of = _numbered(texts)
    counts = np.bincount(numbers, minlength=len(names))
    kept = np.argsort(-counts, kind="stable")[:MOST_WORDS]
    kept = kept[counts[kept] >= LEAST_TIMES]
    place = np.full(len(names), -1, dtype=np.int32)
    place[kept] = np.arange(len(kept), dtype=np.int32)
    known = place[numbers] >= 0
    near = _near(place[numbers[known]], text_of[known], len(kept))
    vectors = _factor(_information(near))
    frequency = counts[kept] / max(len(numbers), 1)
    vectors *= (FREQUENT / (FREQUENT + frequency))[:, None]
    return WordVectors.of_arrays((names[k] for k in kept.tolist()), vectors)


def _numbered(texts: Iterable[Sequence[str]]) -> tuple[list[str], NumberArray, NumberArray]:
    """All words, each word's number in order, and the number of its text."""
    number_of: dict[str, int] = {}
    numbers, sizes = array("i"), array("i")
    for words in texts:
        numbers.extend([number_of.setdefault(word, len(number_of)) for word in words])
        sizes.append(len(words))
        if len(numbers) >= MOST_READ:
            break
    text_of = np.repeat(np.arange(len(sizes), dtype=np.int32), np.frombuffer(sizes, dtype=np.int32))
    return list(number_of), np.frombuffer(numbers, dtype=np.int32), text_of


def _near(words: NumberArray, text_of: NumberArray, n_words: int) -> sparse.csr_array:
    """How often, and how closely, two words stand together, (n_words, n_words)."""
    total = sparse.csr_array((n_words, n_words), dtype=np.float32)
    for start in range(0, len(words), AT_ONCE):
        for apart in range(1, WINDOW + 1):
            first, second = words[start : start + AT_ONCE], words[start + apart : start + apart + AT_ONCE]
            first = first[: len(second)]
            same = text_of[start : start + len(first)] == text_of[start + apart : start + apart + len(first)]
            values = np.full(int(same.sum()), (WINDOW + 1 - apart) / WINDOW, dtype=np.float32)
            total += sparse.coo_array((values, (first[same], second[same])), shape=total.shape).tocsr()
    return total + total.T


def _information(near: sparse.csr_array) -> sparse.csr_array:
    """Shifted positive pointwise mutual information."""
    own = np.asarray(near.sum(axis=1), dtype=np.float64)
    smooth = own**SMOOTHING
    row_of: IntArray = np.repeat(np.arange(near.shape[0]), np.diff(near.indptr))
    chance = own[row_of] * smooth[near.indices] / max(smooth.sum(), 1e-300)
    values = np.maximum(np.log(near.data / chance) - SHIFT, 0.0)
    found = sparse.csr_array((values, near.indices, near.indptr), shape=near.shape)
    found.eliminate_zeros()
    return found


def _factor(information: sparse.csr_array) -> FloatArray:
    """U sqrt(S), (n_words, N_COLUMNS), each row scaled to length 1; always the same for the same input."""
    n_words = information.shape[0]
    out, rank = np.zeros((n_words, N_COLUMNS)), min(N_COLUMNS, n_words - 1)
    if rank < 1 or not information.nnz:
        return out
    start = np.random.default_rng(0).normal(size=n_words)
    left, values, _ = svds(information, k=rank, v0=start, solver="arpack")
    out[:, :rank] = left * np.sqrt(np.maximum(values, 0.0))
    return np.asarray(out / np.maximum(np.linalg.norm(out, axis=1, keepdims=True), 1e-12))
