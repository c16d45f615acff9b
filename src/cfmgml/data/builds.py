"""Were two data sets built the same way? What their ``info`` says of it, compared."""

import json
from collections.abc import Mapping
from typing import Any

# Which regions become graphs, not how: a model trained on masks serves photos without, and with any number of regions.
FREE = {"max_regions", "min_pixels", "void"}
HOW = {
    "images": ("pictures", "cfmgml build images DIR --like MODEL -o new.bags", "build_images(images)"),
    "texts": ("texts", "cfmgml build text FILE.jsonl --like MODEL -o new.bags", "build_texts(documents)"),
    "digits": ("handwritten digits", "cfmgml predict MODEL STRIP.png", "build_digits(arrays)"),
    "vectors": ("vectors", "", ""),
    "graphs": ("graph files", "cfmgml build graphs PATH --like MODEL -o new.bags", ""),
}


def check_same_recipe(model_info: Mapping[str, Any], bags_info: Mapping[str, Any]) -> None:
    """Raise unless bags were built as a model's training data were, so far as both say how.

    The message has both ways, and how to build the bags right. What only chooses regions (``max_regions``,
    ``min_pixels``, ``void``) may differ.

    >>> check_same_recipe({"builder": "digits"}, {"builder": "digits", "subset": "test"})
    >>> check_same_recipe({"builder": "digits"}, {"builder": "vectors"})
    Traceback (most recent call last):
    ValueError: the model learned from handwritten digits and this input was built from vectors. Give the model raw
    input (cfmgml predict MODEL STRIP.png), or in Python: recipe_of(model.info_).build_digits(arrays).
    """
    ours, theirs = model_info.get("builder"), bags_info.get("builder")
    if ours is None or theirs is None:
        return
    if ours != theirs:
        raise ValueError(
            f"the model learned from {_noun(ours)} and this input was built from {_noun(theirs)}.{_hint(ours)}"
        )
    differing = _differing(model_info, bags_info)
    if differing:
        raise ValueError(
            f"this input was built from {_noun(theirs)} with {_list(differing, 1)}, the model's training data with "
            f"{_list(differing, 0)}.{_hint(ours)}"
        )
    if model_info.get("vocabulary") != bags_info.get("vocabulary"):
        raise ValueError(
            "this input was built with the word counts of other texts than the model's training data, so its "
            f"keywords and edges mean something else.{_hint(ours)}"
        )


def _differing(model_info: Mapping[str, Any], bags_info: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Parameters that both name with other values, and the version of the recipe."""
    ours, theirs = _settled(model_info), _settled(bags_info)
    return {name: (ours[name], theirs[name]) for name in ours.keys() & theirs.keys() if ours[name] != theirs[name]}


def _settled(info: Mapping[str, Any]) -> dict[str, Any]:
    parameters = info.get("parameters")
    named = dict(parameters) if isinstance(parameters, Mapping) else {}
    if "recipe_version" in info:
        named["recipe_version"] = info["recipe_version"]
    return {name: _plain(value) for name, value in named.items() if name not in FREE}


def _plain(value: Any) -> Any:
    """As it comes back from a file: tuples as lists."""
    return json.loads(json.dumps(value, default=str))


def _list(differing: Mapping[str, tuple[Any, Any]], which: int) -> str:
    return ", ".join(f"{name}={values[which]!r}" for name, values in sorted(differing.items()))


def _noun(builder: Any) -> str:
    return HOW[builder][0] if isinstance(builder, str) and builder in HOW else repr(builder)


def _hint(builder: Any) -> str:
    command, call = HOW[builder][1:] if isinstance(builder, str) and builder in HOW else ("", "")
    if not command:
        return ""
    verb = "Give the model raw input" if command.startswith("cfmgml predict") else "Build it the same way"
    python = f", or in Python: recipe_of(model.info_).{call}" if call else ""
    return f" {verb} ({command}){python}."
