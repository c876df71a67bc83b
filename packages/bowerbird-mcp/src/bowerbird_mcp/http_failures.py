"""Explains an HTTP response that is not one of the MCP server's: what was found, and where."""

import json
import re
from typing import Any, Final, NamedTuple

from bowerbird_mcp.configuration import ADDRESS, TOKEN, TOOLS, Configuration
from bowerbird_mcp.messages import UNREACHABLE, Json, failure

UNAUTHORIZED: Final = 401
_BAD_REQUEST: Final = 400
_NOT_FOUND: Final = 404
_REDIRECTS: Final = range(300, 400)
# What a proxy returns while the server behind it is down.
DOWN: Final = frozenset({502, 503, 504})
_TITLE: Final = re.compile(rb"<title[^>]*>([^<]{1,200})", re.IGNORECASE)
_ADVICE: Final = f"Check {ADDRESS}: it must be the URL of the MCP server, which ends in /mcp."


# How the server's errors about the restrictions of a connection start.
_ABOUT_RESTRICTIONS: Final = ("tools: ", "read_only: ", "Unknown parameter ")


class Answer(NamedTuple):
    """The parts of an HTTP response that the bridge uses."""

    status: int
    content_type: str
    body: bytes
    retry_after: str | None = None
    location: str | None = None


def as_error(request_id: Any, answer: Answer, configuration: Configuration) -> Json:
    """A JSON-RPC error with the server's own message if it sent one."""
    body = _json(answer.body)
    if isinstance(body.get("error"), dict):
        error = body["error"]
        if told := _wrong_restriction(answer, body, configuration):
            error = {**error, "message": told}
        if answer.retry_after and isinstance(error.get("data", {}), dict):
            error = {**error, "data": {**error.get("data", {}), "retry_after": answer.retry_after}}
        return {**body, "id": request_id, "error": error}
    data: Json = {"status": answer.status}
    if isinstance(body.get("code"), str):
        data["code"] = body["code"]
    if answer.retry_after:
        data["retry_after"] = answer.retry_after
    return failure(request_id, UNREACHABLE, sentence(answer, configuration), data)


def sentence(answer: Answer, configuration: Configuration) -> str:
    """What the address returned, and what to do about it."""
    body, address = _json(answer.body), configuration.address
    told = f"{body['code']}: {body.get('error', '')}" if isinstance(body.get("code"), str) else ""
    if answer.status == _NOT_FOUND:
        found = told or _what(answer)
        return f"There is no MCP server at {address}: HTTP 404 ({found}). {_ADVICE}"
    if answer.status == UNAUTHORIZED and told:
        return f"{told} {_how_to_set_a_key(configuration)}"
    if told := told or _wrong_restriction(answer, body, configuration):
        return told + _later(answer)
    if answer.status in _REDIRECTS and answer.location:
        return f"{address} redirects to {answer.location[:200]}. Set {ADDRESS} to that address."
    if answer.status in DOWN:
        what = f"{address} returned HTTP {answer.status} with {_what(answer)}"
        return f"{what}: the service is down.{_later(answer)}"
    return f"{address} returned HTTP {answer.status} with {_what(answer)}. {_ADVICE}"


def _how_to_set_a_key(configuration: Configuration) -> str:
    return (
        f"Set {TOKEN} to a valid key: create one at {configuration.key_page} (or at /keys of the "
        "website, if that has another address), or with `bowerbird key create`."
    )


def _wrong_restriction(answer: Answer, body: Json, configuration: Configuration) -> str:
    """The server's error about a restriction, with the variable that contains it; or empty."""
    error = body.get("error")
    told = str(error.get("message", "")) if isinstance(error, dict) else ""
    if answer.status != _BAD_REQUEST or not told.startswith(_ABOUT_RESTRICTIONS):
        return ""
    is_ours = any(repr(name) in told for name in configuration.tools)
    return f"{told} Correct {TOOLS if is_ours else ADDRESS}."


def _later(answer: Answer) -> str:
    """When to retry. The header is a number of seconds or a date."""
    if not answer.retry_after:
        return ""
    return f" Retry after {answer.retry_after}{' s' if answer.retry_after.isdigit() else ''}."


def _what(answer: Answer) -> str:
    if not answer.body.strip():
        return "an empty body"
    if answer.content_type == "text/html":
        title = _TITLE.search(answer.body)
        words = " ".join(title[1].decode("utf-8", "replace").split()) if title else ""
        return f"a web page titled {words!r}" if words else "a web page"
    return f"a body of type {answer.content_type}"


def _json(body: bytes) -> Json:
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
