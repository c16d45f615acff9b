"""What Sphinx and its theme leave unsaid to people who listen to pages: put into every page when all are written."""

from pathlib import Path
from typing import Any

SAID = {
    # a signature of many lines is laid out as definitions of nothing
    '<dl>\n<dd><em class="sig-param">': '<dl role="presentation">\n<dd><em class="sig-param">',
    '<th class="head"><p></p></th>': '<td class="head"></td>',  # above rows that need no name
    '<summary><span class="toctree-toggle"': '<summary aria-label="Pages below"><span class="toctree-toggle"',
}


def complete_pages(app: Any, exception: Exception | None) -> None:
    if exception is not None or app.builder.name != "html":
        return
    for page in Path(app.outdir).rglob("*.html"):
        text = written = page.read_text(encoding="utf-8")
        for unsaid, said in SAID.items():
            text = text.replace(unsaid, said)
        if text != written:
            page.write_text(text, encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    app.connect("build-finished", complete_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
