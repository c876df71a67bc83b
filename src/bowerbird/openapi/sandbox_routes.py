"""Which operations the sandbox serves, and how the OpenAPI document describes them.

They come from the same table, so an operation and its sandbox counterpart cannot differ.
"""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from bowerbird.errors import Code
from bowerbird.openapi import operations
from bowerbird.openapi.headers import idempotency_key, named
from bowerbird.openapi.operations import OPERATIONS
from bowerbird.openapi.schemas import REF, Json, required
from bowerbird.wire.deprecation import Route
from bowerbird.wire.responses.envelope import SANDBOX
from bowerbird.wire.responses.replies import Header
from bowerbird.wire.routes import Operation

ROUTES: Final = tuple((one.method, one.path) for one in OPERATIONS if one.is_in_sandbox)
SIMULATED: Final = {
    "unauthorized": Code.UNAUTHORIZED,
    "subscription_required": Code.SUBSCRIPTION_REQUIRED,
    "filter_not_allowed": Code.FILTER_NOT_ALLOWED,
    "pagination_not_allowed": Code.PAGINATION_NOT_ALLOWED,
    "invalid_request": Code.INVALID_REQUEST,
    "not_found": Code.NOT_FOUND,
    "rate_limited": Code.RATE_LIMITED,
    "server_error": Code.INTERNAL_ERROR,
}
# Simulates nothing. Programs that send every example of the document get real answers with it.
NONE: Final = "none"
MARK: Final = "SandboxMark"
TAG: Final = "sandbox"
ENVIRONMENT: Final = "X-Service-Environment"


def moved(path: str) -> str:
    """The path in the sandbox for a path of the API."""
    return SANDBOX + path.removeprefix("/v1")


def notices(of_api: Mapping[Route, list[Header]]) -> Mapping[Route, list[Header]]:
    """A deprecated operation is deprecated in the sandbox too, with the same headers."""
    return {
        (method, moved(path)): headers
        for (method, path), headers in of_api.items()
        if (method, path) in ROUTES
    }


def twin(operation: Operation) -> Operation:
    return msgspec.structs.replace(
        operation,
        route=f"{operation.method} {moved(operation.path)}",
        name=f"sandbox{operation.name[0].upper()}{operation.name[1:]}",
        refusals=(*operation.refusals, *SIMULATED.values()),
        is_sandbox=True,
    )


def mark_schema() -> Json:
    """What every answer of the sandbox has in addition to the API's own."""
    meta = {**required(sandbox={"const": True}), "additionalProperties": True}
    return required(meta=meta)


def marked(operation: Json) -> Json:
    """The operation as the sandbox serves it, with examples of its own library."""
    added = _headers(operation["operationId"], is_write="requestBody" in operation)
    own = [operations.sandbox_parameter(one) for one in operation["parameters"]]
    return {
        **operations.sandbox_body(operation),
        "security": [],
        "parameters": [*own, *added],
        "responses": {
            status: _marked_response(response)
            for status, response in operation["responses"].items()
        },
    }


def _headers(operation: str, *, is_write: bool) -> list[Json]:
    simulate: Json = {
        "name": "X-Service-Sandbox-Error",
        "in": "header",
        "required": False,
        "description": "Simulate this error, such as rate_limited.",
        "schema": {"type": "string", "enum": [*SIMULATED, NONE]},
        "example": NONE,
    }
    key: Json = {
        "name": "Idempotency-Key",
        "in": "header",
        "required": False,
        "description": "Accepted and ignored: the sandbox stores nothing that could be replayed.",
        "schema": {"type": "string"},
        "example": idempotency_key(operation)["example"],
    }
    return [key, simulate] if is_write else [simulate]


def _marked_response(response: Json) -> Json:
    made: Json = {**response, "headers": {**response["headers"], **named(ENVIRONMENT)}}
    media: dict[str, Any] = response.get("content", {}).get("application/json", {})
    # A file has no envelope that could contain the mark.
    if "schema" in media:
        schema = {"allOf": [media["schema"], {"$ref": REF + MARK}]}
        made["content"] = {"application/json": {**media, "schema": schema, **_examples(media)}}
    return made


def _examples(media: Json) -> Json:
    """The examples of the API, each with the mark."""
    made: Json = {}
    if "example" in media:
        made["example"] = _marked_body(media["example"])
    if "examples" in media:
        made["examples"] = {
            name: {"value": _marked_body(example["value"])}
            for name, example in media["examples"].items()
        }
    return made


def _marked_body(body: Json) -> Json:
    return {**body, "meta": {**body.get("meta", {}), "sandbox": True}}
