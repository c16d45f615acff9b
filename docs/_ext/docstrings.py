"""Docstrings and signatures as readers want them: names lead to their pages, types have their short names."""

import inspect
import re
from pathlib import Path
from typing import Any

from numpy.typing import DTypeLike
from sphinx.util.typing import stringify_annotation

REFERENCE = Path(__file__).resolve().parents[1] / "reference" / "index.md"

REGISTERS = {  # names whose value is a list of things with docstrings, and what stands above it
    "cfmgml.baselines.BASELINES": "The methods that `cfmgml evaluate` can compare, a tuple in the order of tables.",
    "cfmgml.checks.KERNEL_RULES": "What `check_kernel` tries, a dictionary of functions by name.",
    "cfmgml.checks.ESTIMATOR_RULES": "What `check_bag_estimator` tries, a dictionary of functions by name.",
}


def public_names() -> dict[str, str]:
    """Where each name of the reference is documented, by its last part."""
    found, module = {}, ""
    for line in REFERENCE.read_text(encoding="utf-8").splitlines():
        if said := re.fullmatch(r"\.\. currentmodule:: (\S+)", line):
            module = said[1]
        elif said := re.fullmatch(r"   (\w+)", line):
            found.setdefault(said[1], f"{module}.{said[1]}")
    return found


def type_names() -> dict[str, str]:
    """How autodoc would write out types of `cfmgml.common.typing` and one of numpy, longest first, and their names."""
    from cfmgml.common import typing as ours

    names = [name for name in vars(ours) if re.fullmatch(r"[A-Z]\w*(Array|Like|View)", name)]
    types = {name: getattr(ours, name) for name in names} | {"DTypeLike": DTypeLike}
    written = {name: stringify_annotation(given, "smart") for name, given in types.items()}
    told = {text: name for name, text in written.items() if "[" in text}
    return dict(sorted(told.items(), key=lambda pair: -len(pair[0])))


def link_names(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """`NodeSum` in a docstring leads to its page; ``|Y|`` is a size, not one of docutils' substitutions."""
    known = app.config.cfmgml_public_names
    for number, line in enumerate(lines):
        line = re.sub(r"\|(\w[^|`]*)\|", r"\\|\1\\|", line)
        lines[number] = re.sub(
            r"(?<![`:])`(\w+)`(?!`)",
            lambda m: f":py:obj:`~{known[m[1]]}`" if m[1] in known else m[0],
            line,
        )


def list_entries(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """A register is what it holds, each with its first sentence: rules by name, methods with their pages."""
    if name not in REGISTERS:
        return
    entries = obj.items() if isinstance(obj, dict) else ((entry.__name__, entry) for entry in obj)
    known = app.config.cfmgml_public_names
    lines[:] = [REGISTERS[name], ""]
    for key, entry in entries:
        called = f":py:obj:`{key} <{known[key]}>`" if key in known else f"``{key}``"
        lines += [called, f"   {inspect.getdoc(entry).partition(chr(10) * 2)[0].replace(chr(10), ' ')}"]
    lines.append("")


def shorten_types(app: Any, what: str, name: str, obj: Any, options: Any, signature: str, result: str) -> Any:
    """Arrays by the names they have in the source, instead of what numpy spells them out as."""
    for long, short in app.config.cfmgml_type_names.items():
        signature, result = (text and text.replace(long, short) for text in (signature, result))
    return signature, result


def type_returns(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Sentences on what is returned stand below its type, of which numpydoc takes each line for another where none is.

    Types are in signatures only; here the signature's is put in front.
    """
    if "Returns" not in lines or not callable(obj):
        return
    first = lines.index("Returns") + 2
    end = next((number for number in range(first, len(lines)) if not lines[number]), len(lines))
    if any(line.startswith(" ") for line in lines[first:end]):  # it names one
        return
    kind = inspect.signature(obj).return_annotation
    told = kind if isinstance(kind, str) else re.sub(r"~?\b(\w+\.)+", "", stringify_annotation(kind, "smart"))
    lines[first:end] = [f"`{told}`", *(f"    {line}" for line in lines[first:end])]


def setup(app: Any) -> dict[str, bool]:
    app.connect("autodoc-process-docstring", type_returns, priority=400)  # before numpydoc reads it
    app.add_config_value("cfmgml_public_names", public_names(), "env")
    app.add_config_value("cfmgml_type_names", type_names(), "env")
    app.connect("autodoc-process-docstring", list_entries)
    app.connect("autodoc-process-docstring", link_names)
    app.connect("autodoc-process-signature", shorten_types)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
