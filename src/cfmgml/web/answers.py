"""From an input to an answer: build its graphs, ask the model, and say where on the input the nodes lie.

Nothing is computed here that the model does not say: scores are `decision_function_graphs`, a bag's score is its best
graph's, and contributions are `explain`.
"""

import io
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from scipy import ndimage

from cfmgml.builders.pictures.image_files import ImageError
from cfmgml.builders.pictures.picture_graphs import Recipe as PictureRecipe
from cfmgml.builders.pictures.picture_graphs import regions_and_superpixels
from cfmgml.builders.pictures.regions import find_regions
from cfmgml.builders.texts.keyword_graphs import find_nodes
from cfmgml.builders.texts.keywords import normal_form
from cfmgml.builders.texts.sentences import split_sentences
from cfmgml.common.segments import segment_ids, segment_max
from cfmgml.common.tables import text_formats
from cfmgml.common.typing import FloatArray, IntArray
from cfmgml.data.bags import BagDataset
from cfmgml.datasets.digits import SIDE
from cfmgml.inputs.digits import digits_of_strip
from cfmgml.learning.predictions import prediction_table
from cfmgml.model.cfmgml import CfMGML
from cfmgml.recipes import Recipe
from cfmgml.web.exhibits import check_servable
from cfmgml.web.limits import Limits, Refused
from cfmgml.web.own_graphs import build_own
from cfmgml.web.uploads import decode_picture

THRESHOLD = 0.0  # of all scores: the intercepts are learned


class Built(NamedTuple):
    """One bag, and what to say of where its graphs and nodes lie."""

    bag: BagDataset
    graphs: list[dict[str, Any]]  # an entry a graph
    shown: dict[str, Any]  # "picture" or "texts"


@dataclass(frozen=True)
class Analyst:
    """A model that answers for one input at a time."""

    model: CfMGML
    limits: Limits = field(default_factory=Limits)
    table: tuple[str, str] | None = None  # instead of an answer: the level and the format of a table of predictions

    def image(self, data: bytes, regions: int | None = None) -> dict[str, Any] | bytes:
        """The answer for an image's bytes; for digits, a strip of them."""
        recipe = check_servable(self.model)
        builders: dict[str, Callable[[], Built]] = {
            "images": lambda: build_photo(data, recipe, self.limits, regions),
            "digits": lambda: build_strip(data, recipe, self.limits),
        }
        if recipe.kind not in builders:
            raise Refused(422, "wrong_input", f"This model reads {recipe.kind}, not images.")
        try:
            return self._answer(builders[recipe.kind]())
        except ImageError as error:
            reason = str(error)
            raise Refused(422, "unusable_image", f"{reason[:1].upper()}{reason[1:]}") from error

    def text(self, texts: str | list[str]) -> dict[str, Any] | bytes:
        """The answer for a text, which is a bag of its sentences, or for a list of texts."""
        recipe = check_servable(self.model)
        if recipe.kind != "texts":
            raise Refused(422, "wrong_input", f"This model reads {recipe.kind}, not texts.")
        return self._answer(build_text(texts, recipe, self.limits))

    def graphs(self, data: bytes) -> dict[str, Any] | bytes:
        """The answer for a bag of graphs as JSON, of a model that learned from somebody's own graphs."""
        recipe = check_servable(self.model)
        if recipe.kind != "graphs":
            raise Refused(422, "wrong_input", f"This model reads {recipe.kind}, not graphs.")
        return self._answer(Built(*build_own(data, self.model.kernel_, self.limits)))

    def _answer(self, built: Built) -> dict[str, Any] | bytes:
        if built.bag.graphs.n_nodes > self.limits.nodes:
            reason = f"The input has {built.bag.graphs.n_nodes:,} nodes; {self.limits.nodes:,} are the most."
            raise Refused(413, "too_many_nodes", reason)
        if self.table is not None:
            return self._table(built.bag, *self.table)
        scores = self.model.decision_function_graphs(built.bag)
        of_bag = segment_max(scores, built.bag.bag_ptr)[0]
        order = np.argsort(-of_bag, kind="stable")
        ptr = built.bag.graphs.node_ptr
        return {
            "kind": check_servable(self.model).kind,
            "threshold": THRESHOLD,
            "label_names": self.model.label_names_.tolist(),
            "labels": self._labels(built.bag, scores, of_bag, order),
            "graphs": [
                {"nodes": [int(ptr[k]), int(ptr[k + 1])], "scores": row.tolist(), **entry}
                for k, (row, entry) in enumerate(zip(scores, built.graphs, strict=True))
            ],
            "explanation": self._explanation(built.bag, order[: self.limits.explained]),
            **built.shown,
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
        decider = scores.argmax(axis=0)
        return [
            {
                "name": str(self.model.label_names_[c]),
                "score": float(of_bag[c]),
                "margin": float(of_bag[c] - THRESHOLD),
                "predicted": bool(of_bag[c] > THRESHOLD),
                "decided_by": int(decider[c]),
                "probability": None if chances is None else float(chances[c]),
            }
            for c in order
        ]

    def _explanation(self, bag: BagDataset, columns: IntArray) -> dict[str, Any] | None:
        """Contributions of every node to the best labels, one row a label; None if the kernel is no sum over nodes."""
        if not self.model.kernel_.is_additive:
            return None
        contributions = self.model.explain(bag)
        return {
            "labels": self.model.label_names_[columns].tolist(),
            "intercepts": np.asarray(self.model.intercept_, dtype=np.float64)[columns].tolist(),
            "contributions": contributions[:, columns].T.tolist(),
        }


# -- building --------------------------------------------------------------------------------


def build_photo(data: bytes, recipe: Recipe, limits: Limits, regions: int | None) -> Built:
    """The regions of a photo.

    They are found once and given to the builder as a mask, and so are the graphs those that it makes without one.
    """
    settled = PictureRecipe.from_json({**PictureRecipe().to_json(), **recipe.parameters, "min_pixels": 1, "void": [0]})
    most = min(settled.max_regions if regions is None else regions, limits.regions)
    picture = decode_picture(data, limits, settled.max_side)
    found = None if settled.single_graph else find_regions(picture.pixels, most)
    masks = None if found is None else [found]
    bag = Recipe("images", settled.to_json()).build_images([picture.pixels], masks, names=["image"], verbose=False)
    superpixels, _ = regions_and_superpixels(picture.pixels, found, settled)
    region = np.append(segment_ids(superpixels.node_ptr), -1)[superpixels.numbers]
    entries = [
        {"name": f"region {k + 1}", "at": _inside(region == k), "share": float((region == k).mean())}
        for k in range(bag.n_graphs)
    ]
    height, width = picture.original_size
    return Built(bag, entries, {"picture": _picture(superpixels.numbers, region, (width, height))})


def build_strip(data: bytes, recipe: Recipe, limits: Limits) -> Built:
    """The digits of a strip."""
    pixels = decode_picture(data, limits).pixels
    digits = digits_of_strip(pixels)
    bag = recipe.build_digits(digits)
    n_digits = len(digits)
    nodes = np.full((n_digits, SIDE, SIDE), -1, dtype=np.int64)
    assert bag.graphs.node_attributes is not None
    row, column = bag.graphs.node_attributes[:, :2].astype(np.int64).T
    nodes[segment_ids(bag.graphs.node_ptr), row, column] = np.arange(bag.graphs.n_nodes)
    region = np.tile(np.repeat(np.arange(n_digits), SIDE), (SIDE, 1))
    entries = [
        {"name": f"digit {k + 1}", "at": [(k + 0.5) * SIDE, SIDE / 2], "share": 1 / n_digits} for k in range(n_digits)
    ]
    numbers = nodes.transpose(1, 0, 2).reshape(SIDE, -1)
    return Built(bag, entries, {"picture": _picture(numbers, region, (pixels.shape[1], pixels.shape[0]))})


def build_text(texts: str | list[str], recipe: Recipe, limits: Limits) -> Built:
    """The sentences of a text, or the texts given, each with the places of its keywords."""
    _check_length(len(texts) if isinstance(texts, str) else sum(map(len, texts)), limits)
    parts = split_sentences(texts) if isinstance(texts, str) else texts
    if any("\ud800" <= letter <= "\udfff" for part in parts for letter in part):
        raise Refused(422, "bad_text", "The text holds half of a surrogate pair, which is no character.")
    if not any(part.strip() for part in parts):
        raise Refused(422, "no_text", "There is no text.")
    if len(parts) > limits.texts:
        reason = f"The text has {len(parts):,} sentences; {limits.texts:,} are the most."
        raise Refused(413, "too_many_graphs", reason)
    normal = [normal_form(part) for part in parts]
    _check_length(sum(map(len, normal)), limits, " in Unicode's normal form")  # where one can become 18
    bag = recipe.build_texts([parts])
    stem = bool(recipe.parameters.get("stem", True))
    shown = [_marked(part, bag, k, stem) for k, part in enumerate(normal)]
    whole = bag.n_graphs == 1 and len(parts) > 1
    entries = [{"name": "text" if whole else f"sentence {k + 1}"} for k in range(bag.n_graphs)]
    return Built(bag, entries, {"texts": shown})


def _check_length(n_characters: int, limits: Limits, where: str = "") -> None:
    if n_characters > limits.characters:
        reason = f"The text has {n_characters:,} characters{where}; {limits.characters:,} are the most."
        raise Refused(413, "text_too_long", reason)


def _marked(text: str, bag: BagDataset, number: int, stem: bool) -> dict[str, Any]:
    graph = number if bag.n_graphs > 1 else 0
    start, stop = bag.graphs.node_ptr[graph : graph + 2].tolist()
    assert bag.graphs.node_labels is not None
    found = find_nodes(text, bag.graphs.node_labels[start:stop], stem)
    return {
        "graph": graph,
        "text": text,
        "marks": [[word.start, word.stop, start + node] for word, node in found],
    }


def _picture(nodes: IntArray, regions: IntArray, original: tuple[int, int]) -> dict[str, Any]:
    height, width = nodes.shape
    size = {"width": width, "height": height, "original_width": original[0], "original_height": original[1]}
    return {**size, "nodes": run_lengths(nodes), "regions": run_lengths(regions)}


def run_lengths(numbers: IntArray) -> list[int]:
    """Value, length, value, length, ... row after row.

    >>> run_lengths(np.array([[3, 3], [3, -1]]))
    [3, 3, -1, 1]
    """
    flat = numbers.ravel()
    starts = np.append(np.flatnonzero(np.diff(flat, prepend=flat[0] - 1)), len(flat))
    return np.stack([flat[starts[:-1]], np.diff(starts)], axis=1).ravel().tolist()


def _inside(mask: Any) -> list[float]:
    """The point of a region that is furthest from its outline, for its label: x, y."""
    depth = ndimage.distance_transform_edt(np.pad(mask, 1))[1:-1, 1:-1]
    y, x = np.unravel_index(int(depth.argmax()), depth.shape)
    return [float(x) + 0.5, float(y) + 0.5]
