"""What the application holds while it runs: the exhibits, what is said of them, and the workers."""

import contextlib
import json
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from cfmgml.common.tables import text_formats
from cfmgml.common.typing import Json
from cfmgml.web.bodies import Intake, unless_gone
from cfmgml.web.exhibits import Exhibit, describe
from cfmgml.web.limits import Limits, Refused
from cfmgml.web.pool import WorkerPool

if TYPE_CHECKING:
    from fastapi import FastAPI
    from starlette.requests import Request
    from starlette.responses import Response


class ModelService:
    """Exhibits, their descriptions, and the workers while the application runs."""

    def __init__(self, exhibits: Mapping[str, Exhibit], limits: Limits) -> None:
        self.exhibits = exhibits
        self.limits = limits
        self.about = {name: describe(name, item, limits) for name, item in exhibits.items()}
        self.pool = WorkerPool(limits)
        self.intake = Intake(limits)

    @contextlib.asynccontextmanager
    async def open(self, app: "FastAPI") -> AsyncIterator[None]:
        with tempfile.TemporaryDirectory(prefix="cfmgml-") as folder:
            files = {name: item.write(Path(folder) / f"{name}.cfmgml") for name, item in self.exhibits.items()}
            try:
                await self.pool.start(files)
                yield
            finally:
                await self.pool.stop()

    def find(self, name: str) -> Json:
        if name not in self.about:
            raise Refused(404, "no_such_model", f"There is no such model here; there are {', '.join(self.about)}.")
        return self.about[name]

    async def ask(
        self, request: "Request", header: Json, most_bytes: int, prepare: Callable[[bytes], bytes] = bytes
    ) -> "Response":
        """Read a body, let a worker answer, and pass the answer on as it is."""
        from starlette.responses import Response

        self.find(header["model"])
        self.pool.check_not_full()  # before a body is read in vain
        body = prepare(await self.intake.read(request, most_bytes))
        async with self.pool.place():
            status, content = await unless_gone(request, self.pool.ask(header, body))
        if status != 200:
            problem = json.loads(content)
            raise Refused(status, problem["error"], problem["reason"])
        if header["route"] == "bags":
            return Response(content, media_type="application/octet-stream")
        form = text_formats()[header["table"][1] if header.get("table") else "json"]
        return Response(content, media_type=form.media_type)
