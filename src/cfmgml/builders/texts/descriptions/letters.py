"""Words by their runs of three letters, so that words that are spelt alike are near one another."""

import zlib
from collections.abc import Sequence

import numpy as np

from cfmgml.builders.texts.descriptions import WordDescription
from cfmgml.common.typing import FloatArray


class Letters(WordDescription):
    """Counts of runs, each in the column and with the sign that a checksum gives it; scaled to length 1.

    >>> tumour, tumours, gene = Letters().describe(["tumour", "tumours", "gene"])
    >>> bool(tumour @ tumours > 0.7), bool(abs(tumour @ gene) < 0.3)
    (True, True)
    """

    n_columns = 256

    def describe(self, words: Sequence[str]) -> FloatArray:
        rows = np.zeros((len(words), self.n_columns), dtype=np.float32)
        for row, word in zip(rows, words, strict=True):
            framed = f"<{word}>"
            for start in range(len(framed) - 2):
                number = zlib.crc32(framed[start : start + 3].encode())
                row[number // 2 % self.n_columns] += 1 - 2 * (number % 2)
        return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9))


DESCRIPTION = Letters()
