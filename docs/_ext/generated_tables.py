"""Tables that commands wrote, as pages: they get a title where they have none, and figures are not broken in two."""

import re
from typing import Any

from docutils import nodes


def add_title(app: Any, docname: str, source: list[str]) -> None:
    """Parts of pages begin with small headings; as pages of their own they need one of their own."""
    if not docname.startswith("results/") or re.search(r"^# ", source[0], re.MULTILINE):
        return
    subject, *rest = docname.removeprefix("results/").split("/")
    source[0] = f"# {subject.replace('_', ' ').capitalize()}: {rest[-1].replace('_', ' ')}\n\n{source[0]}"


MANY_LETTERS = 30


def keep_together(app: Any, doctree: nodes.document) -> None:
    """``0.945 ± 0.007`` stays on one line of its cell, and a sentence has a column that holds more than a word."""
    for entry in doctree.findall(nodes.entry):
        if len(entry.astext()) > MANY_LETTERS and not isinstance(entry.parent.parent, nodes.thead):
            entry["classes"].append("words")
        for text in list(entry.findall(nodes.Text)):
            if "±" in text:
                text.parent.replace(text, nodes.Text(text.replace(" ± ", "\N{NO-BREAK SPACE}±\N{NO-BREAK SPACE}")))


def setup(app: Any) -> dict[str, bool]:
    app.connect("source-read", add_title)
    app.connect("doctree-read", keep_together)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
