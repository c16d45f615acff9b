"""`create_app`: the application, put together."""

from collections.abc import Collection, Mapping
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, TypeAlias

from cfmgml.common.extras import missing_extra
from cfmgml.model.cfmgml import CfMGML
from cfmgml.web.exhibits import Exhibit, as_exhibits
from cfmgml.web.limits import Limits
from cfmgml.web.metrics import Metrics
from cfmgml.web.problems import add_problems
from cfmgml.web.request_guard import LOOPBACK, RequestGuard
from cfmgml.web.routes import API, add_catalogue, add_corrections, add_page, add_questions, add_status
from cfmgml.web.service import ModelService

if TYPE_CHECKING:
    from fastapi import FastAPI

Served: TypeAlias = Exhibit | CfMGML | str | Path
ABOUT = """Ask a model about an image, a text or graphs: labels of the whole, of each of its graphs (regions,
sentences), and what each node (superpixel, keyword) contributes. The numbers are those of the Python package. Nothing
sent is kept."""


def import_fastapi() -> ModuleType:
    """``fastapi``, or where it or uvicorn is missing, an error that names the extra to install."""
    try:
        import fastapi
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise ImportError(missing_extra("serving needs FastAPI and uvicorn", "web")) from error
    return fastapi


def create_app(
    model: Served | Mapping[str, Served],
    *,
    limits: Limits | None = None,
    hosts: Collection[str] | None = LOOPBACK,
    title: str = "cfmgml",
) -> "FastAPI":
    """An ASGI application with the page and the API.

    Parameters
    ----------
    model
        A fitted `CfMGML`, the file of one, an `Exhibit`, or a mapping from names to any of these.
    limits
        What one request may cost, see `Limits`.
    hosts
        Host names that requests may use; by default this machine's own, None for any.
    title
        Of the page.

    Examples
    --------
    >>> from cfmgml import CfMGML
    >>> from cfmgml.datasets import load_digit_bags
    >>> app = create_app(CfMGML(alpha=1e-4).fit(load_digit_bags(n_bags=20)))
    >>> app.title
    'cfmgml'
    """
    fastapi = import_fastapi()
    from cfmgml import __version__

    bounds = limits or Limits()
    exhibits = as_exhibits(model)
    metrics = Metrics()
    service = ModelService(exhibits, bounds)
    app: FastAPI = fastapi.FastAPI(
        title=title,
        version=__version__,
        description=ABOUT,
        openapi_url=f"{API}/openapi.json",
        docs_url=None,  # FastAPI's own pages load scripts from elsewhere
        redoc_url=None,
        lifespan=service.open,
    )
    app.state.service, app.state.metrics = service, metrics
    app.add_middleware(RequestGuard, metrics=metrics, hosts=hosts)
    add_problems(app, metrics)
    add_page(app)
    add_status(app, service, metrics)
    add_catalogue(app, service)
    add_questions(app, service)
    add_corrections(app, service)
    return app
