"""The former home of `cfmgml.evaluation` and `cfmgml.paper`: what people's scripts import from here still works."""

import sys
import warnings
from importlib import import_module
from types import ModuleType

_HOMES = {
    "reproduction": "cfmgml.evaluation",
    "reproduction.reproduce": "cfmgml.evaluation.experiment",
    "reproduction.planning": "cfmgml.evaluation.protocol",
    "reproduction.methods": "cfmgml.evaluation.methods",
    "reproduction.catalogue": "cfmgml.paper.catalogue",
}


class _Former(ModuleType):
    """A module that looks its names up in its new home when they are first asked for."""

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(import_module(_HOMES[self.__name__.removeprefix(f"{__name__}.")]), name)


warnings.warn(
    "cfmgml.experiments is split into cfmgml.evaluation and cfmgml.paper, and goes with the next version: import "
    f"from {', '.join(list(_HOMES.values())[1:])}.",
    DeprecationWarning,
    stacklevel=2,
)
for _name in _HOMES:
    _former = sys.modules[f"{__name__}.{_name}"] = _Former(f"{__name__}.{_name}")
sys.modules[f"{__name__}.reproduction"].__path__ = []
