"""JSON as it was sent, decoded and checked so that rubbish of any size stays cheap.

Decoding gives plain lists and dictionaries, whose memory is a small multiple of what was sent; objects are looked at as
they are closed, before the next is read; and checking ends at the first fault of a list (``fail_fast`` in the schemas),
where a report of all of them would take a thousand times the memory of the fault itself.
"""

import json
from collections.abc import Callable
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from cfmgml.common.typing import Json
from cfmgml.web.limits import Refused
from cfmgml.web.problems import what_is_wrong

MOST_MEMBERS = 16  # of an object: more than any has here
Model = TypeVar("Model", bound=BaseModel)


def read_json(data: bytes, kind: type[Model], code: str, on_object: Callable[[Json], None] | None = None) -> Model:
    """What was sent as the model ``kind``, or a refusal (422, ``code``).

    ``on_object`` is given every object when its end is read, inner ones first, and may refuse it.
    """

    def close(pairs: list[tuple[str, object]]) -> Json:
        if len(pairs) > MOST_MEMBERS:
            raise Refused(422, code, f"An object has {len(pairs):,} members; {MOST_MEMBERS} are the most.")
        members = dict(pairs)
        if on_object is not None:
            on_object(members)
        return members

    try:
        given = json.loads(data.decode(), object_pairs_hook=close)
        if b"\\u" in data:
            json.dumps(given, ensure_ascii=False).encode()  # where escapes are half of a pair, it is no text
        return kind.model_validate(given)
    except ValidationError as error:
        wrong = [{**item, "loc": ("body", *item["loc"])} for item in error.errors(include_input=False)]
        raise Refused(422, code, what_is_wrong(wrong)) from None
    except RecursionError:
        raise Refused(422, code, "Invalid JSON: its brackets are nested too deep.") from None
    except ValueError as error:  # no UTF-8, no JSON, half a character, or a number of thousands of digits
        raise Refused(422, code, f"Invalid JSON: {_place(error)}.") from None


def _place(error: ValueError) -> str:
    """What is wrong and where, without what was sent."""
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg[:1].lower()}{error.msg[1:]} at line {error.lineno} column {error.colno}"
    if isinstance(error, UnicodeError):
        return "it holds what is no character"
    return "a number is too long"
