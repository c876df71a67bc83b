"""The request and response headers that the OpenAPI document describes."""

from typing import Any, Final

Json = dict[str, Any]
HEADER_REF: Final = "#/components/headers/"

_TEXT: Final[Json] = {"type": "string"}
_HTTP_DATE: Final[Json] = {"type": "string", "format": "http-date"}


def _header(text: str, schema: Json, example: Any, *, required: bool = True) -> Json:
    return {"description": text, "required": required, "schema": schema, "example": example}


HEADERS: Final[dict[str, Json]] = {
    "X-Request-Id": _header(
        "Identifies the request in the log. The client's own id, if it sent a valid one.",
        {"type": "string", "pattern": "^[A-Za-z0-9_.:-]{1,128}$"},
        "5f0c1d9a77e2-41",
    ),
    "Cache-Control": _header(
        "Only the account's own client may cache the answer, and it must revalidate it.",
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
        "Identifies this version of the answer. Send it as If-None-Match.",
        _TEXT,
        '"6c1f8e0a5d4b3c2f1e0d9c8b7a695847"',
    ),
    "Last-Modified": _header(
        "When the resource was last changed. Send it as If-Unmodified-Since.",
        _HTTP_DATE,
        "Sat, 18 Jul 2026 08:21:13 GMT",
    ),
    "Content-Encoding": _header(
        "zstd or gzip, if the request accepts it.", _TEXT, "gzip", required=False
    ),
    "Location": _header("Path of the created resource.", _TEXT, "/v1/views/weekend-reading"),
    "Idempotency-Replayed": _header(
        "true if this is the stored answer to an earlier request with the same key.",
        {"type": "string", "const": "true"},
        "true",
        required=False,
    ),
    "Retry-After": _header("Seconds to wait.", {"type": "integer", "minimum": 0}, 5),
    "WWW-Authenticate": _header(
        "How to authenticate, and where the metadata of the API is.",
        _TEXT,
        'Bearer realm="bowerbird", resource_metadata='
        '"https://example.com/.well-known/oauth-protected-resource"',
    ),
    "Content-Disposition": _header(
        "The file's name.", _TEXT, 'attachment; filename="bookmarks.csv"'
    ),
    "Accept-Ranges": _header("The file can be requested in ranges.", _TEXT, "bytes"),
    "Content-Length": _header(
        "Size of this answer in bytes.", {"type": "integer", "minimum": 0}, 48213
    ),
    "Content-Range": _header(
        "The range that was sent, and the size of the file.", _TEXT, "bytes 0-99/48213"
    ),
    "X-Content-Type-Options": _header(
        "Clients must not guess another content type.", _TEXT, "nosniff"
    ),
    "X-Service-Environment": _header(
        "The answer comes from the sandbox.", {"type": "string", "const": "sandbox"}, "sandbox"
    ),
    "Deprecation": _header(
        "When this endpoint was deprecated.", _HTTP_DATE, "Wed, 01 Jul 2026 00:00:00 GMT"
    ),
    "Sunset": _header(
        "The endpoint may be removed after this date.", _HTTP_DATE, "Mon, 28 Dec 2026 00:00:00 GMT"
    ),
    "Link": _header(
        'The migration guide: rel="deprecation".',
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


def _sent(name: str, text: str, example: str, schema: Json = _TEXT) -> Json:
    """A request header other than Authorization, which the security scheme describes."""
    return {
        "name": name,
        "in": "header",
        "required": False,
        "description": text,
        "schema": schema,
        "example": example,
    }


REQUEST_ID: Final = _sent(
    "X-Request-Id",
    "Your own id for the request. The answer and the log contain it.",
    "nightly-sync-17",
    {"type": "string", "pattern": "^[A-Za-z0-9_.:-]{1,128}$"},
)
IF_NONE_MATCH: Final = _sent(
    "If-None-Match",
    "ETag of the answer you have. If it is still current, you get 304.",
    '"6c1f8e0a5d4b3c2f1e0d9c8b7a695847"',
)
IF_MATCH: Final = _sent(
    "If-Match",
    "ETag of the resource as you have it, or *. If somebody has changed the resource since, you "
    "get 412, and nothing is changed.",
    "*",
)
IF_UNMODIFIED_SINCE: Final = _sent(
    "If-Unmodified-Since",
    "updated_at of the resource as you have it, or a date of HTTP. If it was changed later, you "
    "get 412, and nothing is changed. Has no effect with If-Match.",
    "Fri, 01 Jan 2100 00:00:00 GMT",
)
RANGE: Final = _sent(
    "Range", "The range of the file to send, for example to resume a download.", "bytes=1048576-"
)
IF_RANGE: Final = _sent(
    "If-Range",
    "ETag of the partly downloaded file. A changed file is sent in full.",
    '"6c1f8e0a5d4b3c2f1e0d9c8b7a695847"',
)


def idempotency_key(operation: str) -> Json:
    """Each operation has its own example: a key that is used for another request is refused."""
    return _sent(
        "Idempotency-Key",
        "A retry with the same key within 24 hours gets the first answer.",
        f"{operation}-8f14e45f-ceea-467f",
        {"type": "string", "pattern": "^[!-~]{1,255}$", "minLength": 1, "maxLength": 255},
    )


def named(*names: str) -> Json:
    return {name: {"$ref": HEADER_REF + name} for name in names}
