"""A digest as the API returns it: the record with those posts that still exist."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote, urlsplit

import msgspec
from msgspec import UNSET, Struct, UnsetType

from bowerbird.model import json_depth
from bowerbird.model.digests import AuthorCount, Digest, LabelCount, MailState
from bowerbird.model.instants import Period, with_offset
from bowerbird.model.posts.bookmarks import Bookmark

# English, whatever the operator's locale.
MONTHS: Final = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_MAX_TEXT_LENGTH: Final = 280
_MAX_HIGHLIGHT_LENGTH: Final = 1_000
_MAX_TITLE_LENGTH: Final = 120
_MAX_HANDLE_LENGTH: Final = 60
# Characters other than letters and digits that an address keeps; the rest is percent-encoded.
_SAFE_IN_ADDRESSES: Final = "!#$%&'()*+,-./:;=?@_~"
_UNPRINTABLE: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
_bookmark: Final = msgspec.json.Decoder(Bookmark).decode


class DigestPost(Struct, frozen=True):
    """The summary of a post."""

    post_id: str
    author_username: str
    author_name: str
    """The author's display name."""
    title: str
    """Title of an article; empty for other posts."""
    text: str
    """The beginning of the text, on one line."""
    link: str
    """URL of the original post; empty if it is not a web page."""
    bookmarked_at: str
    """When the post was bookmarked, if known."""
    tags: list[str] | None
    is_read: bool


class SavedPart(Struct, frozen=True):
    count: int
    """Number of posts saved in the period."""
    by_label: list[LabelCount]
    """The most frequent labels of these posts."""
    by_author: list[AuthorCount]
    """The most frequent authors of these posts."""
    posts: list[DigestPost]
    """The newest of these posts that are still in the library."""


class PostsPart(Struct, frozen=True):
    count: int
    """Number of matching posts."""
    posts: list[DigestPost]
    """The selected posts that are still in the library."""


class DigestHighlight(Struct, frozen=True):
    """Something that you marked or wrote, and its post."""

    text: str
    """The passage, or the beginning of the note, on one line."""
    comment: str
    """Your comment on the passage; empty if there is none, or for a note."""
    post: DigestPost
    """The post that it is about."""


class MailResponse(Struct, frozen=True):
    state: MailState
    """none, waiting, sending, sent, failed, refused or unclear."""
    at: str | None
    """Time of the last attempt or of the next one; null if there is neither."""
    reason: str | None
    """Why it was not sent, as the mail server reported it."""


class DigestSummary(Struct, frozen=True, kw_only=True):
    digest_id: str
    """The digest's id: its period."""
    kind: str
    """daily or weekly."""
    title: str
    """The period in words."""
    first_day: str
    """First day of the period."""
    last_day: str
    """Last day of the period."""
    time_zone: str
    """The time zone in which the days are counted."""
    made_at: str
    """When the digest was created."""
    saved_count: int
    """Number of posts saved in the period."""
    mail: MailResponse
    """Delivery status of the email."""


class DigestResponse(DigestSummary, frozen=True, kw_only=True):
    introduction: str | None
    """A few sentences by a language model, if the operator has configured one."""
    saved: SavedPart
    """Posts saved in the period."""
    unread: PostsPart
    """A selection of unread posts."""
    a_year_ago: PostsPart
    """Posts saved on the same days a year earlier."""
    forgotten: DigestPost | None
    """An unread post saved long ago; null if there is none."""
    highlight: DigestHighlight | None = None
    """One of your notes or highlights, another one each day; null if there is none or the
    preferences leave it out."""
    markdown: str | UnsetType = UNSET
    """The digest as Markdown."""
    html: str | UnsetType = UNSET
    """The digest as a complete page without scripts or external resources."""


def summary(digest: Digest) -> DigestSummary:
    return DigestSummary(**_summary(digest))


def to_response(digest: Digest, posts: Mapping[str, bytes]) -> DigestResponse:
    """`posts` maps the ids of the posts that still exist to their JSON."""
    contents = digest.contents

    def existing(post_ids: Sequence[str]) -> list[DigestPost]:
        return [_post(posts[post_id]) for post_id in post_ids if post_id in posts]

    forgotten = existing([contents.forgotten] if contents.forgotten else [])
    return DigestResponse(
        **_summary(digest),
        introduction=contents.introduction,
        saved=SavedPart(
            contents.saved_count,
            contents.by_label,
            [_author(author) for author in contents.by_author],
            existing(contents.saved),
        ),
        unread=PostsPart(contents.unread_count, existing(contents.unread)),
        a_year_ago=PostsPart(contents.year_ago_count, existing(contents.year_ago)),
        forgotten=forgotten[0] if forgotten else None,
        highlight=_highlight(posts.get(contents.highlight or ""), contents.passage),
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
    """The address, safe to use in a link, if its scheme is http or https; otherwise empty."""
    try:
        parts = urlsplit(text.strip())
    except ValueError:
        return ""
    if parts.scheme not in ("http", "https") or not parts.netloc:
        return ""
    return quote(parts.geturl(), safe=_SAFE_IN_ADDRESSES)


def one_line(text: str, max_length: int) -> str:
    """The text without line breaks and bidirectional control characters, cut between words."""
    plain = " ".join(_UNPRINTABLE.sub(" ", text).split())
    if len(plain) <= max_length:
        return plain
    cut = plain[:max_length]
    head, space, _ = cut.rpartition(" ")
    # A very long word is cut inside: not every script puts spaces between words.
    return f"{head if space and len(head) > max_length // 2 else cut}…"


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
    """Others chose these names, so they are shortened and put on one line."""
    return AuthorCount(
        one_line(author.author_username, _MAX_HANDLE_LENGTH),
        one_line(author.author_name, _MAX_TITLE_LENGTH),
        author.count,
    )


def _highlight(bookmark_json: bytes | None, passage: int) -> DigestHighlight | None:
    """None if the post is gone, or has neither notes nor highlights any more."""
    if bookmark_json is None:
        return None
    bookmark = _bookmark(json_depth.cut(bookmark_json))
    passages = bookmark.highlights or []
    text, comment = bookmark.note or "", ""
    if passages:
        chosen = passages[passage % len(passages)]
        text, comment = chosen.quote, chosen.comment or ""
    if not text:
        return None
    return DigestHighlight(
        one_line(text, _MAX_HIGHLIGHT_LENGTH),
        one_line(comment, _MAX_TEXT_LENGTH),
        _post(bookmark_json),
    )


def _post(bookmark_json: bytes) -> DigestPost:
    bookmark = _bookmark(json_depth.cut(bookmark_json))
    details = bookmark.tweet_details
    article = details.article or {}
    text = details.text or str(article.get("preview_text") or article.get("plain_text") or "")
    return DigestPost(
        post_id=bookmark.post_id,
        author_username=one_line(bookmark.author_username, _MAX_HANDLE_LENGTH),
        author_name=one_line(bookmark.author_details.name, _MAX_TITLE_LENGTH),
        title=one_line(str(article.get("title") or ""), _MAX_TITLE_LENGTH),
        text=one_line(text, _MAX_TEXT_LENGTH),
        link=web_address(details.link),
        bookmarked_at=bookmark.bookmarked_at,
        tags=bookmark.tags,
        is_read=bookmark.is_read,
    )
