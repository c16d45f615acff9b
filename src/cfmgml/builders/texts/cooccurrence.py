"""How often keywords occur, alone and together, over a collection of texts; and the fuzzy weights that follow.

The weight of two keywords is Dice's coefficient, ``2 n(u, v) / (n(u) + n(v))``, where n counts texts that have a
keyword, and texts that have both within a window: 1 if neither occurs without the other, near 0 if they rarely meet.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import log
from typing import Self

from cfmgml.builders.texts.keywords import Reading
from cfmgml.common.typing import Json, JsonView

Pair = tuple[str, str]


@dataclass(frozen=True)
class Vocabulary:
    """What a collection of texts says about keywords; labels play no part.

    Counts of 1 are not held: a text at hand has its own keywords and pairs, so nothing counts less than 1.

    >>> texts = [Reading(["gene", "expression"], [], [0, 1]), Reading(["gene", "therapy"], [], [0, 1])]
    >>> vocabulary = Vocabulary.count(texts, window=1)
    >>> vocabulary
    Vocabulary(n_texts=2, counts={'gene': 2}, pairs={})
    >>> round(vocabulary.weight(("expression", "gene")), 3)
    0.667
    """

    n_texts: int
    counts: Mapping[str, int]
    pairs: Mapping[Pair, int]

    @classmethod
    def count(cls, texts: Iterable[Reading], window: int) -> Self:
        n_texts, counts, pairs = 0, Counter[str](), Counter[Pair]()
        for text in texts:
            n_texts += 1
            counts.update(list(dict.fromkeys(text.keys)))  # not a set, whose order changes from run to run
            pairs.update(pairs_within(text, window))
        repeated = {key: n for key, n in counts.items() if n > 1}
        return cls(n_texts, repeated, {pair: n for pair, n in pairs.items() if n > 1})

    def idf(self, key: str) -> float:
        """``log((1 + n) / (1 + n(u))) + 1``."""
        return log((1 + self.n_texts) / (1 + self.counts.get(key, 1))) + 1

    def weight(self, pair: Pair) -> float:
        """The fuzzy weight of two keywords that stand close together in some text, in (0, 1]."""
        alone = self.counts.get(pair[0], 1) + self.counts.get(pair[1], 1)
        return min(1.0, 2 * self.pairs.get((min(pair), max(pair)), 1) / alone)

    def without_weak_pairs(self, threshold: float) -> Self:
        """Without pairs that stay under the threshold, which take most of the room."""
        strong = {pair: n for pair, n in self.pairs.items() if self.weight(pair) >= threshold}
        return type(self)(self.n_texts, self.counts, strong)

    def to_json(self) -> Json:
        pairs = {" ".join(pair): n for pair, n in self.pairs.items()}
        return {"n_texts": self.n_texts, "counts": dict(self.counts), "pairs": pairs}

    @classmethod
    def from_json(cls, values: JsonView) -> Self:
        """What `to_json` wrote."""
        try:
            split = ((pair.split(), int(n)) for pair, n in values["pairs"].items())
            pairs = {(first, second): n for (first, second), n in split}
            return cls(int(values["n_texts"]), {str(k): int(n) for k, n in values["counts"].items()}, pairs)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ValueError(
                "a vocabulary must be what bags_from_texts wrote down for its bags: n_texts, counts and pairs "
                f"({type(error).__name__}: {error})."
            ) from error


def pairs_within(text: Reading, window: int, ordered: bool = False) -> list[Pair]:
    """Keywords that stand at most ``window`` positions apart somewhere in a text: each pair once, sorted, or as they
    stand if ``ordered``.

    >>> pairs_within(Reading(["b", "a", "b", "c"], [], [0, 1, 2, 4]), window=1)
    [('a', 'b')]
    """
    pairs: dict[Pair, None] = {}
    keys, positions = text.keys, text.positions
    for i, (key, position) in enumerate(zip(keys, positions, strict=True)):
        for j in range(i + 1, len(keys)):
            if positions[j] - position > window:
                break
            if keys[j] != key:
                pairs[(key, keys[j]) if ordered or key < keys[j] else (keys[j], key)] = None
    return list(pairs)
