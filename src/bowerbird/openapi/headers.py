"""The request and response headers that the OpenAPI document tells of."""

from typing import Any, Final

Json = dict[str, Any]
HEADER_REF: Final = "#/components/headers/"

_TEXT: Final[Json] = {"type": "string"}
_HTTP_DATE: Final[Json] = {"type": "string", "format": "http-date"}


def _header(text: str, schema: Json, example: Any, *, required: bool = True) -> Json:
    return {"description": text, "required": required, "schema": schema, "example": example}


HEADERS: Final[dict[str, Json]] = {
    "X-Request-Id": _header(
        "Names the request in the log; the caller's own where it sent one.",
        {"type": "string", "pattern": "^[A-Za-z0-9_.:-]{1,128}$"},
        "5f0c1d9a77e2-41",
    ),
    "Cache-Control": _header(
        "An answer belongs to one account, and is asked for again before it is used again.",
        _TEXT,
        "private, no-cache",
    ),
    "Vary": _header(
        "The request headers that an answer depends on.", _TEXT, "Authorization, Accept-Encoding"
    ),
    "Access-Control-Allow-Origin": _header("Any web page may read answers.", _TEXT, "*"),
    "Access-Control-Expose-Headers": _header(
        "The headers that a web page may read.", _TEXT, "Location, Retry-After, ETag"
    ),
    "ETag": _header(
        "Names this state of the answer; send it as If-None-Match.",
        _TEXT,
        '"6c1f8e0a5d4b3c2f1e0d9c8b7a695847"',
    ),
    "Content-Encoding": _header(
        "zstd or gzip, where the request allowed it.", _TEXT, "gzip", required=False
    ),
    "Location": _header("Path of what was made.", _TEXT, "/v1/views/weekend-reading"),
    "Idempotency-Replayed": _header(
        "true when this is the kept answer to an earlier request with the same key.",
        {"type": "string", "const": "true"},
        "true",
        required=False,
    ),
    "Retry-After": _header("Seconds to wait.", {"type": "integer", "minimum": 0}, 5),
    "WWW-Authenticate": _header(
        "How to authenticate, and where that is described.",
        _TEXT,
        'Bearer realm="bowerbird", resource_metadata='
        '"https://example.com/.well-known/oauth-protected-resource"',
    ),
    "Content-Disposition": _header(
        "The file's name.", _TEXT, 'attachment; filename="bookmarks.csv"'
    ),
    "Accept-Ranges": _header("Parts may be asked for.", _TEXT, "bytes"),
    "Content-Length": _header("Bytes of this answer.", {"type": "integer", "minimum": 0}, 48213),
    "Content-Range": _header("Which part it is, of how many bytes.", _TEXT, "bytes 0-99/48213"),
    "X-Content-Type-Options": _header("The type is the one that is told.", _TEXT, "nosniff"),
    "X-Service-Environment": _header(
        "Says that the sandbox answered.", {"type": "string", "const": "sandbox"}, "sandbox"
    ),
    "Deprecation": _header(
        "Since when this endpoint is deprecated.", _HTTP_DATE, "Wed, 01 Jul 2026 00:00:00 GMT"
    ),
    "Sunset": _header("When this endpoint may end.", _HTTP_DATE, "Mon, 28 Dec 2026 00:00:00 GMT"),
    "Link": _header(
        'Where the way out is described: rel="deprecation".',
        _TEXT,
        '<https://example.com/docs/moving>; rel="deprecation"',
    ),
}
ALWAYS: Final = (
    "X-Request-Id",
    "Cache-Control",
    "Vary",
    "Access-Control-Allow-Origin",
    "Access-Control-Expose-Headers",
)
OF_FILES: Final = (
    *(name for name in ALWAYS if name != "Vary"),
    "ETag",
    "X-Content-Type-Options",
)
OF_DEPRECATED: Final = ("Deprecation", "Sunset", "Link")

# Request headers beside Authorization, which the security scheme describes.
REQUEST_ID: Final[Json] = {
    "name": "X-Request-Id",
    "in": "header",
    "required": False,
    "description": "A name of your own for the request; the answer and the log carry it.",
    "schema": {"type": "string", "pattern": "^[A-Za-z0-9_.:-]{1,128}$"},
    "example": "nightly-sync-17",
}
IF_NONE_MATCH: Final[Json] = {
    "name": "If-None-Match",
    "in": "header",
    "required": False,
    "description": "ETag of the answer you have; 304 says that it still holds.",
    "schema": _TEXT,
    "example": '"6c1f8e0a5d4b3c2f1e0d9c8b7a695847"',
}
RANGE: Final[Json] = {
    "name": "Range",
    "in": "header",
    "required": False,
    "description": "The part of the file that is wanted, to go on with a broken download.",
    "schema": _TEXT,
    "example": "bytes=1048576-",
}
IF_RANGE: Final[Json] = {
    "name": "If-Range",
    "in": "header",
    "required": False,
    "description": "ETag of the file that was begun; another file is sent whole.",
    "schema": _TEXT,
    "example": '"6c1f8e0a5d4b3c2f1e0d9c8b7a695847"',
}
IDEMPOTENCY_KEY: Final[Json] = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "A retry with the same key gets the first answer, for 24 hours.",
    "schema": {"type": "string", "pattern": "^[!-~]{1,255}$", "minLength": 1, "maxLength": 255},
    "example": "8f14e45f-ceea-467f-a8c6-9b1d2c3e4f50",
}


def named(*names: str) -> Json:
    return {name: {"$ref": HEADER_REF + name} for name in names}
