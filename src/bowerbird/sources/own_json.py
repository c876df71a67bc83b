"""Reads bookmarks in the API's own shape, as JSON exports hold them."""

import json
import re
from typing import Any, Final

import msgspec
from msgspec import UNSET, Struct, UnsetType

from bowerbird.model import instants
from bowerbird.model.bookmarks import Arrival, Post, check_open_fields
from bowerbird.model.labels import LONGEST, clean_name, name_key
from bowerbird.model.rendering import content_hash, post_json
from bowerbird.model.upsert import Incoming

# Escapes that may stand for what no database can hold: U+0000 and half a surrogate pair.
_SUSPECT: Final = re.compile(rb"\\u(?:0000|[dD][89a-fA-F])")
_UNSTORABLE: Final = re.compile("[\x00\ud800-\udfff]")
_decode: Final = msgspec.json.Decoder(Arrival).decode
_PATH: Final = re.compile(r"^(?P<problem>.*?)(?: - at `\$\.?(?P<path>.*)`)?$", re.DOTALL)


class BadRecord(Exception):  # noqa: N818 - named for what it is
    """A record that cannot be taken. Says which field and why."""


class Read(Struct, frozen=True):
    incoming: Incoming
    # Characters that no database can hold and that were left out.
    removed: int


def read(raw: bytes) -> Read:
    try:
        arrival, removed = _cleaned(raw) if _SUSPECT.search(raw) else (_decode(raw), 0)
    except (msgspec.MsgspecError, RecursionError, ValueError) as error:
        raise BadRecord(_sentence(error)) from None
    try:
        check_open_fields(arrival.tweet_details)
    except msgspec.ValidationError as error:
        raise BadRecord(f"tweet_details.{_sentence(error)}") from None
    return Read(_incoming(arrival), removed)


def _incoming(arrival: Arrival) -> Incoming:
    post = post_json(
        Post(
            post_id=arrival.post_id,
            tweet_details=arrival.tweet_details,
            author_id=arrival.author_id,
            author_username=arrival.author_username,
            author_details=arrival.author_details,
        )
    )
    posted_at = arrival.tweet_details.posted_at
    return Incoming(
        arrival=arrival,
        post_json=post,
        content_hash=content_hash(post),
        posted_at=_instant("tweet_details.posted_at", posted_at) if posted_at else instants.UNKNOWN,
        imported_at=_given_instant("imported_at", arrival.imported_at),
        bookmarked_at=_given_instant("bookmarked_at", arrival.bookmarked_at),
        tags=_tags(arrival.tags),
    )


def _given_instant(field: str, text: str | UnsetType) -> int | UnsetType:
    return UNSET if text is UNSET else _instant(field, text)


def _instant(field: str, text: str) -> int:
    instant = instants.parse(text)
    if instant is None:
        raise BadRecord(f"{field}: {text[:40]!r} is not an ISO 8601 date-time.")
    return instant


def _tags(names: list[str] | UnsetType | None) -> dict[str, str] | None:
    if names is UNSET:
        return None
    tags: dict[str, str] = {}
    for text in names or ():
        name = clean_name(text)
        if name is None:
            raise BadRecord(
                f"tags: a label's name has 1 to {LONGEST} characters, not {text[:40]!r}."
            )
        tags.setdefault(name_key(name), name)
    return tags


def _cleaned(raw: bytes) -> tuple[Arrival, int]:
    """The slow way, for the rare record that names a character no database can hold."""
    removed = 0

    def clean(value: Any) -> Any:
        nonlocal removed
        if isinstance(value, str):
            text, count = _UNSTORABLE.subn("", value)
            removed += count
            return text
        if isinstance(value, list):
            return [clean(item) for item in value]
        if isinstance(value, dict):
            return {clean(key): clean(item) for key, item in value.items()}
        return value

    cleaned = clean(json.loads(raw, parse_constant=_refuse_constant))
    return msgspec.convert(cleaned, Arrival), removed


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"JSON is malformed: {name} is no number")


def _sentence(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "The record is nested too deeply."
    if isinstance(error, UnicodeDecodeError):
        return "The record is not UTF-8 text."
    match = _PATH.match(str(error))
    assert match
    problem = match["problem"].replace("`", "").rstrip(".")
    if "matching regex" in problem:
        problem = "Expected 1 to 40 digits"
    return f"{match['path']}: {problem}." if match["path"] else f"{problem}."
