"""The routes: the page and its files, health and counts, and the API."""

import json
from collections.abc import Awaitable, Callable
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cfmgml.builders.pictures.uploads import MEDIA_TYPES
from cfmgml.common.tables import text_formats
from cfmgml.common.typing import Json
from cfmgml.data.questions import Route
from cfmgml.web.limits import Refused
from cfmgml.web.metrics import MEDIA_TYPE, Metrics, resident_bytes
from cfmgml.web.problems import problem_answers
from cfmgml.web.service import ModelService

if TYPE_CHECKING:
    from fastapi import FastAPI

API = "/api/v1"
FILE_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
SHOWN_LIMITS = ("body_bytes", "pixels", "side", "characters", "texts", "nodes", "edges", "regions", "seconds")


def add_page(app: "FastAPI") -> None:
    from fastapi import Response

    folder = resources.files("cfmgml.web") / "static"
    page = (folder / "index.html").read_bytes()
    files = {
        item.name: (item.read_bytes(), FILE_TYPES[Path(item.name).suffix])
        for item in folder.iterdir()
        if Path(item.name).suffix in FILE_TYPES
    }

    @app.get("/", include_in_schema=False)
    def index() -> Response:
        return Response(page, media_type="text/html; charset=utf-8")

    @app.get("/static/{name}", include_in_schema=False)
    def static(name: str) -> Response:
        if name not in files:
            raise Refused(404, "not_found", "There is no such file.")
        content, media_type = files[name]
        return Response(content, media_type=media_type, headers={"Cache-Control": "no-cache"})


def add_status(app: "FastAPI", service: ModelService, metrics: Metrics) -> None:
    from fastapi import Response

    from cfmgml.web.schemas import Health

    @app.get("/healthz", response_model=Health, responses=problem_answers(503), tags=["status"])
    async def healthz() -> Any:
        """Whether there is a worker to answer."""
        if service.pool.n_alive == 0:
            raise service.pool.busy("no_worker", "No worker is running; one is being started.")
        return {"status": "ok", "workers": service.pool.n_alive}

    @app.get("/metrics", include_in_schema=False)
    async def prometheus() -> Response:
        pool = service.pool
        gauges = {
            "requests_inside": ("Requests waiting or worked on.", pool.n_inside),
            "workers": ("Worker processes running.", pool.n_alive),
            "workers_replaced": ("Workers ended and replaced.", pool.n_replaced),
            "resident_bytes": ("Memory of the server process, without its workers.", resident_bytes()),
        }
        return Response(metrics.render(gauges), media_type=MEDIA_TYPE)


def add_catalogue(app: "FastAPI", service: ModelService) -> None:
    from fastapi import Response

    from cfmgml.web.schemas import Catalogue, ModelInfo

    limits = {name: getattr(service.limits, name) for name in SHOWN_LIMITS}

    @app.get(f"{API}/models", response_model=Catalogue, responses=problem_answers(), tags=["models"])
    async def models() -> Any:
        """All models, and the limits of what may be sent."""
        return {"version": app.version, "limits": limits, "models": list(service.about.values())}

    @app.get(f"{API}/models/{{model}}", response_model=ModelInfo, responses=problem_answers(404, 422), tags=["models"])
    async def model(model: str) -> Any:
        """One model: what it reads, and its labels."""
        return service.find(model)

    @app.get(
        f"{API}/models/{{model}}/samples/{{sample}}",
        response_class=Response,
        responses={200: {"description": "An image or a text.", "content": {"*/*": {}}}, **problem_answers(404, 422)},
        tags=["models"],
    )
    async def sample(model: str, sample: int) -> Response:
        """An input to try."""
        service.find(model)
        samples = service.exhibits[model].samples
        if not 0 <= sample < len(samples):
            raise Refused(404, "no_such_sample", f"There are {len(samples)} samples, numbered from 0.")
        return Response(samples[sample].data, media_type=samples[sample].media_type)


def add_questions(app: "FastAPI", service: ModelService) -> None:
    from fastapi import Query, Request, Response

    from cfmgml.web.schemas import Answer, GraphsInput, PredictionRow, TextInput

    limits = service.limits
    tables = {form.media_type: {"schema": {"type": "string"}} for form in text_formats().values()}
    del tables["application/json"]
    answers: dict[int | str, dict[str, Any]] = {
        200: {"model": Answer | list[PredictionRow], "content": tables, "description": "What the model says."},
        **problem_answers(400, 404, 408, 413, 415, 422, 500, 503, 504),
    }
    binary = {"schema": {"type": "string", "format": "binary"}}
    bodies: dict[str, Json] = {
        "image": dict.fromkeys((*MEDIA_TYPES, "application/octet-stream"), binary),
        "text": _json_body(TextInput),
        "graphs": _json_body(GraphsInput),
        "file": {"application/octet-stream": binary},
    }
    Level = Annotated[
        Literal["bag", "graph", "node"] | None,
        Query(description="Instead of the answer, give the table that `cfmgml predict --level` writes."),
    ]
    Drawn = Annotated[
        str | None,
        Query(max_length=500, description="The label that a `drawing`, where there is one, is about; else the best."),
    ]
    Form = Annotated[str, Query(pattern=f"^({'|'.join(text_formats())})$", description="Of the table.")]

    def post(function: Callable[..., Awaitable[Response]]) -> None:
        """Add the route of a function's name, described by its docstring."""
        body = {"required": True, "content": bodies[function.__name__]}
        add = app.post(
            f"{API}/models/{{model}}/{function.__name__}",
            response_class=Response,
            responses=answers,
            openapi_extra={"requestBody": body},
            tags=["answers"],
        )
        add(function)

    async def ask(
        request: Request, route: Route, model: str, table: str | None, form: str, **more: int | str | None
    ) -> Response:
        media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if media_type not in bodies[route]:
            raise Refused(415, "wrong_type", f"Content-Type must be one of {', '.join(bodies[route])}.")
        header = {"model": model, "route": route, "table": table and [table, form], **more}
        if route == "text":
            return await service.ask(request, header, limits.text_bytes, _check_text)
        return await service.ask(request, header, limits.body_bytes)

    @post
    async def image(
        model: str,
        request: Request,
        regions: Annotated[int | None, Query(ge=1, le=limits.regions)] = None,
        table: Level = None,
        format: Form = "csv",
    ) -> Response:
        """Labels of an image (the body is the file itself), of its regions, and what each superpixel contributes.

        `regions` is the most regions that it is cut into; left out, as many as in training.
        """
        return await ask(request, "image", model, table, format, regions=regions)

    @post
    async def text(
        model: str, request: Request, table: Level = None, format: Form = "csv", drawn: Drawn = None
    ) -> Response:
        """Labels of a text, of its sentences, and what each keyword contributes."""
        return await ask(request, "text", model, table, format, drawn=drawn)

    @post
    async def graphs(model: str, request: Request, table: Level = None, format: Form = "csv") -> Response:
        """Labels of a bag of graphs, of each graph, and what each node contributes.

        For models that learned from graphs of somebody's own.
        """
        return await ask(request, "graphs", model, table, format)

    @post
    async def file(
        model: str, request: Request, table: Level = None, format: Form = "csv", drawn: Drawn = None
    ) -> Response:
        """Labels of a file (the body is the file itself), for kinds of input that other packages add."""
        return await ask(request, "file", model, table, format, drawn=drawn)


def add_corrections(app: "FastAPI", service: ModelService) -> None:
    from fastapi import Request, Response

    from cfmgml.web.corrections import read_inputs
    from cfmgml.web.schemas import CorrectedInputs

    file = {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}

    @app.post(
        f"{API}/models/{{model}}/bags",
        response_class=Response,
        responses={
            200: {"description": "A file of bags.", "content": file},
            **problem_answers(400, 404, 408, 413, 415, 422, 500, 503, 504),
        },
        openapi_extra={"requestBody": {"required": True, "content": _json_body(CorrectedInputs)}},
        tags=["answers"],
    )
    async def bags(model: str, request: Request) -> Response:
        """Inputs with their right labels as bags, for `cfmgml train`; nothing of them is kept here."""
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            raise Refused(415, "wrong_type", "Content-Type must be application/json.")
        return await service.ask(request, {"model": model, "route": "bags"}, service.limits.body_bytes, read_inputs)


def _json_body(kind: Any) -> Json:
    """A body for the OpenAPI document, with what it is made of in its place: references would lead nowhere there."""
    schema = kind.model_json_schema()
    parts = schema.pop("$defs", {})
    for value in schema["properties"].values():
        if "$ref" in value.get("items", {}):
            value["items"] = parts[value["items"]["$ref"].rpartition("/")[2]]
    return {"application/json": {"schema": schema}}


def _check_text(body: bytes) -> bytes:
    """A JSON string, or a list of them, from what was sent."""
    from cfmgml.web.json_bodies import read_json
    from cfmgml.web.schemas import TextInput

    given = read_json(body, TextInput, "bad_text")
    if (given.text is None) == (given.texts is None):
        raise Refused(422, "bad_text", "Send either text or texts.")
    return json.dumps(given.texts if given.text is None else given.text).encode()
