"""How long vectors of words take to learn (``features="corpus"``), and how much room.

    python benchmarks/word_vectors.py [--words 10000000]

Texts of 20 words, drawn by Zipf's law from 50,000; reading texts is not counted.
"""

import argparse
import json
import resource
import time

import numpy as np

from cfmgml.builders.texts.word_vectors import learn_vectors

N_DIFFERENT, WORDS, AT_ONCE = 50_000, 20, 1000


def made_up(n_words):
    rng = np.random.default_rng(0)
    words = np.array([f"w{number}" for number in range(N_DIFFERENT)])
    chances = 1 / np.arange(1, N_DIFFERENT + 1)
    chances /= chances.sum()
    for _ in range(n_words // (WORDS * AT_ONCE)):
        yield from words[rng.choice(N_DIFFERENT, size=(AT_ONCE, WORDS), p=chances)].tolist()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--words", type=int, default=10_000_000)
    n_words = parser.parse_args().words
    texts = list(made_up(n_words))
    start = time.process_time()
    vectors = learn_vectors(texts)
    seconds = time.process_time() - start
    size, peak = len(json.dumps(vectors.to_json())) / 2**20, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
    print(f"{n_words:,} words: {seconds:.1f} CPU s, {len(vectors.words):,} vectors: {size:.1f} MiB; peak {peak:.0f}")


if __name__ == "__main__":
    main()
