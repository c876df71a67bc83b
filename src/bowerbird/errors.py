"""Every way the service refuses a request.

One row a code. REST answers, the OpenAPI document and docs/errors.md are all read from this
table, so a code is added here or nowhere. Domain code raises a Refusal; only wire/ turns it
into HTTP.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final


class Code(StrEnum):
    """Stable machine codes. Clients branch on these; never rename one."""

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
    PAYLOAD_TOO_LARGE = "PAYLOAD_TOO_LARGE"
    RANGE_NOT_SATISFIABLE = "RANGE_NOT_SATISFIABLE"
    IDEMPOTENCY_KEY_REUSED = "IDEMPOTENCY_KEY_REUSED"
    RATE_LIMITED = "RATE_LIMITED"
    INTERNAL_ERROR = "INTERNAL_ERROR"
    SERVICE_UNAVAILABLE = "SERVICE_UNAVAILABLE"


@dataclass(frozen=True, slots=True)
class Meaning:
    status: int
    when: str
    client_should: str


CATALOGUE: Final[dict[Code, Meaning]] = {
    Code.UNAUTHORIZED: Meaning(
        401, "The key is missing, malformed or revoked", "Not retry with the same key"
    ),
    Code.SUBSCRIPTION_REQUIRED: Meaning(
        402,
        "The endpoint needs a paid plan, or the month's free calls are used",
        "Show upgrade_url",
    ),
    Code.FILTER_NOT_ALLOWED: Meaning(
        402, "Filtering on a free plan", "Retry without the filter, or upgrade"
    ),
    Code.PAGINATION_NOT_ALLOWED: Meaning(
        402, "Paging past the first page on a free plan", "Stop paging, or upgrade"
    ),
    Code.VECTOR_SEARCH_NOT_ALLOWED: Meaning(
        402,
        "Search by meaning without a paid plan and a built vector store",
        "Use keyword search (q), or upgrade",
    ),
    Code.INVALID_REQUEST: Meaning(
        400, "A parameter is missing or has the wrong shape; the sentence names it", "Fix and retry"
    ),
    Code.LINK_EXPIRED: Meaning(
        403, "A download link has expired, or was changed", "Poll the job for a new link"
    ),
    Code.NOT_FOUND: Meaning(
        404, "No such bookmark, label, Smart View, job or path on this account", "Not retry"
    ),
    Code.METHOD_NOT_ALLOWED: Meaning(
        405, "The path exists, but not for this method", "Use a method of the Allow header"
    ),
    Code.IDEMPOTENCY_IN_PROGRESS: Meaning(
        409, "The first request with this Idempotency-Key still runs", "Wait Retry-After seconds"
    ),
    Code.PAYLOAD_TOO_LARGE: Meaning(413, "The body is larger than accepted", "Send less at once"),
    Code.RANGE_NOT_SATISFIABLE: Meaning(
        416, "The Range header asks for bytes behind a file's end", "Ask for less"
    ),
    Code.IDEMPOTENCY_KEY_REUSED: Meaning(
        422, "The Idempotency-Key was used with another request", "Use a new key"
    ),
    Code.RATE_LIMITED: Meaning(
        429, "Too many requests, or over 100 unfinished exports", "Wait Retry-After seconds"
    ),
    Code.INTERNAL_ERROR: Meaning(
        500, "A fault of the service; the sentence carries a reference", "Retry with back-off"
    ),
    Code.SERVICE_UNAVAILABLE: Meaning(
        503, "The database is away or the disk is full", "Wait Retry-After seconds"
    ),
}


class Advice(StrEnum):
    """What helps after a refusal. Each surface says it in its own words."""

    SEARCH_BY_WORD = "search by word"
    MERGE_LABELS = "merge labels"


@dataclass(slots=True)
class Refusal(Exception):  # noqa: N818 - a refusal is an answer, not a fault
    """The request is understood and will not be served. Says why in one sentence."""

    code: Code
    sentence: str
    headers: dict[str, str] = field(default_factory=dict)
    advice: Advice | None = None

    def __str__(self) -> str:
        return self.sentence

    @property
    def status(self) -> int:
        return CATALOGUE[self.code].status


def invalid(parameter: str, problem: str) -> Refusal:
    return Refusal(Code.INVALID_REQUEST, f"{parameter}: {problem}.")


def not_found(kind: str, key: str) -> Refusal:
    return Refusal(Code.NOT_FOUND, f"No {kind} {shown(key)} on this account.")


def unavailable(sentence: str, retry_after_s: int = 5) -> Refusal:
    return Refusal(Code.SERVICE_UNAVAILABLE, sentence, {"Retry-After": str(retry_after_s)})


def shown(value: str, most: int = 80) -> str:
    """A received value as it may stand in a sentence: quoted, escaped and cut."""
    return ascii(value if len(value) <= most else value[:most] + "…").replace("\\u2026", "…")
