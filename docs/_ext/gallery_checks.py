"""After a build: every script of examples/ has drawn something, and none takes long."""

import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from sphinx.errors import ExtensionError

MOST_SECONDS = 60  # 20 on two idle cores; other work may share them


def check_gallery(app: Any, exception: Exception | None) -> None:
    if exception is not None or app.builder.name != "html":
        return
    gallery = Path(app.srcdir) / "gallery"
    for script in sorted(gallery.glob("*.py")):
        page = script.with_suffix(".rst").read_text(encoding="utf-8")
        if not re.search(rf"sphx_glr_{script.stem}_\d+\.png", page):
            raise ExtensionError(f"examples/{script.name} has no picture.")
    for case in ElementTree.parse(Path(app.outdir) / "gallery_times.xml").iter("testcase"):
        if float(case.get("time", 0)) > MOST_SECONDS:
            raise ExtensionError(f"examples/{case.get('name')} took {case.get('time')} s, and may take {MOST_SECONDS}.")


def setup(app: Any) -> dict[str, bool]:
    app.connect("build-finished", check_gallery)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
