"""The operations of the OpenAPI document, their parameters, bodies and examples.

examples.json contains recorded requests and answers. A test sends the requests again and compares.
Refusals are built here by the code that builds the real ones. Requests to the sandbox have their
own examples: its library has other posts, labels and views.
"""

from collections.abc import Iterator
from functools import cache
from importlib import resources
from types import ModuleType
from typing import Any, Final

import msgspec

from bowerbird.errors import Code, Refusal
from bowerbird.requests.limits import TEXT_MAX
from bowerbird.rest.routes import MODULES
from bowerbird.wire.responses import envelope
from bowerbird.wire.routes import Operation

Json = dict[str, Any]
# Their texts are filters, which are checked together and not by their types.
_FILTERS: Final = frozenset({"ChangeFilters", "ExportRequest", "NewRuleQuery", "NewViewQuery"})
_ALTERNATIVES: Final = ("anyOf", "oneOf")


def enforced(name: str, schema: Json) -> Json:
    made = _without_union(schema)
    if name in _FILTERS:
        made["properties"] = {
            field: _bounded(shape) for field, shape in schema["properties"].items()
        }
    return made


def _without_union(schema: Json) -> Json:
    """Moves alternatives that only name required fields into allOf.

    Generators of clients take alternatives at the top for a union, and lose the properties.
    """
    choices = {name: schema[name] for name in _ALTERNATIVES if name in schema}
    if not choices or "properties" not in schema:
        return dict(schema)
    rest = {name: value for name, value in schema.items() if name not in choices}
    return {**rest, "allOf": [{name: value} for name, value in choices.items()]}


def _bounded(shape: Json) -> Json:
    if "anyOf" in shape:
        # A text, or a list of such texts.
        return {**shape, "anyOf": [_bounded_either(one) for one in shape["anyOf"]]}
    kinds = shape.get("type", ())
    is_text = kinds == "string" or "string" in kinds
    if not is_text or "enum" in shape or "maxLength" in shape:
        return shape
    return {**shape, "maxLength": TEXT_MAX}


def _bounded_either(shape: Json) -> Json:
    if "items" in shape:
        return {**shape, "items": _bounded(shape["items"])}
    return _bounded(shape)


def _declared(module: ModuleType) -> Iterator[object]:
    for value in vars(module).values():
        yield from (value.values() if isinstance(value, dict) else [value])


OPERATIONS: Final = tuple(
    one for module in MODULES for one in _declared(module) if isinstance(one, Operation)
)

TAGS: Final[dict[str, str]] = {
    "account": "The account itself.",
    "bookmarks": "The posts an account has saved.",
    "labels": "Names that an account gives its posts.",
    "views": "Queries that an account has saved.",
    "rules": "What should happen by itself to posts that match a query.",
    "shares": "Labels and views that an account shares, and its private feeds.",
    "digests": "Summaries of what was saved in a day or a week.",
    "exports": "An account's posts as a file to download.",
    "imports": "How posts came into the library, and undoing it.",
    "changes": "What happened to the library, in order.",
    "webhooks": "Addresses that are told what happens to the library.",
    "sandbox": "The same operations on sample data. Needs no key and stores nothing.",
}

PATH_PARAMETERS: Final[dict[str, str]] = {
    "post_id": "The saved post's identifier.",
    "highlight_id": "The highlight's id.",
    "label_id": "The label's id.",
    "slug": "The view's slug.",
    "rule_id": "The rule's id.",
    "share_id": "The share's id.",
    "digest_id": "The digest's id, such as weekly-2026-07-13, or latest.",
    "job_id": "The export's id.",
    "run_id": "The import's id.",
    "change_id": "The change's id.",
    "webhook_id": "The webhook's id.",
    "message_id": "The message's id, which is sent as webhook-id.",
}

PATH_EXAMPLES: Final[dict[str, str]] = {
    "post_id": "1945678901234567890",
    "highlight_id": "3f9a1c20be77",
    "label_id": "1",
    "slug": "weekend-reading",
    "rule_id": "5f0c9a7be01d4c3389aa01bc",
    "share_id": "9f86d081884c7d65",
    "job_id": "x7Qk2mZt9LwP4sVb",
    "change_id": "9b1f04c2d67ae35812c07d4e",
    "run_id": "5f2c9a7be01d4c3389aa01bc",
    "digest_id": "weekly-2026-07-13",
    "webhook_id": "5b0e6a4f9c21d7831f02ab47",
    "message_id": "msg_3c81f04e9d2a7b65_41",
}
# By the path. A label cannot be merged with itself, and the body's example has the id 1.
OTHER_EXAMPLES: Final[dict[str, str]] = {"/v1/labels/{label_id}/merge": "2"}


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
def _recorded() -> dict[str, Json]:
    file = resources.files("bowerbird.openapi") / "examples.json"
    found: dict[str, Json] = msgspec.json.decode(file.read_bytes())
    return found


def example_request(operation: str) -> Any:
    """The body of a request, or None if none is recorded."""
    return _recorded().get(operation, {}).get("request")


def example_answer(operation: str, status: int) -> Any:
    """The body of an answer, or None if none is recorded."""
    return _recorded().get(operation, {}).get("answers", {}).get(str(status))


def example_refusal(code: Code) -> Any:
    sentence = _SENTENCES.get(code, "The request was refused.")
    return msgspec.json.decode(envelope.refusal(Refusal(code, sentence), _UPGRADE_URL).body)


_SANDBOX_POSTS: Final = ("1908771653022654191", "1908772659655622110")
_SANDBOX_LABEL: Final = "birds"
# Ids of exports expire, so no example of them can work for ever.
_SANDBOX_PARAMETERS: Final[Json] = {
    "post_id": _SANDBOX_POSTS[0],
    "slug": "birds",
    # Each view has its own, so that a program can combine the example with any of them.
    "bucket": "",
    "author": "wren_and_reed",
    "tag": _SANDBOX_LABEL,
    "q": "reed* -paint",
    "is_archived_only": False,
    "import_run": "",
}


def sandbox_parameter(of_api: Json) -> Json:
    name = of_api["name"]
    return (
        {**of_api, "example": _SANDBOX_PARAMETERS[name]} if name in _SANDBOX_PARAMETERS else of_api
    )


def sandbox_body(operation: Json) -> Json:
    body = operation.get("requestBody")
    if body is None:
        return operation
    (media,) = body["content"].values()
    content = {"application/json": {**media, "example": _sandbox_value(media["example"])}}
    return {**operation, "requestBody": {**body, "content": content}}


def _sandbox_value(value: Any) -> Any:
    """The example of the API with posts and labels that the sandbox has."""
    if isinstance(value, list):
        return [_sandbox_value(one) for one in value]
    if not isinstance(value, dict):
        return value
    moved = {name: _sandbox_value(one) for name, one in value.items()}
    if "tweet_ids" in moved:
        moved["tweet_ids"] = list(_SANDBOX_POSTS[: len(value["tweet_ids"])])
    for name in ("label_name", "tag"):
        if name in moved:
            moved[name] = _SANDBOX_LABEL
    return moved
