"""How results are presented: in which order, in which words, and with which published figures beside them."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from cfmgml.evaluation.facts import Facts
from cfmgml.evaluation.measures import Measure


class PublishedFigure(NamedTuple):
    """A cell of somebody's tables."""

    mean: float
    deviation: float


class Presentation:
    """For anybody's data, with which nothing is published; `cfmgml.paper` has another one."""

    order: Sequence[str] = ()  # of data sets; others come after them by name
    selections: Mapping[str, tuple[str, str]] = {  # their names for programs, their titles for people
        "reported": ("reported", "chosen on the reported folds, which flatters"),
        "nested": ("nested", "chosen in training folds"),
    }
    lead = (
        "For each method stand its figures with the parameter chosen on the very folds that are reported, which "
        "flatters, and with the parameter chosen honestly"
    )
    graphs_lead = "The share of graphs whose best label is a true one, learned from the labels of bags only."
    setting_note = "The best over all reported folds; in brackets, how often each was chosen in training folds."
    stand_in_note = "† stands in for other data."
    floor_is_rival = False  # whether who learns nothing may be bold where others are better, but not told apart
    tells_best = True  # whether the best are bold: not where figures say nothing about the methods
    published_prefix = ""  # of the columns of published figures, in files for programs

    def published(self, fact: Facts, method: str, measure: Measure) -> PublishedFigure | None:
        """The published figure of a method on a data set, if there is one."""
        return None

    def published_title(self, method: str) -> str:
        """The row of a method's published figures."""
        return ""

    def measure_notes(self, measure: Measure) -> tuple[str, ...]:
        """What to say of a measure under its table."""
        return ()
