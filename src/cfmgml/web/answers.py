"""From an input to an answer: build its graphs, ask the model, and say where on the input the nodes lie.

Nothing is computed here that the model does not say: scores are `decision_function_graphs`, a bag's score is its best
graph's, contributions are `explain` and what is painted is `paint`.
"""

import contextlib
import io
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, cast

import numpy as np

from cfmgml.common.segments import segment_max
from cfmgml.common.tables import text_formats
from cfmgml.common.typing import FloatArray, IntArray
from cfmgml.data.bags import BagDataset
from cfmgml.data.builder import BagBuilder
from cfmgml.data.questions import Question, Reply, Route
from cfmgml.learning.predictions import prediction_table
from cfmgml.model.cfmgml import CfMGML
from cfmgml.plots.colours import hex_colours
from cfmgml.web.corrections import corrected_bags
from cfmgml.web.exhibits import check_servable
from cfmgml.web.familiarity import Familiarity
from cfmgml.web.limits import Limits, Refused
from cfmgml.web.own_graphs import build_own

THRESHOLD = 0.0  # above it every score means yes; a label's own is never higher


@dataclass(frozen=True)
class Analyst:
    """A model that answers for one input at a time."""

    model: CfMGML
    limits: Limits = field(default_factory=Limits)
    table: tuple[str, str] | None = None  # instead of an answer: the level and the format of a table of predictions

    def answer(self, route: Route, question: Question) -> dict[str, Any] | bytes:
        """The answer to what came by a route: an image's or a file's bytes, a text or several, graphs as JSON."""
        builder = check_servable(self.model)
        if builder.form.route != route:
            nouns = f"{route.removesuffix('s')}s"
            reason = f"This model reads {builder.kind}, not {nouns}: send them to /{builder.form.route}."
            raise Refused(422, "wrong_input", reason)
        if isinstance(question.content, bytes) and route == "graphs":
            return self._answer(builder, build_own(question.content, self.model.kernel_, self.limits))
        return self._answer(builder, builder.ask(question, self.limits), self._drawn(question.drawn))

    def bags(self, inputs: list[dict[str, Any]]) -> bytes:
        """A file of bags, of inputs with their labels."""
        return corrected_bags(self.model, inputs, self.limits)

    @cached_property
    def _familiarity(self) -> Familiarity:
        return Familiarity(self.model.learned_.scorer, self.model.learned_.seen)

    def warm_up(self) -> None:
        """Import and compile what the first request would otherwise wait for."""
        builder = check_servable(self.model)
        example = builder.example()
        if example is not None:
            with contextlib.suppress(Refused):
                self.answer(builder.form.route, example)

    def _answer(self, builder: BagBuilder, built: Reply, drawn: slice = slice(None)) -> dict[str, Any] | bytes:
        if built.bag.graphs.n_nodes > self.limits.nodes:
            reason = f"The input has {built.bag.graphs.n_nodes:,} nodes; {self.limits.nodes:,} are the most."
            raise Refused(413, "too_many_nodes", reason)
        if self.table is not None:
            return self._table(built.bag, *self.table)
        scores = self.model.decision_function_graphs(built.bag)
        of_bag = segment_max(scores, built.bag.bag_ptr)[0]
        order = np.argsort(-of_bag, kind="stable")
        ptr = built.bag.graphs.node_ptr
        nodes = self.model.explain(built.bag) if self.model.kernel_.is_additive else None
        drawing: dict[str, Any] = {}
        if built.drawn:
            told = None if nodes is None else nodes[:, drawn]
            named = replace(built.bag, label_names=self.model.label_names_[drawn])
            drawing["drawing"] = _drawing(builder, named, scores[:, drawn], told)
        if nodes is not None and "picture" in built.shown:
            drawing["painting"] = self._painting(built.bag, nodes, of_bag)
        return {
            "kind": builder.kind,
            "threshold": THRESHOLD,
            "thresholds": self.model.thresholds_.tolist(),
            "label_names": self.model.label_names_.tolist(),
            "labels": self._labels(built.bag, scores, of_bag, order),
            "graphs": [
                {"nodes": [int(ptr[k]), int(ptr[k + 1])], "scores": row.tolist(), **entry}
                for k, (row, entry) in enumerate(zip(scores, built.graphs, strict=True))
            ],
            "explanation": None if nodes is None else self._explanation(nodes, order[: self.limits.explained]),
            "familiarity": self._familiarity.of(built.bag.graphs, builder.part, _words(builder, built)),
            **built.shown,
            **drawing,
        }

    def _table(self, bag: BagDataset, level: str, form: str) -> bytes:
        """What ``cfmgml predict`` would write."""
        if level == "node" and not self.model.kernel_.is_additive:
            raise Refused(422, "no_nodes", "This model's scores are no sums over nodes: ask for bag or graph.")
        text = io.BytesIO()
        text_formats()[form].write(text, prediction_table(self.model, bag, level))
        return text.getvalue()

    def _labels(self, bag: BagDataset, scores: FloatArray, of_bag: FloatArray, order: IntArray) -> list[dict[str, Any]]:
        chances = self.model.predict_proba(bag)[0] if self.model.calibration_ is not None else None
        decider, margins = scores.argmax(axis=0), of_bag - self.model.thresholds_
        return [
            {
                "name": str(self.model.label_names_[c]),
                "score": float(of_bag[c]),
                "margin": float(margins[c]),
                "predicted": bool(margins[c] > 0),
                "decided_by": int(decider[c]),
                "probability": None if chances is None else float(chances[c]),
            }
            for c in order
        ]

    def _explanation(self, contributions: FloatArray, columns: IntArray) -> dict[str, Any]:
        """What every node adds to the best labels, one row a label."""
        return {
            "labels": self.model.label_names_[columns].tolist(),
            "intercepts": np.asarray(self.model.intercept_, dtype=np.float64)[columns].tolist(),
            "contributions": contributions[:, columns].T.tolist(),
        }

    def _painting(self, bag: BagDataset, contributions: FloatArray, of_bag: FloatArray) -> dict[str, Any]:
        """What `paint` gives, among the labels that are predicted."""
        painted = self.model.learned_.paint(bag, contributions, of_bag[None] > self.model.thresholds_)
        return {"nodes": painted.tolist(), "colours": hex_colours(len(self.model.label_names_))}

    def _drawn(self, label: str | None) -> slice:
        """The labels that a drawing knows of: it is about the best of them."""
        if label is None:
            return slice(None)
        names = self.model.label_names_.tolist()
        if label not in names:
            raise Refused(422, "no_such_label", f"The model has no such label; it has {', '.join(names)}.")
        return slice(names.index(label), names.index(label) + 1)


def _drawing(builder: BagBuilder, bag: BagDataset, scores: FloatArray, contributions: FloatArray | None) -> str | None:
    """The bag as its builder draws it, as an SVG; None where matplotlib is not installed."""
    own = builder.svg(bag, contributions, scores)
    if own is not None:
        return own
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return None
    figure = Figure(figsize=(max(5.0, min(3.2 * bag.n_graphs, 18.0)), 4.4))
    place = figure.add_axes((0.02, 0.02, 0.96, 0.86))
    drawn = cast(Figure, builder.show(bag, 0, contributions, scores=scores, ax=place).figure)
    stream = io.StringIO()
    drawn.savefig(stream, format="svg")
    drawn.clear()  # it may be one that pyplot keeps
    return stream.getvalue()


def _words(builder: BagBuilder, built: Reply) -> IntArray | None:
    """The nodes that are words of a text, each once; None where nodes are no words."""
    if not builder.words:
        return None
    return np.unique([node for text in built.shown["texts"] for *_, node in text["marks"]]).astype(np.int64)
