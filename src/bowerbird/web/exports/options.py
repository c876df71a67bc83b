"""The options of an export as fields of a form, derived from the request of the API."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct

from bowerbird.model.accounts import Account
from bowerbird.requests.exports import ExportRequest
from bowerbird.requests.fields import metadata_of
from bowerbird.requests.filter_values import read_flag, read_instant
from bowerbird.requests.filters import readers
from bowerbird.requests.gates import gates_of

VIEW: Final = "view"
TAG: Final = "tag"
# Names that need other words than those of the API.
WORDS: Final = {
    VIEW: "Smart View",
    "is_unread_only": "Unread posts only",
    "hide_archived": "Without archived posts",
    "is_archived_only": "Archived posts only",
    "media_type": "Type",
    TAG: "Label",
    "label": "Several labels, with commas",
    "label_match": "Labels needed",
    "unlabelled": "Without a label",
    "has_note": "With a note",
    "posted_from": "Posted from",
    "posted_to": "Posted until",
    "bookmarked_from": "Saved from",
    "bookmarked_to": "Saved until",
    "q": "Words",
    "vector_search_term": "Near in meaning to",
}
_DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


class Option(Struct, frozen=True):
    name: str
    text: str
    # flag, choice, date or text.
    kind: str
    value: str = ""
    # Pairs of value and text.
    choices: Sequence[tuple[str, str]] = ()
    # What to suggest while typing.
    suggestions: Sequence[str] = ()


def filters_in(fields: Mapping[str, str]) -> dict[str, str]:
    """The options in an address or form, by their names in the API."""
    return {name: fields[name] for name in _names() if fields.get(name)}


def options(
    account: Account,
    given: Mapping[str, str],
    views: Sequence[tuple[str, str]],
    labels: Sequence[str],
) -> list[Option]:
    """The options that the plan has. `views` are pairs of slug and name."""
    gates = gates_of(ExportRequest)
    names = [name for name in _names() if not account.is_free or name not in gates]
    return [
        _option(name, given.get(name, ""), views, labels) for name in names if name != VIEW or views
    ]


def _names() -> tuple[str, ...]:
    return (VIEW, *readers(ExportRequest))


def _option(
    name: str, value: str, views: Sequence[tuple[str, str]], labels: Sequence[str]
) -> Option:
    text = WORDS.get(name, name.replace("_", " ").capitalize())
    if name == VIEW:
        return Option(name, text, "choice", value, [("", "All posts"), *views])
    read = readers(ExportRequest)[name].read
    choices = metadata_of(ExportRequest)[name].get("argument", {}) or {}
    if read is read_flag:
        return Option(name, text, "flag", value)
    if "enum" in choices:
        kinds = [(each, each.capitalize()) for each in choices["enum"]]
        return Option(name, text, "choice", value, [("", "Any"), *kinds])
    # A field for dates cannot show a time or "-7d".
    if read is read_instant and (not value or _DAY.fullmatch(value)):
        return Option(name, text, "date", value)
    return Option(name, text, "text", value, suggestions=labels if name == TAG else ())
