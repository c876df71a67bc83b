"""A digest as the API shows it: the record with the posts that still stand."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote, urlsplit

import msgspec
from msgspec import UNSET, Struct, UnsetType

from bowerbird.model.bookmarks import Bookmark
from bowerbird.model.digests import AuthorCount, Digest, LabelCount, MailState
from bowerbird.model.instants import with_offset
from bowerbird.model.periods import Period

# Not those of the operator's locale.
MONTHS: Final = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
LONGEST_TEXT: Final = 280
_LONGEST_TITLE: Final = 120
_LONGEST_HANDLE: Final = 60
# What may stand in an address beside letters and digits; all else is percent-encoded.
_IN_ADDRESSES: Final = "!#$%&'()*+,-./:;=?@_~"
_UNPRINTABLE: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
_bookmark: Final = msgspec.json.Decoder(Bookmark).decode


class DigestPost(Struct, frozen=True):
    """A post in short."""

    post_id: str
    author_username: str
    author_name: str
    # Of an article; empty for other posts.
    title: str
    text: str
    # Empty when the post has none that leads to a web page.
    link: str
    bookmarked_at: str
    tags: list[str] | None
    is_read: bool


class SavedPart(Struct, frozen=True):
    count: int
    by_label: list[LabelCount]
    by_author: list[AuthorCount]
    posts: list[DigestPost]


class PostsPart(Struct, frozen=True):
    count: int
    posts: list[DigestPost]


class MailResponse(Struct, frozen=True):
    state: MailState
    at: str | None
    reason: str | None


class DigestSummary(Struct, frozen=True, kw_only=True):
    digest_id: str
    kind: str
    title: str
    first_day: str
    last_day: str
    time_zone: str
    made_at: str
    saved_count: int
    mail: MailResponse


class DigestResponse(DigestSummary, frozen=True, kw_only=True):
    introduction: str | None
    saved: SavedPart
    unread: PostsPart
    a_year_ago: PostsPart
    forgotten: DigestPost | None
    markdown: str | UnsetType = UNSET
    html: str | UnsetType = UNSET


def summary(digest: Digest) -> DigestSummary:
    return DigestSummary(**_summary(digest))


def shown(digest: Digest, posts: Mapping[str, bytes]) -> DigestResponse:
    """`posts` are those that still stand, as ready JSON by their ids."""
    contents = digest.contents

    def standing(post_ids: Sequence[str]) -> list[DigestPost]:
        return [_post(posts[post_id]) for post_id in post_ids if post_id in posts]

    forgotten = standing([contents.forgotten] if contents.forgotten else [])
    return DigestResponse(
        **_summary(digest),
        introduction=contents.introduction,
        saved=SavedPart(
            contents.saved_count,
            contents.by_label,
            [_author(author) for author in contents.by_author],
            standing(contents.saved),
        ),
        unread=PostsPart(contents.unread_count, standing(contents.unread)),
        a_year_ago=PostsPart(contents.year_ago_count, standing(contents.year_ago)),
        forgotten=forgotten[0] if forgotten else None,
    )


def title_of(period: Period) -> str:
    """The days in words: 18 July 2026, 13 to 19 July 2026, 29 June to 5 July 2026."""
    first, last = period.first_day, period.last_day
    end = f"{last.day} {MONTHS[last.month - 1]} {last.year}"
    if first == last:
        return end
    if first.month == last.month:
        return f"{first.day} to {end}"
    year = "" if first.year == last.year else f" {first.year}"
    return f"{first.day} {MONTHS[first.month - 1]}{year} to {end}"


def web_address(text: str) -> str:
    """The address if it leads to a web page, safe to stand in a link; else nothing."""
    try:
        parts = urlsplit(text.strip())
    except ValueError:
        return ""
    if parts.scheme not in ("http", "https") or not parts.netloc:
        return ""
    return quote(parts.geturl(), safe=_IN_ADDRESSES)


def one_line(text: str, most: int) -> str:
    """A text without breaks and without marks that turn the reading direction, cut at a word."""
    plain = " ".join(_UNPRINTABLE.sub(" ", text).split())
    if len(plain) <= most:
        return plain
    cut = plain[:most]
    head, space, _ = cut.rpartition(" ")
    # A word that fills most of the room is cut itself: not every script parts words.
    return f"{head if space and len(head) > most // 2 else cut}…"


def _summary(digest: Digest) -> dict[str, Any]:
    period, mailing = digest.period, digest.mailing
    return {
        "digest_id": digest.digest_id,
        "kind": digest.kind,
        "title": title_of(period),
        "first_day": period.first_day.isoformat(),
        "last_day": period.last_day.isoformat(),
        "time_zone": digest.time_zone,
        "made_at": with_offset(digest.made_at),
        "saved_count": digest.contents.saved_count,
        "mail": MailResponse(
            mailing.state,
            with_offset(mailing.at) if mailing.at else None,
            mailing.reason or None,
        ),
    }


def _author(author: AuthorCount) -> AuthorCount:
    """A name is others' text too: it is bounded and stands on one line."""
    return AuthorCount(
        one_line(author.author_username, _LONGEST_HANDLE),
        one_line(author.author_name, _LONGEST_TITLE),
        author.count,
    )


def _post(ready: bytes) -> DigestPost:
    bookmark = _bookmark(ready)
    details = bookmark.tweet_details
    article = details.article or {}
    text = details.text or str(article.get("preview_text") or article.get("plain_text") or "")
    return DigestPost(
        post_id=bookmark.post_id,
        author_username=one_line(bookmark.author_username, _LONGEST_HANDLE),
        author_name=one_line(bookmark.author_details.name, _LONGEST_TITLE),
        title=one_line(str(article.get("title") or ""), _LONGEST_TITLE),
        text=one_line(text, LONGEST_TEXT),
        link=web_address(details.link),
        bookmarked_at=bookmark.bookmarked_at,
        tags=bookmark.tags,
        is_read=bookmark.is_read,
    )
