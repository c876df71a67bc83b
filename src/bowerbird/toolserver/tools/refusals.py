"""Error messages for a model: the code, the problem, and what to do next."""

from collections.abc import Mapping
from typing import Final

from bowerbird.errors import Code, Refusal

_NEXT_STEPS: Final[Mapping[Code, str]] = {
    Code.UNAUTHORIZED: "Do not retry with this key. Ask the user for a valid API key.",
    Code.SUBSCRIPTION_REQUIRED: "Do not retry. Tell the user that they can upgrade at {upgrade}.",
    Code.FILTER_NOT_ALLOWED: (
        "Call again without the filter, or tell the user that they can upgrade at {upgrade}."
    ),
    Code.PAGINATION_NOT_ALLOWED: (
        "Work with the first page, or tell the user that they can upgrade at {upgrade}."
    ),
    Code.VECTOR_SEARCH_NOT_ALLOWED: "Call search_bookmarks with mode keyword instead.",
    Code.INVALID_REQUEST: "Fix the argument and call again.",
    Code.NOT_FOUND: "Do not retry with the same value; find the right one with a list tool.",
    Code.IDEMPOTENCY_IN_PROGRESS: "Wait a second and call again with the same idempotency_key.",
    Code.IDEMPOTENCY_KEY_REUSED: "Call again with a new idempotency_key.",
    Code.PAYLOAD_TOO_LARGE: "Send less per call.",
    Code.RATE_LIMITED: "Wait {wait} seconds and call again.",
    Code.IDEMPOTENCY_LIMIT: "Call again without idempotency_key.",
    Code.EXPORT_COUNT_LIMIT: "Do not retry today. Tell the user.",
    Code.EXPORT_SIZE_LIMIT: "Do not retry today. Tell the user.",
    Code.INTERNAL_ERROR: (
        "Retry once with the same idempotency_key. If it fails again, tell the user."
    ),
    Code.SERVICE_UNAVAILABLE: "Wait {wait} seconds and call again.",
}


def sentence(refused: Refusal, upgrade_url: str) -> str:
    """The message in the form `CODE: problem. What to do.`."""
    next_step = _NEXT_STEPS.get(refused.code, "Tell the user.").format(
        upgrade=upgrade_url, wait=refused.headers.get("Retry-After", "5")
    )
    return f"{refused.code}: {refused.sentence} {next_step}"
