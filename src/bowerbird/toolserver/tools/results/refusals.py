"""Error messages for a model: the code, the problem, and what to do next."""

import re
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
    Code.COUNT_MISMATCH: (
        "Call again with dry_run true, tell the user the new count, and send it as expected_count."
    ),
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


_NAMED: Final = re.compile(r"No (?:deleted )?([A-Za-z ]+?) '")
_SEE: Final[Mapping[str, str]] = {
    "post": "search_bookmarks and list_bookmarks return the ids of posts.",
    "label": "list_labels returns the labels.",
    "Smart View": "list_views returns the slugs.",
    "digest": "list_digests returns the ids of digests.",
    "import": "list_imports returns the ids of imports.",
    "highlight": "get_bookmarks returns the highlights of a post.",
}


class Advised(Refusal):
    """A refusal with a next step of its own. `{upgrade}` in it is the address of the plans."""

    def __init__(self, code: Code, sentence: str, next_step: str) -> None:
        Refusal.__init__(self, code, sentence)
        self.next_step = next_step


def no_selection(refused: Refusal) -> Advised:
    """The plan does not include the filter of a change. Without it every post would change."""
    problem = refused.sentence.replace(" Remove them, or upgrade.", " Nothing was changed.")
    return Advised(
        refused.code,
        problem,
        "Send the ids of the posts as post_ids instead, or tell the user that they can upgrade at "
        "{upgrade}. Do not send a wider filter.",
    )


def sentence(refused: Refusal, upgrade_url: str) -> str:
    """The message in the form `CODE: problem. What to do.`."""
    next_step = _next_step(refused).format(
        upgrade=upgrade_url, wait=refused.headers.get("Retry-After", "5")
    )
    return f"{refused.code}: {refused.sentence} {next_step}".rstrip()


def _next_step(refused: Refusal) -> str:
    if isinstance(refused, Advised):
        return refused.next_step
    if refused.code is Code.NOT_FOUND:
        return _where(refused.sentence)
    return _NEXT_STEPS.get(refused.code, "Tell the user.")


def _where(problem: str) -> str:
    """The tool that returns the values that exist, if there is one."""
    named = _NAMED.match(problem)
    if named is None:
        return "Tell the user." if problem.startswith("No ") else "Do not retry."
    step = "" if "Did you mean" in problem else _SEE.get(named[1], "")
    return f"Do not retry with the same value. {step}".rstrip()
