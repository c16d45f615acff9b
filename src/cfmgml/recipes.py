"""Former names: what `recipe_of` gave is `BagDataset.builder` and `CfMGML.builder_`."""

import warnings
from collections.abc import Mapping
from typing import Any

from cfmgml.data.bags import BagDataset
from cfmgml.data.builder import BagBuilder, builder_of, known_builder


class Recipe:
    """A builder, by its former methods."""

    def __init__(self, builder: BagBuilder) -> None:
        self.builder = builder

    def _build(self, sources: Any, *, names: Any = None, **options: Any) -> BagDataset:
        named = {} if names is None else {"bag_names" if self.builder.words else "names": names}
        return self.builder.rebuild(sources, **named, **options)

    build_images = build_texts = build_digits = _build


def recipe_of(info: Mapping[str, Any]) -> Recipe:
    """What ``info`` tells of the builder; use ``bags.builder.rebuild(...)`` or ``model.builder_.rebuild(...)``."""
    warnings.warn("recipe_of has become bags.builder and model.builder_.", DeprecationWarning, stacklevel=2)
    return Recipe(known_builder(builder_of(info)))
