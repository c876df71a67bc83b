"""Reads pages of saved posts, as the APIs of Mastodon and Bluesky give them one after the other."""

import io
from typing import Final

import msgspec
from msgspec import Struct

from bowerbird.sources.formats import Choices, Format
from bowerbird.sources.found import Found, FoundPost
from bowerbird.sources.networks import bluesky, mastodon
from bowerbird.sources.x.pages import MAX_ENTRIES, TOO_MANY, Page, failed
from bowerbird.sources.x.values import short_text

MASTODON: Final = "mastodon.api"
BLUESKY: Final = "bluesky.api"
# The reader of a format, and the parameter of a request that says where the page begins.
_READERS: Final = {
    MASTODON: (mastodon.API, "max_id"),
    BLUESKY: (bluesky.FORMAT, "cursor"),
}
_NO_LIST: Final = "The page has no list of posts."


class _Listed(Struct, frozen=True):
    bookmarks: list[msgspec.Raw]
    # Mastodon sends it in a header; its client puts it here.
    cursor: str | None = None


def is_known(name: str) -> bool:
    return name in _READERS


def cursor_parameter(name: str) -> str:
    return _READERS[name][1]


def read_page(name: str, payload: bytes, now: int) -> Page:
    try:
        listed = msgspec.json.decode(payload, type=_Listed)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return failed(_NO_LIST)
    if len(listed.bookmarks) > MAX_ENTRIES:
        return failed(TOO_MANY)
    cursor = short_text(listed.cursor or "")
    return Page(
        posts=tuple(_posts(_READERS[name][0], payload, now) if listed.bookmarks else ()),
        cursor_out=cursor if cursor.isprintable() else "",
        proves_end=not listed.cursor,
    )


def _posts(format: Format, payload: bytes, now: int) -> list[Found]:
    """A post that is saved twice, as itself and as a boost, is one post."""
    found: dict[str, Found] = {}
    for one in format.read(io.BytesIO(payload), Choices(now=now)):
        key = one.record.post_id if isinstance(one, FoundPost) else f"line {len(found)}"
        found.setdefault(key, one)
    return list(found.values())
