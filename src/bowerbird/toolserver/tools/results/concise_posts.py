"""The short form of a post: what a model needs to choose posts, in as few characters as possible.

A field that is false, empty, or follows from others is left out.
"""

import re
from html import unescape
from typing import Final
from zoneinfo import ZoneInfo

import msgspec
from msgspec import Struct

from bowerbird.model import instants, json_depth, media, periods
from bowerbird.model.bookmarks import PostDetails
from bowerbird.toolserver.tools.results import response_size
from bowerbird.toolserver.tools.tool import Json

TEXT_CHARS: Final = 280
_UTC, _UTC_OFFSET = "UTC", "+00:00"
_MARK: Final = re.compile(r"</?mark>")


class _Highlight(Struct, frozen=True):
    html: str


class _Stored(Struct, frozen=True):
    """The fields of a bookmark that the short form has. Others are not decoded."""

    post_id: str
    tweet_details: PostDetails
    author_username: str
    bookmarked_at: str
    tags: list[str] | None
    is_read: bool
    is_archived: bool
    gone_at: str | None = None
    removed_at: str | None = None
    note: str | None = None
    score: float | None = None
    highlight: _Highlight | None = None


# Garbage collection would look at every post of every page.
class Post(Struct, kw_only=True, omit_defaults=True, gc=False):
    """A post of a result. In the detailed form it has the fields of a bookmark besides these."""

    post_id: str
    author: str = ""
    title: str = ""
    text: str = ""
    text_length: int = 0
    article_length: int = 0
    snippet: str = ""
    link: str = ""
    posted_at: str = ""
    bookmarked_at: str = ""
    labels: list[str] = []
    media: list[str] = []
    is_read: bool = False
    is_archived: bool = False
    gone_at: str = ""
    removed_at: str = ""
    note: str = ""
    score: float | None = None
    # Not in the short form.
    next_offset: int = 0
    truncated: bool = False
    tweet_details: Json = {}


_stored: Final = msgspec.json.Decoder(list[_Stored]).decode


def concise(body: bytes, zone: ZoneInfo) -> list[Json]:
    """The posts in a JSON array of bookmarks, with days in this time zone, as filters have them."""
    try:
        stored = _stored(body)
    except RecursionError:
        # Measuring the depth of every page would take as long as decoding it.
        stored = _stored(json_depth.cut(body))
    short: list[Json] = msgspec.to_builtins([_short(one, zone) for one in stored])
    return short


def _short(stored: _Stored, zone: ZoneInfo) -> Post:
    details = stored.tweet_details
    article = details.article or {}
    text = response_size.truncate(details.text, TEXT_CHARS)
    return Post(
        post_id=stored.post_id,
        author=stored.author_username,
        title=_text(article.get("title")),
        text=text,
        text_length=len(details.text) if text != details.text else 0,
        article_length=len(_body(article)),
        snippet=_snippet(stored.highlight, text),
        link=_link(stored),
        posted_at=_day(details.posted_at, zone),
        bookmarked_at=_day(stored.bookmarked_at, zone),
        labels=stored.tags or [],
        media=_media(details),
        is_read=stored.is_read,
        is_archived=stored.is_archived,
        gone_at=_day(stored.gone_at, zone),
        removed_at=_day(stored.removed_at, zone),
        note=_text(stored.note),
        score=stored.score,
    )


def _text(text: object) -> str:
    return response_size.truncate(text, TEXT_CHARS) if isinstance(text, str) else ""


def _body(article: Json) -> str:
    text = article.get("plain_text") or article.get("preview_text")
    return text if isinstance(text, str) else ""


def _link(stored: _Stored) -> str:
    """The link, unless it follows from author and id, as the instructions say."""
    link = stored.tweet_details.link
    usual = f"https://x.com/{stored.author_username}/status/{stored.post_id}"
    return "" if link == usual else link


def _day(text: str | None, zone: ZoneInfo) -> str:
    if not text:
        return ""
    instant = instants.parse(text)
    if instant is None:
        return text
    if zone.key == _UTC and text.endswith(_UTC_OFFSET):
        # As most dates are stored. Without a conversion, and its result is the same.
        return text[:10]
    return periods.local_day(instant, zone).isoformat()


def _media(details: PostDetails) -> list[str]:
    bits = media.bits_of(details)
    return [name for name, bit in media.BITS.items() if bits & bit and name != "text"]


def _snippet(highlight: _Highlight | None, text: str) -> str:
    """Where the searched words occur, if that is not in the text that is shown."""
    if highlight is None:
        return ""
    shown = " ".join(text.split())
    start = highlight.html.partition("</mark>")[0].removeprefix("…")
    return "" if _plain(start) in shown else _plain(highlight.html)


def _plain(html: str) -> str:
    return unescape(_MARK.sub("", html))
