"""What pages say of labels: names that are refused, and suggestions."""

import unicodedata
from typing import Any

from bowerbird.errors import Refusal
from bowerbird.library.labels.suggestions import LabelSuggestions, SuggestedLabel
from bowerbird.model.accounts import Account
from bowerbird.model.labels import MAX_NAME_CHARACTERS, NAME_RULE, clean_name
from bowerbird.web.library import post_parts


def name_problem(name: str) -> str:
    """Why no label can have this name, or ''."""
    if clean_name(name) is not None:
        return ""
    length = len(" ".join(unicodedata.normalize("NFC", name).split()))
    if length > MAX_NAME_CHARACTERS:
        return f"A label has at most {MAX_NAME_CHARACTERS} characters; this one has {length:,}."
    return f"A label has {NAME_RULE}."


def in_words(refused: Refusal, name: str) -> str:
    """The sentence of a refusal of the API without its name of the field."""
    field, separator, rest = refused.sentence.partition("label_name: ")
    if not separator or field:
        return refused.sentence
    return name_problem(name) or rest[:1].upper() + rest[1:]


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
    return shown(found)


def shown(found: list[SuggestedLabel]) -> list[dict[str, Any]]:
    return [
        {**post_parts.label(each.label_name, each.color), "reason": _reason(each), "count": None}
        for each in found
    ]


def _reason(label: SuggestedLabel) -> str:
    if label.reason == "author":
        return f"like {label.posts} by this author"
    return "near in meaning" if label.reason == "meaning" else "named in the text"
