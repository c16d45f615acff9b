"""Ways to learn that are worth trying: once, or again from one's own annotation, with context or without, and once with
rare labels weighing as much as frequent ones."""

from dataclasses import dataclass

from cfmgml.learning.training import Alpha

ONCE = (1e-2, 1e-3, 1e-4, 3e-5, 1e-5, 1e-6)  # alphas to choose from
FEWER = (1e-4, 3e-5, 1e-5)  # with context, or again
BALANCED = (3e-3, 1e-3, 3e-4)  # terms that are not divided by the number of labels need larger ones
ROUNDS = 3  # most: a second round already changes little
CONTEXT = 0.6
ALIKE_TERMS = {"loss": "hamming", "term_weights": "sum"}  # every label of every bag weighs the same, as in MI-SVM

Settings = dict[str, float | str]


@dataclass(frozen=True)
class Way:
    """Parameters of a `CfMGML`, and the alphas that go with them; a tuple is the mean of the models for each."""

    settings: Settings
    alphas: tuple[Alpha, ...]


def ways(context: float | None = None, refine: int | None = None, scale: str = "mean") -> dict[str, Way]:
    """Ways to learn, by name, with the context and the rounds of refinement that are given; None tries both.

    ``scale`` is how loudly a bag speaks where labels weigh the same, rare ones too (`BagBuilder.context_scale`).

    >>> list(ways())
    ['once', 'once, context 0.6', 'once, balanced, context 0.6', 'again, context 0.6']
    >>> list(ways(context=0.3, refine=2)), list(ways(refine=0))
    (['again, context 0.3'], ['once'])
    """
    found = dict[str, Way]()
    share = context if context is not None else 0.0 if refine == 0 else CONTEXT
    if not refine:
        if not context:
            found["once"] = Way({"context": 0.0, "refine": 0}, ONCE)
        if share:
            found["once" + _with(share)] = Way({"context": share, "refine": 0}, (*FEWER, FEWER))
    if refine is None:
        fair: Settings = {**ALIKE_TERMS, "class_weight": "balanced", "context": share, "refine": 0}
        fair["context_scale"] = scale
        found["once, balanced" + _with(share)] = Way(fair, (*BALANCED, BALANCED))
    if refine != 0:
        found["again" + _with(share)] = Way({"refine": refine or ROUNDS, "context": share}, (*FEWER, FEWER))
    return found


def _with(share: float) -> str:
    return f", context {share:g}" if share else ""
