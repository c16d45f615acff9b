"""Every script of examples/ has drawn something, and none takes long: what is wrong is a warning, and so an error."""

import re
import time
from pathlib import Path
from typing import Any

from sphinx.errors import ExtensionError
from sphinx.util import logging

MOST_SECONDS = 30  # of the processor, what numba compiles on a new machine included; 20 without it
logger = logging.getLogger(__name__)
_began: dict[str, float] = {}


def time_example(gallery_conf: dict[str, Any], script: str, when: str) -> None:
    """Called before and after each script (sphinx-gallery's ``reset_modules``). Other work does not count."""
    if when == "before":
        _began[script] = time.process_time()
        return
    took = time.process_time() - _began.pop(script)
    if took > MOST_SECONDS:
        logger.warning("%s took %.0f s of the processor, and may take %d.", Path(script).name, took, MOST_SECONDS)


def check_pictures(app: Any, exception: Exception | None) -> None:
    if exception is not None or app.builder.name != "html":
        return
    for script in sorted((Path(app.srcdir) / "gallery").glob("*.py")):
        page = script.with_suffix(".rst").read_text(encoding="utf-8")
        if not re.search(rf"sphx_glr_{script.stem}_\d+\.png", page):
            raise ExtensionError(f"examples/{script.name} has no picture.")


def setup(app: Any) -> dict[str, bool]:
    app.connect("build-finished", check_pictures)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
