"""Examples of the OpenAPI document.

examples.json contains recorded requests and answers. A test sends the requests again and compares.
Refusals are built here by the code that builds the real ones.

Requests to the sandbox have their own: its library has other posts, labels and views.
"""

from functools import cache
from importlib import resources
from typing import Any, Final

import msgspec

from bowerbird.errors import Code, Refusal
from bowerbird.wire.responses import envelope

_UPGRADE_URL: Final = "https://example.com/upgrade"
_SENTENCES: Final[dict[Code, str]] = {
    Code.UNAUTHORIZED: "The API key is not valid, or was revoked.",
    Code.SUBSCRIPTION_REQUIRED: "All 100 calls of the free plan for this month are used. "
    "The next month begins on 2026-08-01 (UTC).",
    Code.FILTER_NOT_ALLOWED: "The free plan does not include filters (author). "
    "Remove them, or upgrade.",
    Code.PAGINATION_NOT_ALLOWED: "The free plan shows only the first page. Remove cursor, "
    "or upgrade.",
    Code.VECTOR_SEARCH_NOT_ALLOWED: "Search by meaning needs a paid plan. q searches by word.",
    Code.INVALID_REQUEST: "limit: must be a whole number from 1 to 100, got 'ten'.",
    Code.LINK_EXPIRED: "This download link has expired. Poll the export for a new link.",
    Code.NOT_FOUND: "No post '1' on this account.",
    Code.METHOD_NOT_ALLOWED: "Method PUT is not allowed; use GET, HEAD or OPTIONS.",
    Code.IDEMPOTENCY_IN_PROGRESS: "Idempotency-Key: the first request with this key is still "
    "running.",
    Code.PRECONDITION_FAILED: "If-Match: the resource has another ETag now. Nothing was changed. "
    "Get it again, then decide whether to repeat the change.",
    Code.PAYLOAD_TOO_LARGE: "The body is larger than 1 MiB.",
    Code.RANGE_NOT_SATISFIABLE: "Range: starts past the end of the file, which has 48213 bytes.",
    Code.IDEMPOTENCY_KEY_REUSED: "Idempotency-Key: this key was used for another request; "
    "use a new one.",
    Code.RATE_LIMITED: "This account has 100 unfinished exports. Wait until some have finished.",
    Code.IDEMPOTENCY_LIMIT: "Idempotency-Key: this account has stored 10,000 responses today "
    "(UTC), the maximum. Nothing was changed. Retry tomorrow, or without a key.",
    Code.EXPORT_COUNT_LIMIT: "This account has started 20 exports today (UTC), the maximum. "
    "Retry tomorrow.",
    Code.EXPORT_SIZE_LIMIT: "The exports of this account have written 2 GB of files today (UTC), "
    "the maximum. Retry tomorrow.",
    Code.INTERNAL_ERROR: envelope.fault("5f0c1d9a77e2-41").sentence,
    Code.SERVICE_UNAVAILABLE: "The database's disk is full; this change was not made.",
}


@cache
def _recorded() -> dict[str, dict[str, Any]]:
    file = resources.files("bowerbird.openapi") / "examples.json"
    found: dict[str, dict[str, Any]] = msgspec.json.decode(file.read_bytes())
    return found


def request(operation: str) -> Any:
    """The body of a request, or None if none is recorded."""
    return _recorded().get(operation, {}).get("request")


def answer(operation: str, status: int) -> Any:
    """The body of an answer, or None if none is recorded."""
    return _recorded().get(operation, {}).get("answers", {}).get(str(status))


def refusal(code: Code) -> Any:
    sentence = _SENTENCES.get(code, "The request was refused.")
    return msgspec.json.decode(envelope.refusal(Refusal(code, sentence), _UPGRADE_URL).body)


Json = dict[str, Any]

_POSTS: Final = ("1908771653022654191", "1908772659655622110")
_LABEL: Final = "birds"
# Ids of exports expire, so no example of them can work for ever.
_PARAMETERS: Final[dict[str, Any]] = {
    "post_id": _POSTS[0],
    "slug": "birds",
    # Each view has its own, so that a program can combine the example with any of them.
    "bucket": "",
    "author": "wren_and_reed",
    "tag": _LABEL,
    "q": "reed* -paint",
    "is_archived_only": False,
    "import_run": "",
}


def parameter(of_api: Json) -> Json:
    name = of_api["name"]
    return {**of_api, "example": _PARAMETERS[name]} if name in _PARAMETERS else of_api


def with_body(operation: Json) -> Json:
    body = operation.get("requestBody")
    if body is None:
        return operation
    (media,) = body["content"].values()
    content = {"application/json": {**media, "example": _moved(media["example"])}}
    return {**operation, "requestBody": {**body, "content": content}}


def _moved(value: Any) -> Any:
    """The example of the API with posts and labels that the sandbox has."""
    if isinstance(value, list):
        return [_moved(one) for one in value]
    if not isinstance(value, dict):
        return value
    moved = {name: _moved(one) for name, one in value.items()}
    if "tweet_ids" in moved:
        moved["tweet_ids"] = list(_POSTS[: len(value["tweet_ids"])])
    for name in ("label_name", "tag"):
        if name in moved:
            moved[name] = _LABEL
    return moved
