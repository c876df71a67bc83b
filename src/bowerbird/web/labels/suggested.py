"""Suggested labels on the page of a post and in the label picker."""

from typing import Any

from bowerbird.errors import Refusal
from bowerbird.library.labels.suggestions import LabelSuggestions, SuggestedLabel
from bowerbird.model.accounts import Account
from bowerbird.web.library import post_parts


async def suggested(
    suggestions: LabelSuggestions, account: Account, post_id: str
) -> list[dict[str, Any]]:
    """None where they cannot be had: the page is worth opening without them."""
    if account.is_free:
        return []
    try:
        found = await suggestions.of_post(account, post_id)
    except Refusal:
        return []
    return [
        {**post_parts.label(each.label_name, each.color), "reason": _reason(each), "count": None}
        for each in found
    ]


def _reason(label: SuggestedLabel) -> str:
    if label.reason == "author":
        return f"like {label.posts} by this author"
    return "near in meaning" if label.reason == "meaning" else "named in the text"
