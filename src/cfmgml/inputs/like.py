"""New input built as a data set or a model's training data were: `bags_like`."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from cfmgml.common.files import read_header
from cfmgml.data.bags import BagDataset
from cfmgml.inputs.digits import digit_bags
from cfmgml.inputs.graphs import graph_bags
from cfmgml.inputs.images import image_bags
from cfmgml.inputs.texts import text_bags
from cfmgml.model.cfmgml import CfMGML
from cfmgml.recipes import check_same_recipe, recipe_of
from cfmgml.stores import BagStore, is_store


@dataclass(frozen=True)
class Pattern:
    """What to build new input like: ``info`` says how, ``label_names`` which labels there are."""

    info: dict[str, Any]
    label_names: list[str] | None

    @classmethod
    def of_model(cls, model: CfMGML) -> "Pattern":
        return cls(dict(model.info_), model.label_names_.tolist())


def read_pattern(path: str | Path) -> Pattern:
    """The pattern that a file of bags or of a model is, or a store."""
    if is_store(path):
        store = BagStore(path)
        return Pattern(dict(store.info), None if store.label_names is None else store.label_names.tolist())
    if read_header(path)["kind"] == "CfMGML":
        return Pattern.of_model(CfMGML.load(path))
    bags = BagDataset.load(path)
    return Pattern(dict(bags.info), None if bags.label_names is None else bags.label_names.tolist())


def bags_like(
    pattern: Pattern,
    sources: Sequence[str | Path],
    *,
    labels: str | Path | Literal[False] | None = None,
    **options: Any,
) -> BagDataset:
    """Bags from raw input, built as the pattern was; or from a file of bags, refused if they were built another way.

    ``labels`` is a table, None for those that come with the input, or False for none; ``options`` are those of
    `image_bags`, `text_bags` or `graph_bags`, whichever the pattern's recipe asks for.
    """
    if not sources:
        raise ValueError("no input was named.")
    if len(sources) == 1 and str(sources[0]).endswith(".bags"):
        bags = BagDataset.load(sources[0])
        check_same_recipe(pattern.info, bags.info)
        return bags
    bags = _build(pattern, sources, {"labels": labels, **options})
    if bags.label_names is None and pattern.label_names is not None:  # which labels can be predicted
        bags = replace(bags, label_names=np.array(pattern.label_names))
    return bags


def _build(pattern: Pattern, sources: Sequence[str | Path], options: dict[str, Any]) -> BagDataset:
    recipe = recipe_of(pattern.info)
    if recipe.kind == "images":
        return image_bags(sources, recipe=recipe, label_names=pattern.label_names, **options)
    if recipe.kind == "texts":
        return text_bags(sources, recipe=recipe, label_names=pattern.label_names, **options)
    if recipe.kind == "digits":
        return digit_bags(sources, recipe=recipe)
    chosen = {name: recipe.parameters.get(name) for name in ("node_label", "node_attributes")}
    return graph_bags(sources, label_names=pattern.label_names, **chosen, **options)
