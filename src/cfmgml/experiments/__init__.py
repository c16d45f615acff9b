"""The former home of `cfmgml.evaluation` and `cfmgml.paper`: what people's scripts import from here still works."""

import sys
import warnings
from importlib import import_module
from types import ModuleType

_HOMES = {
    f"{__name__}.reproduction": "cfmgml.evaluation",
    f"{__name__}.reproduction.reproduce": "cfmgml.evaluation.experiment",
    f"{__name__}.reproduction.planning": "cfmgml.evaluation.protocol",
    f"{__name__}.reproduction.methods": "cfmgml.evaluation.methods",
    f"{__name__}.reproduction.catalogue": "cfmgml.paper.catalogue",
}


class _Former(ModuleType):
    """A module that looks its names up in its new home when they are first asked for."""

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(import_module(_HOMES[self.__name__]), name)


warnings.warn(
    "cfmgml.experiments is split into cfmgml.evaluation and cfmgml.paper: import "
    f"from {', '.join(list(_HOMES.values())[1:])}.",
    DeprecationWarning,
    stacklevel=2,
)
sys.modules.update({name: _Former(name) for name in _HOMES})
sys.modules[f"{__name__}.reproduction"].__path__ = []
