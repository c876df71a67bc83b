"""The OpenAPI document of /v1, derived from the same tables that serve it."""

import re
from collections.abc import Sequence
from typing import Any, Final

import msgspec
from msgspec import Struct

from bowerbird import __version__
from bowerbird.errors import CATALOGUE, Code
from bowerbird.openapi import headers, operations, sandbox_routes
from bowerbird.openapi.headers import HEADERS, named
from bowerbird.openapi.operations import (
    OPERATIONS,
    OTHER_EXAMPLES,
    PATH_EXAMPLES,
    PATH_PARAMETERS,
    TAGS,
)
from bowerbird.openapi.sandbox_routes import MARK, ROUTES
from bowerbird.openapi.schemas import REF, Json, described, schemas, success
from bowerbird.requests import schemas as requests
from bowerbird.requests.fields import examples_of
from bowerbird.wire import deprecation
from bowerbird.wire.deprecation import DEPRECATIONS, Deprecation
from bowerbird.wire.routes import Operation

# Of the committed document. An installation's own document has its own address.
DEFAULT_ORIGIN: Final = "http://127.0.0.1:8080"
RESPONSE_REF: Final = "#/components/responses/"
# Every operation may return these.
_ALWAYS: Final = (
    Code.UNAUTHORIZED,
    Code.PAYLOAD_TOO_LARGE,
    Code.RATE_LIMITED,
    Code.INTERNAL_ERROR,
    Code.SERVICE_UNAVAILABLE,
    Code.INVALID_REQUEST,
)
_KEYED: Final = (
    Code.IDEMPOTENCY_IN_PROGRESS,
    Code.IDEMPOTENCY_KEY_REUSED,
    Code.IDEMPOTENCY_LIMIT,
)
# Refusals that are stored under an Idempotency-Key and replayed.
_REPLAYED: Final = (Code.INVALID_REQUEST, Code.NOT_FOUND)
_HEADERS: Final[dict[Code, str]] = {
    Code.UNAUTHORIZED: "WWW-Authenticate",
    Code.IDEMPOTENCY_IN_PROGRESS: "Retry-After",
    Code.RATE_LIMITED: "Retry-After",
    Code.IDEMPOTENCY_LIMIT: "Retry-After",
    Code.EXPORT_COUNT_LIMIT: "Retry-After",
    Code.EXPORT_SIZE_LIMIT: "Retry-After",
    Code.SERVICE_UNAVAILABLE: "Retry-After",
    Code.RANGE_NOT_SATISFIABLE: "Content-Range",
}
_CREATED: Final = 201
_ACCEPTED: Final = 202
_PARTIAL: Final = 206
_PAYMENT: Final = CATALOGUE[Code.SUBSCRIPTION_REQUIRED].status
_MEANS: Final = {
    200: "Success.",
    _CREATED: "Created.",
    _ACCEPTED: "Accepted; the work has started.",
    _PARTIAL: "The requested range.",
    207: "Some operations failed; each has its own result.",
}
_FILE_TYPES: Final = (
    "application/pdf",
    "application/zip",
    "text/csv",
    "application/json",
    "text/html",
)
_ABOUT: Final = """\
A library for saved posts: list, search, label and export what an account has saved.

Send your API key as `Authorization: Bearer <API_KEY>`. Every answer is an object with `status`:
a success has `data` and `meta`, a refusal has `code` and `error`. Branch on `code`: the wording of
`error` may change, codes do not.

Lists are paged by `meta.next_cursor`, which is null on the last page. A POST or PATCH with
an `Idempotency-Key` can be retried safely: it takes effect only once.

Within /v1 no field, parameter or code is removed, renamed or given another type. New fields,
optional parameters, codes and values may be added; ignore those that you do not know.
"""


def document(
    api_origin: str,
    *,
    site_origin: str = "",
    deprecations: Sequence[Deprecation] = DEPRECATIONS,
    has_sandbox: bool = True,
) -> Json:
    site_origin = site_origin or api_origin
    operations = [(operation, _ending(operation, deprecations)) for operation in OPERATIONS]
    is_ending = any(row is not None for _, row in operations)
    unused = () if is_ending else headers.OF_DEPRECATED
    marks: Json = {}
    if has_sandbox:
        operations += [
            (sandbox_routes.twin(one), row)
            for one, row in operations
            if (one.method, one.path) in ROUTES
        ]
        marks = {MARK: described(sandbox_routes.mark_schema())}
    else:
        unused = (*unused, sandbox_routes.ENVIRONMENT)
    tags = {name: text for name, text in TAGS.items() if has_sandbox or name != sandbox_routes.TAG}
    known = schemas()
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Bowerbird",
            "version": __version__,
            "summary": "A library for saved posts.",
            "description": _ABOUT,
            "license": {"name": "Apache License 2.0", "identifier": "Apache-2.0"},
            "contact": {"name": "Operator of this installation", "url": site_origin},
        },
        "servers": [{"url": api_origin, "description": "This installation."}],
        "externalDocs": {"description": "API reference for people.", "url": f"{site_origin}/docs"},
        "security": [{"key": []}],
        "tags": [{"name": name, "description": text} for name, text in tags.items()],
        "paths": _paths(operations, site_origin),
        "components": {
            "schemas": {
                **known,
                **_open_metas(known),
                **marks,
                **{answer_name(o): answer_schema(o) for o in OPERATIONS if not o.is_file},
            },
            "responses": shared_refusals(OPERATIONS),
            "headers": {name: made for name, made in HEADERS.items() if name not in unused},
            "securitySchemes": {
                "key": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "An API key of the account. Keys do not expire.",
                }
            },
        },
    }


def _ending(operation: Operation, table: Sequence[Deprecation]) -> Deprecation | None:
    return deprecation.of_route(table, operation.method, operation.path)


def _paths(operations: Sequence[tuple[Operation, Deprecation | None]], site_origin: str) -> Json:
    paths: dict[str, Json] = {}
    for operation, row in operations:
        made = operation_of(operation, headers.OF_DEPRECATED if row else ())
        if operation.is_sandbox:
            made = sandbox_routes.marked(made)
        if row is not None:
            made |= _deprecated(row, site_origin)
        paths.setdefault(operation.path, {})[operation.method.lower()] = made
    return paths


def _deprecated(row: Deprecation, site_origin: str) -> Json:
    return {
        "deprecated": True,
        "x-sunset": row.sunset.isoformat(),
        "externalDocs": {
            "description": "What to use instead.",
            "url": row.note_address(site_origin),
        },
    }


def operation_of(operation: Operation, more_headers: Sequence[str] = ()) -> Json:
    made: Json = {
        "operationId": operation.name,
        "summary": operation.summary,
        "description": _description(operation),
        "tags": [operation.tag],
        "parameters": _parameters(operation),
    }
    if operation.is_file:
        made["security"] = []
    if operation.body:
        schema = {"$ref": REF + operation.body.__name__}
        content = _json(schema, operations.example_request(_name(operation)))
        made["requestBody"] = {"required": operation.is_body_required, "content": content}
    made["responses"] = {
        **_answers(operation, more_headers),
        **_refusals(operation, more_headers),
    }
    return made


def _description(operation: Operation) -> str:
    """What follows from the table: what a request costs, and how to page, repeat or cache it."""
    query = () if operation.query is None else operation.query.__struct_encode_fields__
    is_current = operation.method == "GET" and operation.is_tagged and not operation.is_file
    said = {
        _cost(operation): True,
        "With an Idempotency-Key it can be repeated safely.": operation.is_keyed,
        "Send meta.next_cursor as cursor for the next page.": "cursor" in query,
        "Send the ETag as If-None-Match to get 304 if nothing has changed.": is_current,
        "202: the rest is done in the background.": _ACCEPTED in operation.statuses,
    }
    return " ".join(sentence for sentence, is_true in said.items() if is_true)


def _cost(operation: Operation) -> str:
    if operation.is_sandbox:
        return "Answers with sample data, needs no key and stores nothing."
    if operation.is_public:
        return "Needs no key."
    if Code.SUBSCRIPTION_REQUIRED in operation.refusals:
        return "Needs a paid plan."
    if operation.counts(b"?"):
        return "On the free plan it counts as a call."
    return "It never counts as a call."


def _parameters(operation: Operation) -> list[Json]:
    found = [
        {
            "name": name,
            "in": "path",
            "required": True,
            "description": PATH_PARAMETERS[name],
            "schema": {"type": "string"},
            "example": OTHER_EXAMPLES.get(operation.path, PATH_EXAMPLES[name]),
        }
        for name in re.findall(r"\{(\w+)\}", operation.path)
    ]
    if operation.query is not None:
        found += _query_parameters(operation.query)
    if operation.is_file:
        found += [headers.RANGE, headers.IF_RANGE]
    elif operation.method == "GET" and operation.is_tagged:
        found.append(headers.IF_NONE_MATCH)
    if operation.is_conditional and operation.method != "GET":
        found += [headers.IF_MATCH, headers.IF_UNMODIFIED_SINCE]
    if operation.is_keyed:
        # Both documents have an operation that saves bookmarks.
        surface = operation.path.partition("/v1/")[0].strip("/")
        found.append(headers.idempotency_key("-".join(filter(None, (surface, operation.name)))))
    return [*found, headers.REQUEST_ID]


def _query_parameters(kind: type[Struct]) -> list[Json]:
    examples = examples_of(kind)
    required = {field.encode_name for field in msgspec.structs.fields(kind) if field.required}
    found = []
    for name, field in requests.parameters(kind).items():
        schema = {key: value for key, value in field.items() if key != "description"}
        made = {"name": name, "in": "query", "required": name in required, "schema": schema}
        found.append({**made, "description": field["description"], "example": examples[name]})
    return found


def _answers(operation: Operation, more_headers: Sequence[str]) -> Json:
    always = headers.OF_FILES if operation.is_file else headers.ALWAYS
    answers: Json = {
        str(status): {
            "description": _MEANS[status],
            "headers": {**named(*always, *more_headers), **_own_headers(operation, status)},
            "content": _content(operation, status),
        }
        for status in operation.statuses
    }
    if operation.method == "GET" and operation.is_tagged:
        answers["304"] = {
            "description": "The answer with this ETag is still current.",
            "headers": named(*always, *more_headers, "ETag"),
        }
    return answers


def _content(operation: Operation, status: int) -> Json:
    if operation.is_file:
        return {media_type: {} for media_type in _FILE_TYPES}
    return _json(
        {"$ref": REF + answer_name(operation)}, operations.example_answer(_name(operation), status)
    )


def _own_headers(operation: Operation, status: int) -> Json:
    found: list[str] = []
    if operation.method == "GET" and operation.is_tagged:
        found += ["ETag", "Content-Encoding"]
        found += ["Last-Modified"] * operation.is_conditional
    if status in (_CREATED, _PARTIAL):
        found.append("Location" if status == _CREATED else "Content-Range")
    if operation.is_keyed:
        found.append("Idempotency-Replayed")
    own = {
        name: named(name)[name] if is_certain else {**HEADERS[name], "required": False}
        for name, is_certain in operation.headers.items()
    }
    return {**named(*found), **own}


def _name(operation: Operation) -> str:
    """The name of the API's own operation, whose schemas and examples the sandbox shares."""
    name = operation.name.removeprefix("sandbox")
    return name[0].lower() + name[1:]


def answer_name(operation: Operation) -> str:
    name = _name(operation)
    return f"{name[0].upper()}{name[1:]}Answer"


def answer_schema(operation: Operation) -> Json:
    assert operation.data is not None
    data: Json = {"$ref": REF + operation.data.__name__}
    if operation.is_many:
        data = {"type": "array", "items": data}
    meta: Json = {"type": "object", "additionalProperties": True}
    if operation.meta is not None:
        meta = {"$ref": REF + operation.meta.__name__}
    return described(success(data, meta))


def _open_metas(known: Json) -> dict[str, Json]:
    """The schemas of meta, which say that there may be more: the sandbox adds its mark."""
    kinds = {one.meta.__name__ for one in OPERATIONS if one.meta is not None}
    return {name: {**known[name], "additionalProperties": True} for name in sorted(kinds)}


def _refusals(operation: Operation, more_headers: Sequence[str]) -> Json:
    return {
        str(status): {"$ref": RESPONSE_REF + _shared_name(operation, same[0])}
        if len(same) == 1 and not more_headers and not operation.is_sandbox
        else _refusal(same, more_headers, is_replayed=_is_replayed(operation, same[0]))
        for status, same in _by_status(operation).items()
    }


def _by_status(operation: Operation) -> dict[int, list[Code]]:
    by_status: dict[int, list[Code]] = {}
    codes = _codes(operation)
    for code in CATALOGUE:
        if code in codes:
            by_status.setdefault(CATALOGUE[code].status, []).append(code)
    return dict(sorted(by_status.items()))


def _codes(operation: Operation) -> set[Code]:
    codes = {*operation.codes, *_ALWAYS, *(_KEYED if operation.is_keyed else ())}
    if operation.is_file and not operation.is_sandbox:
        codes -= {Code.UNAUTHORIZED, Code.RATE_LIMITED}
    return codes


def shared_refusals(operations: Sequence[Operation]) -> Json:
    """A response for each code that is the only one of its status in some operation."""
    made: Json = {}
    for operation in operations:
        for same in _by_status(operation).values():
            if len(same) == 1:
                is_replayed = _is_replayed(operation, same[0])
                made[_shared_name(operation, same[0])] = _refusal(same, (), is_replayed=is_replayed)
    return dict(sorted(made.items()))


def _shared_name(operation: Operation, code: Code) -> str:
    return f"{code}.replayed" if _is_replayed(operation, code) else code.value


def _is_replayed(operation: Operation, code: Code) -> bool:
    return operation.is_keyed and code in _REPLAYED


def _refusal(codes: Sequence[Code], more_headers: Sequence[str], *, is_replayed: bool) -> Json:
    is_payment = CATALOGUE[codes[0]].status == _PAYMENT
    own = named(*dict.fromkeys(_HEADERS[code] for code in codes if code in _HEADERS))
    if not all(code in _HEADERS for code in codes):
        own = {name: {**HEADERS[name], "required": False} for name in own}
    if is_replayed:
        own |= named("Idempotency-Replayed")
    schema: Json = {
        "allOf": [{"$ref": REF + ("UpgradeRefusal" if is_payment else "Refusal")}],
        "properties": {"code": {"enum": [code.value for code in codes]}},
    }
    by_code = {code.value: {"value": operations.example_refusal(code)} for code in codes}
    return {
        "description": "; ".join(f"{code}: {CATALOGUE[code].when}" for code in codes) + ".",
        "headers": {**named(*headers.ALWAYS, *more_headers), **own},
        "content": {"application/json": {"schema": schema, "examples": by_code}},
    }


def _json(schema: Json, example: Any = None) -> Json:
    content: Json = {"schema": schema}
    if example is not None:
        content["example"] = example
    return {"application/json": content}
