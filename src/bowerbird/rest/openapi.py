"""The OpenAPI document of /v1, made from the same tables that serve it."""

from collections.abc import Iterable
from typing import Any, Final

import msgspec

from bowerbird import __version__
from bowerbird.errors import CATALOGUE, Code
from bowerbird.library.bookmarks import BookmarkCounts
from bowerbird.library.parameters import FILTER_PARAMETERS, LIST_PARAMETERS
from bowerbird.model.bookmarks import Article, Attachment, Bookmark, QuotedPost
from bowerbird.rest.parameters import PARAMETERS

Json = dict[str, Any]

_REF: Final = "#/components/schemas/"
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
_PLAN: Final = (
    Code.SUBSCRIPTION_REQUIRED,
    Code.FILTER_NOT_ALLOWED,
    Code.PAGINATION_NOT_ALLOWED,
    Code.VECTOR_SEARCH_NOT_ALLOWED,
)
_HEADERS: Final[dict[Code, Json]] = {
    Code.UNAUTHORIZED: {"WWW-Authenticate": {"required": True, "schema": {"type": "string"}}},
    Code.METHOD_NOT_ALLOWED: {"Allow": {"required": True, "schema": {"type": "string"}}},
    Code.RATE_LIMITED: {"Retry-After": {"required": True, "schema": {"type": "integer"}}},
    Code.SERVICE_UNAVAILABLE: {"Retry-After": {"required": True, "schema": {"type": "integer"}}},
}
_REQUEST_ID: Final[Json] = {"X-Request-Id": {"required": True, "schema": {"type": "string"}}}


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
        "tags": [{"name": "bookmarks", "description": "The posts an account has saved."}],
        "paths": _paths(),
        "components": {
            "schemas": _schemas(),
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
    return {
        "/v1/bookmarks": {
            "get": _operation(
                "listBookmarks",
                "The account's bookmarks, page by page.",
                "BookmarkListAnswer",
                parameters=_query(LIST_PARAMETERS),
                refusals=_PLAN,
            )
        },
        "/v1/bookmarks/count": {
            "get": _operation(
                "countBookmarks",
                "How many bookmarks match. Without parameters it only tries the key.",
                "BookmarkCountAnswer",
                parameters=_query(FILTER_PARAMETERS),
                refusals=tuple(code for code in _PLAN if code is not Code.PAGINATION_NOT_ALLOWED),
            )
        },
        "/v1/bookmarks/{post_id}": {
            "get": _operation(
                "getBookmark",
                "One bookmark.",
                "BookmarkAnswer",
                parameters=[
                    {
                        "name": "post_id",
                        "in": "path",
                        "required": True,
                        "description": "The saved post's identifier.",
                        "schema": {"type": "string"},
                    }
                ],
                refusals=(Code.NOT_FOUND, Code.SUBSCRIPTION_REQUIRED),
            )
        },
    }


def _query(names: Iterable[str]) -> list[Json]:
    return [
        {
            "name": name,
            "in": "query",
            "required": False,
            "description": PARAMETERS[name][1],
            "schema": PARAMETERS[name][0],
        }
        for name in names
    ]


def _operation(
    name: str, summary: str, answer: str, *, parameters: list[Json], refusals: tuple[Code, ...]
) -> Json:
    tag = {"ETag": {"required": True, "schema": {"type": "string"}}}
    return {
        "operationId": name,
        "summary": summary,
        "tags": ["bookmarks"],
        "parameters": parameters,
        "responses": {
            "200": {
                "description": "Done.",
                "headers": {**tag, **_REQUEST_ID},
                "content": _json({"$ref": _REF + answer}),
            },
            "304": {
                "description": "Unchanged since the answer with this ETag.",
                "headers": {**tag, **_REQUEST_ID},
            },
            **_refusals({*refusals, *_ALWAYS}),
        },
    }


def _refusals(codes: set[Code]) -> Json:
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
                "allOf": [{"$ref": _REF + base}],
                "properties": {"code": {"enum": [code.value for code in codes]}},
            }
        ),
    }


def _json(schema: Json) -> Json:
    return {"application/json": {"schema": schema}}


def _schemas() -> Json:
    _, components = msgspec.json.schema_components(
        [Bookmark, BookmarkCounts, Attachment, Article, QuotedPost],
        ref_template=_REF + "{name}",
    )
    schemas: Json = dict(components)
    # JSON Schema's "$" is the very end, and not every reader of it knows what stands behind ours.
    schemas["Bookmark"]["properties"]["post_id"]["pattern"] = "^[0-9]{1,40}$"
    details = schemas["PostDetails"]["properties"]
    details["attachments"]["items"] = {"$ref": _REF + "Attachment"}
    details["article"] = {"anyOf": [{"$ref": _REF + "Article"}, {"type": "null"}]}
    details["quoted_tweet"] = {"anyOf": [{"$ref": _REF + "QuotedPost"}, {"type": "null"}]}
    for name in ("Bookmark", "PostDetails", "PostMeta", "Metrics", "AuthorDetails"):
        # An answer always carries every field, though an import may leave some out.
        schemas[name]["required"] = list(schemas[name]["properties"])
        for field in schemas[name]["properties"].values():
            field.pop("default", None)
    return {
        **schemas,
        "ListMeta": _list_meta(),
        "BookmarkListAnswer": _success(
            {"type": "array", "items": {"$ref": _REF + "Bookmark"}}, {"$ref": _REF + "ListMeta"}
        ),
        "BookmarkAnswer": _success({"$ref": _REF + "Bookmark"}, {"type": "object"}),
        "BookmarkCountAnswer": _success({"$ref": _REF + "BookmarkCounts"}, {"type": "object"}),
        "Refusal": _object(
            status={"const": False}, code={"type": "string"}, error={"type": "string"}
        ),
        "UpgradeRefusal": _object(
            status={"const": False},
            code={"type": "string"},
            error={"type": "string"},
            upgrade_url={"type": "string", "format": "uri"},
        ),
    }


def _list_meta() -> Json:
    meta = _object(
        next_cursor={"type": ["string", "null"], "description": "null on the last page."},
        limit={"type": "integer", "minimum": 1, "maximum": 100},
        total_count={"type": "integer", "minimum": 0},
        count={"type": "integer", "minimum": 0, "maximum": 100},
    )
    meta["properties"]["hint"] = {
        "type": "string",
        "description": "Says so when only read or archived bookmarks match.",
    }
    return meta


def _success(data: Json, meta: Json) -> Json:
    return _object(status={"const": True}, data=data, meta=meta)


def _object(**properties: Json) -> Json:
    return {"type": "object", "properties": properties, "required": list(properties)}
