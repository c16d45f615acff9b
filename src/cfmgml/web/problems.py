"""Everything that goes wrong becomes one kind of JSON: a code for programs and a reason for people."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cfmgml.common.typing import Json
from cfmgml.web.limits import Refused
from cfmgml.web.metrics import Metrics

if TYPE_CHECKING:
    from fastapi import FastAPI


def add_problems(app: "FastAPI", metrics: Metrics) -> None:
    from fastapi import Request
    from fastapi.exceptions import RequestValidationError
    from fastapi.responses import JSONResponse
    from starlette.exceptions import HTTPException

    async def refuse(request: Request, refusal: Refused) -> JSONResponse:
        metrics.refuse(refusal.code)
        return JSONResponse(refusal.to_json(), refusal.status, headers=refusal.headers)

    async def invalid(request: Request, error: RequestValidationError) -> JSONResponse:
        return await refuse(request, Refused(422, "bad_parameter", what_is_wrong(error.errors())))

    async def plain(request: Request, error: HTTPException) -> JSONResponse:
        code = {404: "not_found", 405: "wrong_method"}.get(error.status_code, "refused")
        answer = await refuse(request, Refused(error.status_code, code, str(error.detail)))
        answer.headers.update(error.headers or {})
        return answer

    app.add_exception_handler(Refused, refuse)  # type: ignore[arg-type]  # typed for any Exception
    app.add_exception_handler(RequestValidationError, invalid)  # type: ignore[arg-type]
    app.add_exception_handler(HTTPException, plain)  # type: ignore[arg-type]


def what_is_wrong(errors: Sequence[Json]) -> str:
    """Which parameters, and what was expected; not what was sent."""
    return "; ".join(f"{'.'.join(map(str, e['loc'][1:])) or 'body'}: {e['msg']}" for e in errors[:3]) + "."


def problem_answers(*statuses: int) -> dict[int | str, Json]:
    from cfmgml.web.schemas import Problem

    why = {
        400: "The request makes no sense.",
        403: "Asked by a page of another site.",
        404: "There is no such model or sample.",
        408: "The request took too long to come in.",
        413: "Larger than the limits allow.",
        415: "Not a type that is read here.",
        421: "Asked by a host name that is not this server's.",
        422: "It cannot be read, or is not what the model reads.",
        500: "The server failed.",
        503: "Too many requests are waiting, and Retry-After says when to come back; or the server is stopping.",
        504: "The input took too long.",
    }
    return {status: {"model": Problem, "description": why[status]} for status in (403, 421, *statuses)}
