"""How a data set was built, and how to build new bags the same way: `recipe_of`.

A builder leaves in ``info`` what it did; a model keeps its training data's ``info``. So whoever has a model can build
new pictures or texts exactly as those it learned from:

>>> from cfmgml.datasets import bags_from_texts
>>> train = bags_from_texts(["Gene expression changes. Gene expression again.", "A tumour grows fast."], window=1)
>>> recipe = recipe_of(train.info)
>>> recipe
Recipe(texts: max_keywords=40, single_graph=False, stem=True, stop_words='english', threshold=0.1, window=1)
>>> recipe.build_texts(["Tumour gene expression."]).graphs.node_names.tolist()
['tumour', 'gene', 'expression']
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from cfmgml.common.segments import offsets
from cfmgml.common.typing import ArrayLike
from cfmgml.data.bags import BagDataset
from cfmgml.data.builds import check_same_recipe

if TYPE_CHECKING:
    from cfmgml.builders.pictures.picture_build import PictureBuild

__all__ = ["Kind", "Recipe", "check_same_recipe", "recipe_of"]

Kind = Literal["images", "texts", "digits", "graphs"]


@dataclass(frozen=True, repr=False)
class Recipe:
    """How bags are built from raw input.

    Parameters
    ----------
    kind
        What the input is: ``"images"``, ``"texts"``, ``"digits"`` (8 x 8 pixels each), or ``"graphs"`` for graphs that
        somebody else made.
    parameters
        The builder's keyword arguments.
    vocabulary
        For texts: the counts that decide which words are keywords and which of them are joined.
    version
        Of the builder; another one would make other graphs, and is refused. None: not known.
    """

    kind: Kind
    parameters: Mapping[str, Any] = field(default_factory=dict)
    vocabulary: Mapping[str, Any] | None = None
    version: int | None = None

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise ValueError(f"kind must be one of {', '.join(get_args(Kind))}, got {self.kind!r}.")

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, value in sorted(self.parameters.items()))
        return f"Recipe({self.kind}: {shown})" if shown else f"Recipe({self.kind})"

    def build_images(
        self,
        images: str | Path | Sequence[Any],
        segments: str | Path | Sequence[Any] | None = None,
        *,
        names: Sequence[str] | None = None,
        max_regions: int | None = None,
        **options: Any,
    ) -> BagDataset:
        """Bags from pictures: a folder, or a list of files and arrays.

        ``max_regions`` overrides the recipe's; ``options`` (labels, ``n_jobs``, ``on_error``, ...) go to
        `bags_from_images`, but what the recipe settles may not be among them.

        >>> from skimage import data
        >>> recipe_of({"builder": "images", "parameters": {"nodes": "labels"}}).build_images([data.coffee()])
        BagDataset(1 bags, 8 graphs, 0 labels; no Y)
        """
        return self.picture_build(images, segments, names=names, max_regions=max_regions, **options).load()

    def picture_build(
        self, images: Any, segments: Any = None, *, max_regions: int | None = None, **options: Any
    ) -> "PictureBuild":
        """What `build_images` builds, to be built a few pictures at a time."""
        from cfmgml.builders.pictures.picture_build import PictureBuild
        from cfmgml.builders.pictures.picture_graphs import RECIPE_VERSION

        self._expect("images", RECIPE_VERSION)
        settled = dict(self.parameters)
        if max_regions is not None:
            settled["max_regions"] = max_regions
        return PictureBuild.checked(images, segments, **settled, **options)

    def build_texts(
        self, documents: Sequence[str | Sequence[str]], *, names: Sequence[str] | None = None, **options: Any
    ) -> BagDataset:
        """Bags from texts: a string is a bag of its sentences, a list of strings a bag of those.

        ``options`` (labels, ``n_jobs``, ...) go to `bags_from_texts`.
        """
        from cfmgml.builders.texts.keyword_graphs import RECIPE_VERSION
        from cfmgml.builders.texts.texts import bags_from_texts

        self._expect("texts", RECIPE_VERSION)
        settled = {**self.parameters, "vocabulary": self.vocabulary}
        return bags_from_texts(documents, bag_names=names, **settled, **options)

    def build_digits(self, digits: ArrayLike, sizes: Sequence[int] | None = None) -> BagDataset:
        """Bags from handwritten digits of shape (n, 8, 8), with values from 0 (paper) to 1 (ink).

        ``sizes`` are the digits a bag; None puts all in one.

        >>> Recipe("digits").build_digits(np.full((3, 8, 8), 0.5), sizes=[2, 1])
        BagDataset(2 bags, 3 graphs, 0 labels; no Y)
        """
        from cfmgml.datasets.digits import SIDE, digit_graphs

        self._expect("digits")
        pixels = np.asarray(digits, dtype=np.float64)
        if pixels.ndim != 3 or pixels.shape[1:] != (SIDE, SIDE) or len(pixels) == 0:
            raise ValueError(f"digits must have shape (n, {SIDE}, {SIDE}), got {pixels.shape}.")
        if not (pixels.min() >= 0 and pixels.max() <= 1):  # NaN fails too
            raise ValueError(f"digits must hold 0 (paper) to 1 (ink), got {pixels.min():.4g} to {pixels.max():.4g}.")
        counts = np.array([len(pixels)] if sizes is None else sizes, dtype=np.int64)
        names = [f"bag{k}:{place}" for k, size in enumerate(counts.tolist()) for place in range(size)]
        return BagDataset(
            digit_graphs(pixels),
            offsets(counts),
            bag_names=np.array([f"bag{k}" for k in range(len(counts))]),
            graph_names=np.array(names) if len(names) == len(pixels) else None,
            info={"builder": "digits"},
        )

    def _expect(self, kind: Kind, version: int | None = None) -> None:
        if self.kind != kind:
            raise ValueError(f"this recipe makes bags from {self.kind}, not from {kind}.")
        if None not in (self.version, version) and self.version != version:
            raise ValueError(
                f"these {kind} were built by version {self.version} of the recipe, and this cfmgml has version "
                f"{version}: use the cfmgml that trained the model (cfmgml inspect MODEL names it), or train anew."
            )


def recipe_of(info: Mapping[str, Any]) -> Recipe:
    """The recipe that a data set's ``info``, or a model's ``info_``, tells of.

    Data without a builder that is known here are ``"graphs"``: they are taken as they come.

    >>> recipe_of({"description": "molecules of my own"})
    Recipe(graphs)
    """
    builder = info.get("builder", "graphs")
    parameters = info.get("parameters", {})
    if not isinstance(parameters, Mapping):
        raise ValueError(f"info['parameters'] must be a mapping, got {type(parameters).__name__}.")
    settled = json.loads(json.dumps(dict(parameters)))  # tuples become lists, as in a file
    if builder == "texts":
        if not isinstance(info.get("vocabulary"), Mapping):
            raise ValueError(
                "info['vocabulary'] is missing: without it new texts cannot be built as the old ones were."
            )
        return Recipe("texts", settled, info["vocabulary"], info.get("recipe_version"))
    known: Kind = builder if builder in ("images", "digits") else "graphs"
    return Recipe(known, settled, version=info.get("recipe_version"))
