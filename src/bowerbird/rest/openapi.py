"""The OpenAPI document of /v1, made from the same tables that serve it."""

import re
from typing import Final

from bowerbird import __version__
from bowerbird.errors import CATALOGUE, Code
from bowerbird.rest import sandboxed
from bowerbird.rest.operations import OPERATIONS, PATH_PARAMETERS, TAGS, Operation
from bowerbird.rest.parameters import PARAMETERS
from bowerbird.rest.schemas import REF, Json, schemas, success

# Every call may meet these, whatever it asks for.
_ALWAYS: Final = (
    Code.UNAUTHORIZED,
    Code.METHOD_NOT_ALLOWED,
    Code.PAYLOAD_TOO_LARGE,
    Code.RATE_LIMITED,
    Code.INTERNAL_ERROR,
    Code.SERVICE_UNAVAILABLE,
    Code.INVALID_REQUEST,
)
_KEYED: Final = (Code.IDEMPOTENCY_IN_PROGRESS, Code.IDEMPOTENCY_KEY_REUSED)
_TEXT: Final[Json] = {"required": True, "schema": {"type": "string"}}
_SECONDS: Final[Json] = {"required": True, "schema": {"type": "integer"}}
_HEADERS: Final[dict[Code, Json]] = {
    Code.UNAUTHORIZED: {"WWW-Authenticate": _TEXT},
    Code.METHOD_NOT_ALLOWED: {"Allow": _TEXT},
    Code.IDEMPOTENCY_IN_PROGRESS: {"Retry-After": _SECONDS},
    Code.RATE_LIMITED: {"Retry-After": _SECONDS},
    Code.RANGE_NOT_SATISFIABLE: {"Content-Range": _TEXT},
    Code.SERVICE_UNAVAILABLE: {"Retry-After": _SECONDS},
}
_REQUEST_ID: Final[Json] = {"X-Request-Id": _TEXT}
_MEANS: Final = {
    200: "Done.",
    201: "Made.",
    202: "Begun.",
    206: "The part that was asked for.",
    207: "Some of it failed; each part says for itself.",
}
_OPTIONAL_BODIES: Final = ("ExportRequest",)
_FILE_TYPES: Final = ("application/pdf", "application/zip", "text/csv", "application/json")


def document(api_origin: str) -> Json:
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Bowerbird",
            "version": __version__,
            "description": "A library for saved posts. Clients branch on code, never on error.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": api_origin}],
        "security": [{"key": []}],
        "tags": [{"name": name, "description": text} for name, text in TAGS.items()],
        "paths": _paths(),
        "components": {
            "schemas": {
                **schemas(),
                sandboxed.MARK: sandboxed.mark_schema(),
                **{_answer(o): _answer_schema(o) for o in OPERATIONS if not o.is_file},
            },
            "securitySchemes": {
                "key": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "An API key of the account. It does not expire.",
                }
            },
        },
    }


def _paths() -> Json:
    paths: dict[str, Json] = {}
    for operation in OPERATIONS:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(operation)
    for twin in sandboxed.operations():
        served = sandboxed.marked(_operation(twin))
        paths.setdefault(twin.path, {})[twin.method.lower()] = served
    return paths


def _operation(operation: Operation) -> Json:
    made: Json = {
        "operationId": operation.name,
        "summary": operation.summary,
        "tags": [operation.tag],
        "parameters": _parameters(operation),
    }
    if operation.is_file:
        made["security"] = []
    if operation.body:
        made["requestBody"] = {
            "required": operation.body not in _OPTIONAL_BODIES,
            "content": _json({"$ref": REF + operation.body}),
        }
    made["responses"] = {**_answers(operation), **_refusals(operation)}
    return made


def _parameters(operation: Operation) -> list[Json]:
    found = [
        {
            "name": name,
            "in": "path",
            "required": True,
            "description": PATH_PARAMETERS[name],
            "schema": {"type": "string"},
        }
        for name in re.findall(r"\{(\w+)\}", operation.path)
    ]
    for name in operation.query:
        schema, text = PARAMETERS[name]
        found.append(
            {"name": name, "in": "query", "required": False, "description": text, "schema": schema}
        )
    if operation.is_keyed:
        found.append(
            {
                "name": "Idempotency-Key",
                "in": "header",
                "required": False,
                "description": "A retry with the same key gets the first answer, for 24 hours.",
                "schema": {"type": "string", "pattern": "^[!-~]{1,255}$"},
            }
        )
    return found


def _answers(operation: Operation) -> Json:
    is_tagged = operation.method == "GET" and operation.is_tagged
    headers: Json = dict(_REQUEST_ID)
    if is_tagged or operation.is_file:
        headers["ETag"] = _TEXT
    if operation.is_keyed:
        headers["Idempotency-Replayed"] = {"schema": {"const": "true"}}
    for name, is_certain in operation.headers.items():
        headers[name] = {"required": is_certain, "schema": {"type": "string"}}
    answers: Json = {
        str(status): {
            "description": _MEANS[status],
            "headers": headers,
            "content": _content(operation),
        }
        for status in operation.statuses
    }
    if is_tagged:
        answers["304"] = {
            "description": "Unchanged since the answer with this ETag.",
            "headers": headers,
        }
    return answers


def _content(operation: Operation) -> Json:
    if operation.is_file:
        return {media_type: {} for media_type in _FILE_TYPES}
    return _json({"$ref": REF + _answer(operation)})


def _answer(operation: Operation) -> str:
    # The sandbox's answer is its twin's, and a mark.
    name = operation.name.removeprefix("sandbox")
    return f"{name[0].upper()}{name[1:]}Answer"


def _answer_schema(operation: Operation) -> Json:
    data: Json = {"$ref": REF + operation.data}
    if operation.is_many:
        data = {"type": "array", "items": data}
    meta: Json = {"$ref": REF + operation.meta} if operation.meta else {"type": "object"}
    return success(data, meta)


def _refusals(operation: Operation) -> Json:
    codes = {*operation.refusals, *_ALWAYS, *(_KEYED if operation.is_keyed else ())}
    if operation.is_file and not operation.is_sandbox:
        codes -= {Code.UNAUTHORIZED, Code.RATE_LIMITED}
    by_status: dict[int, list[Code]] = {}
    for code in CATALOGUE:
        if code in codes:
            by_status.setdefault(CATALOGUE[code].status, []).append(code)
    return {str(status): _refusal(status, same) for status, same in sorted(by_status.items())}


def _refusal(status: int, codes: list[Code]) -> Json:
    base = "UpgradeRefusal" if status == CATALOGUE[Code.SUBSCRIPTION_REQUIRED].status else "Refusal"
    headers = dict(_REQUEST_ID)
    for code in codes:
        headers |= _HEADERS.get(code, {})
    return {
        "description": "; ".join(f"{code}: {CATALOGUE[code].when}" for code in codes) + ".",
        "headers": headers,
        "content": _json(
            {
                "allOf": [{"$ref": REF + base}],
                "properties": {"code": {"enum": [code.value for code in codes]}},
            }
        ),
    }


def _json(schema: Json) -> Json:
    return {"application/json": {"schema": schema}}
