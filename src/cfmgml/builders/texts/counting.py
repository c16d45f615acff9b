"""The vocabulary of texts that come one after the other: `count_texts`.

The same counts as `Vocabulary.count` gives, without all pairs in memory: those go to disk, in files by their hash, and
each file is counted by itself. What stays in memory is every word once, 16 bytes of every text, and what is kept.
"""

import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from cfmgml.builders.texts.cooccurrence import Pair, Vocabulary, pairs_within
from cfmgml.common.digests import short_digest

if TYPE_CHECKING:
    from cfmgml.builders.texts.builder import TextBuilder

N_FILES = 64
PAIRS_IN_MEMORY = 2**18  # before they go to disk


def count_texts(texts: Iterable[str], builder: "TextBuilder") -> Vocabulary:
    """The counts of all different texts, without weak pairs.

    >>> from cfmgml.builders.texts.builder import TextBuilder
    >>> texts = ["gene expression", "gene expression", "gene therapy", "the", "expression gene"]
    >>> count_texts(texts, TextBuilder(pairs=False, threshold=0.1))
    Vocabulary(n_texts=4, counts={'gene': 3, 'express': 2}, pairs={('express', 'gene'): 2})
    """
    numbers: dict[str, int] = {}
    counts: list[int] = []
    n_texts = 0
    with tempfile.TemporaryDirectory(prefix="cfmgml-pairs-") as folder:
        pairs = _Pairs(Path(folder))
        for n_texts, text in enumerate(different_texts(texts), 1):  # noqa: B007  # counted
            reading = builder.words_of(text)
            for key in dict.fromkeys(reading.keys):
                if numbers.setdefault(key, len(counts)) == len(counts):
                    counts.append(0)
                counts[numbers[key]] += 1
            close = pairs_within(reading, builder.window)
            pairs.add([(numbers[first], numbers[second]) for first, second in close])
        repeated = {key: counts[number] for key, number in numbers.items() if counts[number] > 1}
        known = Vocabulary(n_texts, repeated, {})
        return replace(known, pairs=pairs.strong(list(numbers), known, builder.threshold))


def different_texts(texts: Iterable[str]) -> Iterator[str]:
    """Each text once; 16 bytes of every one stay in memory."""
    seen: set[bytes] = set()
    for text in texts:
        name = short_digest(text.encode("utf-8", "surrogatepass"))
        if name not in seen:
            seen.add(name)
            yield text


class _Pairs:
    """Pairs of numbers, on disk in files by their hash."""

    def __init__(self, folder: Path) -> None:
        self.files = [folder / str(number) for number in range(N_FILES)]
        self.held: list[tuple[int, int]] = []

    def add(self, pairs: list[tuple[int, int]]) -> None:
        self.held += pairs
        if len(self.held) >= PAIRS_IN_MEMORY:
            self._spill()

    def _spill(self) -> None:
        ends = np.array(self.held, dtype=np.int64).reshape(-1, 2)
        packed, place = (ends[:, 0] << 32) | ends[:, 1], (ends[:, 0] + 31 * ends[:, 1]) % N_FILES
        for number, file in enumerate(self.files):
            with open(file, "ab") as stream:
                stream.write(packed[place == number].tobytes())
        self.held = []

    def strong(self, words: list[str], known: Vocabulary, threshold: float) -> dict[Pair, int]:
        """The pairs that occur in several texts and weigh enough."""
        self._spill()
        strong: dict[Pair, int] = {}
        for file in self.files:
            packed, counts = np.unique(np.fromfile(file, dtype=np.int64), return_counts=True)
            ends, times = packed[counts > 1], counts[counts > 1].tolist()
            numbered = zip((ends >> 32).tolist(), (ends & 0xFFFFFFFF).tolist(), times, strict=True)
            pairs = {(words[a], words[b]): n for a, b, n in numbered}
            strong |= replace(known, pairs=pairs).without_weak_pairs(threshold).pairs
        return strong
