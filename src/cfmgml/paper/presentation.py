"""Results in the words of the paper, its printed figures beside ours."""

from collections.abc import Mapping

from cfmgml.evaluation.facts import Facts
from cfmgml.evaluation.measures import Measure
from cfmgml.evaluation.presentation import Presentation, PublishedFigure
from cfmgml.paper.catalogue import DATA_SETS
from cfmgml.paper.printed_figures import NOT_COMPARABLE, paper_figure

PRINTED_NAMES = {
    "cfmgml": "cfMGML", "terms": "cfMGML", "paper": "cfMGML", "printed": "cfMGML", "single": "cfMGML(G)", "hlk": "HLK",
    "m3miml-vectors": "M3MIML", "mimlfast": "MIMLfast", "mgmlent": "MGMLent", "sgsl-svm": "SGSL_SVM", "dummy": "Dummy",
}  # fmt: skip  # what the paper's tables call our methods


class PaperPresentation(Presentation):
    """For the data sets of `cfmgml.paper.catalogue`."""

    order = tuple(DATA_SETS)
    floor_is_rival = True  # it says something of the data
    selections: Mapping[str, tuple[str, str]] = {
        "reported": ("paper", "ours, chosen as in the paper"),
        "nested": ("nested", "ours, chosen in training folds"),
    }
    lead = (
        "For each method stand the paper’s figure, where it has one; ours with the parameter chosen as the paper does "
        "(the best over the very folds that are reported); and ours with the parameter chosen honestly"
    )
    graphs_lead = (
        "The share of graphs whose best label is a true one, learned from the labels of bags only: the paper’s first "
        "table."
    )
    setting_note = (
        "As in the paper (the best over all reported folds); in brackets, how often each was chosen in training folds."
    )
    stand_in_note = "† stands in for data that is not public; it is not the paper’s data, and its figures are not its."
    published_prefix = "paper_"

    def published(self, fact: Facts, method: str, measure: Measure) -> PublishedFigure | None:
        return paper_figure(fact["column"], PRINTED_NAMES.get(method), measure.level, measure.key)

    def published_title(self, method: str) -> str:
        return f"the paper’s {PRINTED_NAMES[method]}".replace("_", " ")

    def measure_notes(self, measure: Measure) -> tuple[str, ...]:
        if measure.level != "bag" or measure.key not in NOT_COMPARABLE:
            return ()
        return ("The paper’s figures for this measure follow no definition we know: do not compare them with ours.",)
