"""The OpenAPI document of /ingest/v1, derived from the same table that serves it."""

from functools import cache
from typing import Any, Final

import msgspec
from msgspec import Struct

from bowerbird import __version__
from bowerbird.ingest.operations import OPERATIONS, SEND_EVENTS, SEND_FILE
from bowerbird.model.jobs import JobState
from bowerbird.openapi import operations, specification
from bowerbird.openapi.headers import HEADERS
from bowerbird.openapi.schemas import REF, Json, described, of_struct, refusals, schemas
from bowerbird.requests import limits
from bowerbird.requests import schemas as requests

_TAGS: Final = {
    "runs": "Reading a list of saved posts, page by page.",
    "events": "Single changes at the source.",
    "files": "Files with saved posts.",
    "labels": "Names to choose from.",
    "bookmarks": "Single posts and links.",
    "status": "What was sent, and what may still be sent.",
}
_OF_V1: Final = ("SaveResult", "SavedItem", "OperationError", "BatchMeta", "BulkChange", "Example")
# They mean something else than in /v1.
_SHARED: Final = {
    "run_id": "The run.",
    "next_seq": "The number of the next page.",
    "cursor": "Where the list continues.",
    "source_user_id": "The account of the source.",
}
_PARAMETERS: Final = {"job_id": "The id of the file's import.", "run_id": "The run's id."}
_UNUSED: Final = frozenset(
    {"Deprecation", "Sunset", "Link", "X-Service-Environment", "Accept-Ranges", "ETag"}
    | {"Content-Disposition", "Content-Range", "Content-Length", "X-Content-Type-Options"}
    | {"Content-Encoding"}
)
_ABOUT: Final = """\
Where the devices of an account send the posts that their user saves. Answers have the same shape
and the same codes as those of /v1.

Send the token of a device, or an API key, as `Authorization: Bearer <TOKEN>`. A device token works
only here. Bodies may be compressed: `Content-Encoding: gzip` or `zstd`.

A page that cannot be read is answered with 200 and kept for a year. Never send it again: the server
reads it again after an upgrade. Everything may be repeated; a repetition changes nothing.
"""


def document(api_origin: str, site_origin: str = "") -> Json:
    site_origin = site_origin or api_origin
    paths: Json = {}
    for operation in OPERATIONS:
        made = specification.operation_of(operation)
        for parameter in made["parameters"]:
            parameter["description"] = _PARAMETERS.get(parameter["name"], parameter["description"])
        if operation is SEND_EVENTS:
            made["requestBody"]["content"]["application/json"] = {"schema": _events()}
        elif operation is SEND_FILE:
            made["requestBody"] = _file()
        paths.setdefault(operation.path, {})[operation.method.lower()] = made
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Bowerbird ingest",
            "version": __version__,
            "summary": "Where devices send saved posts.",
            "description": _ABOUT,
            "license": {"name": "Apache License 2.0", "identifier": "Apache-2.0"},
            "contact": {"name": "Operator of this installation", "url": site_origin},
        },
        "servers": [{"url": api_origin, "description": "This installation."}],
        "security": [{"token": []}],
        "tags": [{"name": name, "description": text} for name, text in _TAGS.items()],
        "paths": paths,
        "components": {
            "schemas": {
                **_schemas(),
                **{
                    specification.answer_name(one): specification.answer_schema(one)
                    for one in OPERATIONS
                },
            },
            "responses": specification.shared_refusals(OPERATIONS),
            "headers": {name: made for name, made in HEADERS.items() if name not in _UNUSED},
            "securitySchemes": {
                "token": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "A device token (`dev_…`), or an API key of the account.",
                }
            },
        },
    }


@cache
def encoded(api_origin: str, site_origin: str) -> bytes:
    return msgspec.json.encode(document(api_origin, site_origin))


def _schemas() -> Json:
    kinds = sorted({one.data for one in OPERATIONS if one.data}, key=lambda kind: kind.__name__)
    _, records = msgspec.json.schema_components(kinds, ref_template=REF + "{name}")
    named = {kind.__name__: kind for kind in requests.with_nested(kinds)}
    made: Json = {name: _answered(named[name], schema) for name, schema in records.items()}
    made["FileResponse"]["properties"]["status"] = {
        "enum": list(JobState),
        "description": "pending, processing, completed or failed.",
    }
    # Shared with /v1.
    made |= {name: schemas()[name] for name in _OF_V1}
    bodies = [one.body for one in OPERATIONS if one.body is not None]
    made |= requests.components(bodies, REF)
    made["SaveRequest"] = operations.enforced("SaveRequest", made["SaveRequest"])
    made |= refusals()
    return {name: described(schema) for name, schema in made.items()}


def _answered(kind: type[Struct], schema: Any) -> Json:
    """An answer has every field, also those that have a default in the code."""
    made = {key: value for key, value in schema.items() if key not in ("title", "description")}
    made["required"] = list(made["properties"])
    sentences = _SHARED | of_struct(kind)
    for field, shape in made["properties"].items():
        shape.pop("default", None)
        if field in sentences:
            shape["description"] = sentences[field]
    return made


def _events() -> Json:
    return {
        "type": "array",
        "items": {"$ref": f"{REF}Event"},
        "minItems": 1,
        "maxItems": limits.INGEST_EVENTS_MAX,
    }


def _file() -> Json:
    file = {"type": "string", "format": "binary"}
    form = {"type": "object", "properties": {"file": file}, "required": ["file"]}
    return {
        "required": True,
        "description": f"The file, up to {limits.INGEST_FILE_BYTES_MAX // 1_000_000} MB.",
        "content": {
            "application/octet-stream": {"schema": file},
            "multipart/form-data": {"schema": form},
        },
    }
