"""From pictures and from texts to bags: made-up pictures of 96 x 96 pixels, made-up texts of 8 sentences."""

import numpy as np

from questions import Contender, Question

WORDS = 400


def pictures(n):
    rng = np.random.default_rng(0)
    squares = np.kron(rng.integers(0, 128, (n, 6, 6, 3)), np.ones((1, 16, 16, 1), dtype=np.int64))
    return list((squares + rng.integers(0, 128, (n, 96, 96, 3))).astype(np.uint8))


def texts(n):
    rng = np.random.default_rng(0)
    words = ["".join(letters) for letters in rng.choice(list("abcdefghijklmnop"), (WORDS, 6))]
    weights = 1 / np.arange(1, WORDS + 1)
    draw = rng.choice(WORDS, (n, 8, 12), p=weights / weights.sum())
    return [[" ".join(words[w] for w in sentence) + "." for sentence in text] for text in draw]


def from_images(images):
    from cfmgml.datasets import bags_from_images

    bags_from_images(images, n_jobs=1)


def from_texts(documents):
    from cfmgml.datasets import bags_from_texts

    bags_from_texts(documents)


QUESTION = Question(
    "Building bags",
    "pictures or texts",
    sizes=(20, 40, 80),
    quick=(4, 8),
    contenders={"pictures": Contender(pictures, from_images), "texts": Contender(texts, from_texts)},
    warm_up=2,
)
