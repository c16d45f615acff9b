"""A page and an API around a model: `serve`, `create_app`. Needs the extra ``cfmgml[web]``."""

from cfmgml.web.app import create_app
from cfmgml.web.exhibits import Exhibit, Sample
from cfmgml.web.limits import Limits
from cfmgml.web.server import serve

__all__ = ["Exhibit", "Limits", "Sample", "create_app", "serve"]
