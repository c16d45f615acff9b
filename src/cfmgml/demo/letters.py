"""A model of texts for ``cfmgml demo --serve``: letters of words on three subjects, and some written by hand."""

import numpy as np

from cfmgml.datasets import bags_from_texts
from cfmgml.kernels import WeisfeilerLehman
from cfmgml.model.cfmgml import CfMGML
from cfmgml.web.exhibits import Exhibit, Sample

N_LETTERS = 80
SUBJECTS = {
    "music": ["melody", "rhythm", "orchestra", "violin", "concert", "singer", "harmony", "drums", "choir", "piano"],
    "sport": ["goal", "match", "referee", "player", "season", "trainer", "league", "stadium", "team", "penalty"],
    "cooking": ["recipe", "butter", "oven", "flour", "pepper", "kitchen", "dough", "garlic", "onion", "pan"],
}
PHRASES = (  # words of no subject among the subjects': with one phrase only, whatever people write would be strange
    "The {0} {verb} the {1} {end}.",
    "The {0} and the {1} {verb} the {2}.",
    "There was {0} and {1} {end}, and nobody {verb} the {2}.",
)
VERBS = ("saved", "lost", "kept", "left", "saw", "took", "found", "brought")
ENDS = ("at home", "before that", "late in the evening", "on the floor", "in the end", "and waited", "for a new one")
SAMPLES = (
    Sample(
        "an evening out",
        "The violin was out of tune, but the choir saved the concert. "
        "Before that our team lost the match by a late penalty. "
        "At home there was garlic and butter in the pan.",
        truth=("music", "sport", "cooking"),
    ),
    Sample(
        "a bad season",
        "The trainer left, and the league has a new referee. Nobody in the stadium saw the goal.",
        truth=("sport", "sport"),
    ),
    Sample(
        "dinner with a piano",
        "Put the dough into the oven and wait. "
        "The singer and the piano kept the rhythm until the flour was on the floor.",
        truth=("cooking", "music"),
    ),
)


def letters_exhibit() -> Exhibit:
    """The model and its samples; it is calibrated, so that the page shows probabilities."""
    return Exhibit(
        train_letters(),
        title="Texts",
        about=f"Learned from {N_LETTERS} letters, put together by chance from words on music, sport and cooking and "
        "from everyday ones, and from the subjects of each letter; nobody told it which sentence is about what. The "
        "samples were written by hand.",
        samples=SAMPLES,
    )


def train_letters(seed: int = 0) -> CfMGML:
    """A model of the letters' subjects."""
    rng = np.random.default_rng(seed)
    chosen = [rng.choice(list(SUBJECTS), rng.integers(1, 3), replace=False).tolist() for _ in range(N_LETTERS)]
    texts = [" ".join(_sentence(subject, rng) for subject in subjects) for subjects in chosen]
    labels = [[subject in subjects for subject in SUBJECTS] for subjects in chosen]
    bags = bags_from_texts(texts, labels, label_names=list(SUBJECTS))
    return CfMGML(WeisfeilerLehman(n_iter=1), alpha=1e-3, probability=True, random_state=seed).fit(bags)


def _sentence(subject: str, rng: np.random.Generator) -> str:
    words = rng.choice(SUBJECTS[subject], 3, replace=False)
    return str(rng.choice(PHRASES)).format(*words, verb=rng.choice(VERBS), end=rng.choice(ENDS))
