"""What is missing and how to get it: the one place that words hints to install something."""

import os
import shlex
import shutil
import sys
from pathlib import Path


def missing_extra(what: str, extra: str) -> str:
    """A message that ``what`` needs an extra of this package, and the command that adds it to this installation.

    pip looks at the cfmgml that is installed here, so that the command is the same for a clone (``pip install -e .``)
    and for a wheel, and cfmgml itself is not asked for anywhere.

    >>> missing_extra("plots need matplotlib", "plots").endswith("install 'cfmgml[plots]'.")
    True
    """
    return f"{what}: {install_command(f'cfmgml[{extra}]')}."


def install_command(requirement: str) -> str:
    """The command that installs something beside the Python that runs, whether or not its environment is active.

    >>> install_command("grakel").endswith("pip install grakel")
    True
    """
    return f"{_pip()} install {shlex.quote(requirement)}"


def _pip() -> str:
    """``pip``, if that is this Python's; else this Python with ``-m pip``, by its path from the working folder."""
    here, found = Path(sys.executable).parent, shutil.which("pip")
    if found is not None and Path(found).parent == here:
        return "pip"
    shown = os.path.relpath(sys.executable) if Path(sys.executable).is_relative_to(Path.cwd()) else sys.executable
    return f"{shlex.quote(shown)} -m pip"
