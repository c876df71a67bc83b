"""Refusals as a model reads them: the code, what is wrong, and what to do now."""

import re
from collections.abc import Mapping
from typing import Final

from bowerbird.errors import Code, Refusal

_THEN: Final[Mapping[Code, str]] = {
    Code.UNAUTHORIZED: "Ask the user for a working API key; do not retry with this one.",
    Code.SUBSCRIPTION_REQUIRED: (
        "Do not retry; tell the user that the plan is changed at {upgrade}."
    ),
    Code.FILTER_NOT_ALLOWED: (
        "Call again without the filter, or tell the user that the plan is changed at {upgrade}."
    ),
    Code.PAGINATION_NOT_ALLOWED: (
        "Work with the first page, or tell the user that the plan is changed at {upgrade}."
    ),
    Code.VECTOR_SEARCH_NOT_ALLOWED: "Call again with mode keyword.",
    Code.INVALID_REQUEST: "Correct the argument and call again.",
    Code.NOT_FOUND: "Look the right one up with a list tool; do not retry with this one.",
    Code.IDEMPOTENCY_IN_PROGRESS: "Wait a second and call again with the same idempotency_key.",
    Code.IDEMPOTENCY_KEY_REUSED: "Call again with a new idempotency_key.",
    Code.PAYLOAD_TOO_LARGE: "Send less at once.",
    Code.RATE_LIMITED: "Wait {wait} seconds and call again.",
    Code.INTERNAL_ERROR: (
        "Call once more with the same idempotency_key; if it fails again, tell the user."
    ),
    Code.SERVICE_UNAVAILABLE: "Wait {wait} seconds and call again.",
}


def sentence(refused: Refusal, upgrade_url: str) -> str:
    """As `CODE: sentence. What to do.`."""
    then = _THEN.get(refused.code, "Tell the user.").format(
        upgrade=upgrade_url, wait=refused.headers.get("Retry-After", "5")
    )
    return f"{refused.code}: {in_our_words(refused.sentence)} {then}"


def in_our_words(text: str) -> str:
    """The library speaks in the REST interface's names; a model knows those of the tools."""
    for theirs, ours in _NAMES.items():
        text = text.replace(theirs, ours)
    # In quotes it is what a caller wrote.
    return re.sub("(?<!')tweet_ids", "post_ids", text)


_NAMES: Final = {
    "Idempotency-Key": "idempotency_key",
    "relevance needs q or vector_search_term": "relevance needs words to search for",
    "vector_search_term: ": "mode: ",
    "; q searches the same posts by word": "; mode keyword searches the same posts by word",
    "; q searches by word": "; mode keyword searches by word",
}
