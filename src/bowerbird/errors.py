"""All error codes of the API, one row per code.

Error responses, the OpenAPI document and docs/errors.md use this table, so a new code is added
only here. The library raises a Refusal; the HTTP layer turns it into a response.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from msgspec import Struct


class Code(StrEnum):
    """Stable error codes. Clients branch on them, so never rename one."""

    UNAUTHORIZED = "UNAUTHORIZED"
    SUBSCRIPTION_REQUIRED = "SUBSCRIPTION_REQUIRED"
    FILTER_NOT_ALLOWED = "FILTER_NOT_ALLOWED"
    PAGINATION_NOT_ALLOWED = "PAGINATION_NOT_ALLOWED"
    VECTOR_SEARCH_NOT_ALLOWED = "VECTOR_SEARCH_NOT_ALLOWED"
    INVALID_REQUEST = "INVALID_REQUEST"
    LINK_EXPIRED = "LINK_EXPIRED"
    NOT_FOUND = "NOT_FOUND"
    METHOD_NOT_ALLOWED = "METHOD_NOT_ALLOWED"
    IDEMPOTENCY_IN_PROGRESS = "IDEMPOTENCY_IN_PROGRESS"
    SOURCE_USER_MISMATCH = "SOURCE_USER_MISMATCH"
    RUN_FINISHED = "RUN_FINISHED"
    COUNT_MISMATCH = "COUNT_MISMATCH"
    CURSOR_EXPIRED = "CURSOR_EXPIRED"
    PRECONDITION_FAILED = "PRECONDITION_FAILED"
    PAYLOAD_TOO_LARGE = "PAYLOAD_TOO_LARGE"
    RANGE_NOT_SATISFIABLE = "RANGE_NOT_SATISFIABLE"
    IDEMPOTENCY_KEY_REUSED = "IDEMPOTENCY_KEY_REUSED"
    RATE_LIMITED = "RATE_LIMITED"
    IDEMPOTENCY_LIMIT = "IDEMPOTENCY_LIMIT"
    EXPORT_COUNT_LIMIT = "EXPORT_COUNT_LIMIT"
    EXPORT_SIZE_LIMIT = "EXPORT_SIZE_LIMIT"
    INTERNAL_ERROR = "INTERNAL_ERROR"
    SERVICE_UNAVAILABLE = "SERVICE_UNAVAILABLE"


@dataclass(frozen=True, slots=True)
class Meaning:
    status: int
    when: str
    client_should: str


CATALOGUE: Final[dict[Code, Meaning]] = {
    Code.UNAUTHORIZED: Meaning(
        401, "The API key is missing, malformed or revoked", "Get a valid key before retrying"
    ),
    Code.SUBSCRIPTION_REQUIRED: Meaning(
        402,
        "The endpoint requires a paid plan, or this month's free calls are used up",
        "Show upgrade_url to the user",
    ),
    Code.FILTER_NOT_ALLOWED: Meaning(
        402, "The free plan does not allow filters", "Retry without the filter, or upgrade"
    ),
    Code.PAGINATION_NOT_ALLOWED: Meaning(
        402, "The free plan allows only the first page", "Stop paging, or upgrade"
    ),
    Code.VECTOR_SEARCH_NOT_ALLOWED: Meaning(
        402,
        "Search by meaning requires a paid plan and a complete vector store",
        "Use keyword search (q), or upgrade",
    ),
    Code.INVALID_REQUEST: Meaning(
        400,
        "A parameter or field is missing or invalid; the error message names it",
        "Fix the request before retrying",
    ),
    Code.LINK_EXPIRED: Meaning(
        403, "The download link has expired or was altered", "Poll the job for a new link"
    ),
    Code.NOT_FOUND: Meaning(
        404,
        "The path does not exist, or the account has no such record",
        "Check the path and the id",
    ),
    Code.METHOD_NOT_ALLOWED: Meaning(
        405, "The path does not support this method", "Use a method from the Allow header"
    ),
    Code.IDEMPOTENCY_IN_PROGRESS: Meaning(
        409,
        "The first request with this Idempotency-Key is still running",
        "Wait Retry-After seconds, then retry",
    ),
    Code.SOURCE_USER_MISMATCH: Meaning(
        409,
        "The device has sent posts of another account of the source",
        "Ask the user, then retry with confirm_source_user",
    ),
    Code.RUN_FINISHED: Meaning(
        409, "The run is finished and accepts no more pages", "Start a new run"
    ),
    Code.COUNT_MISMATCH: Meaning(
        409,
        "Another number of bookmarks matches than expected_count says; nothing was changed",
        "Look at the matches again, then retry with their count",
    ),
    Code.CURSOR_EXPIRED: Meaning(
        410,
        "The changes after this cursor are no longer kept, or the library was restored",
        "Call /v1/changes without a cursor to list every post again",
    ),
    Code.PRECONDITION_FAILED: Meaning(
        412,
        "The resource was changed since the ETag or the time that the request names",
        "Get the resource again, then decide whether to repeat the change",
    ),
    Code.PAYLOAD_TOO_LARGE: Meaning(
        413, "The request body exceeds the size limit", "Split the request into smaller ones"
    ),
    Code.RANGE_NOT_SATISFIABLE: Meaning(
        416, "The Range header starts past the end of the file", "Request a range within the file"
    ),
    Code.IDEMPOTENCY_KEY_REUSED: Meaning(
        422, "The Idempotency-Key was already used for a different request", "Use a new key"
    ),
    Code.RATE_LIMITED: Meaning(
        429,
        "Too many requests, or the account has 100 unfinished exports or 5 unfinished changes",
        "Wait Retry-After seconds, then retry",
    ),
    Code.IDEMPOTENCY_LIMIT: Meaning(
        429,
        "The account has stored its daily maximum of responses under an Idempotency-Key; nothing "
        "was changed",
        "Wait Retry-After seconds, or retry without a key",
    ),
    Code.EXPORT_COUNT_LIMIT: Meaning(
        429,
        "The account has started its daily maximum of exports",
        "Wait Retry-After seconds, then retry",
    ),
    Code.EXPORT_SIZE_LIMIT: Meaning(
        429,
        "The account's exports have written their daily maximum of bytes",
        "Wait Retry-After seconds, or export fewer posts",
    ),
    Code.INTERNAL_ERROR: Meaning(
        500,
        "Unexpected server error; the error message carries a reference to the log",
        "Retry with exponential backoff",
    ),
    Code.SERVICE_UNAVAILABLE: Meaning(
        503,
        "The database or the embedding model is unavailable or overloaded, the disk is full, or "
        "the service is stopping",
        "Wait Retry-After seconds, then retry",
    ),
}


class Advice(StrEnum):
    """The suggested fix for a refusal. REST, tools and commands each phrase it differently."""

    SEARCH_BY_WORD = "search by word"
    MERGE_LABELS = "merge labels"


# Why one operation or item of a request failed, while others may have succeeded.
class OperationError(Struct, frozen=True):
    code: str
    """An error code, as in a refused request."""
    message: str
    """The reason, in a sentence for people to read."""


@dataclass(slots=True)
class Refusal(Exception):  # noqa: N818 - the request is wrong, not the service
    """The service rejects a request. `sentence` is the error message for the caller."""

    code: Code
    sentence: str
    headers: dict[str, str] = field(default_factory=dict)
    advice: Advice | None = None

    def __str__(self) -> str:
        return self.sentence

    @property
    def status(self) -> int:
        return CATALOGUE[self.code].status


class TooManyWaiting(Refusal):
    """More requests wait than the database has room or time for. It works, and changed nothing."""

    def __init__(self, sentence: str, retry_after_s: int) -> None:
        headers = {"Retry-After": str(retry_after_s)}
        Refusal.__init__(self, Code.SERVICE_UNAVAILABLE, sentence, headers)


def invalid(parameter: str, problem: str) -> Refusal:
    return Refusal(Code.INVALID_REQUEST, f"{parameter}: {problem}.")


# Of the keys that a request names.
_NAMED: Final = 3


class NotFound(Refusal):
    """`kind` names what the account does not have."""

    def __init__(self, kind: str, *keys: str) -> None:
        named = [*map(shown, keys[:_NAMED])]
        if len(keys) > _NAMED:
            named.append(f"{len(keys) - _NAMED} more")
        which = " or ".join(filter(None, (", ".join(named[:-1]), named[-1])))
        Refusal.__init__(self, Code.NOT_FOUND, f"No {kind} {which} on this account.")
        self.kind = kind


def not_found(kind: str, *keys: str) -> Refusal:
    return NotFound(kind, *keys)


def account_gone() -> Refusal:
    return Refusal(Code.NOT_FOUND, "The account no longer exists.")


def unavailable(sentence: str, retry_after_s: int = 5) -> Refusal:
    return Refusal(Code.SERVICE_UNAVAILABLE, sentence, {"Retry-After": str(retry_after_s)})


def stopping() -> Refusal:
    return unavailable("The service is stopping.")


def shown(value: str, most: int = 80) -> str:
    """A value from a request for use in an error message: quoted, escaped and truncated."""
    return ascii(value if len(value) <= most else value[:most] + "…").replace("\\u2026", "…")
