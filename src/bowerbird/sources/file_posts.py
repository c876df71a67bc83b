"""Builds the record of a post from what a file says about it."""

from collections.abc import Iterable
from typing import Any, Final
from urllib.parse import urlsplit

from msgspec import UNSET, Struct

from bowerbird.model.bookmarks import AuthorDetails, ImportRecord, PostDetails, PostMeta
from bowerbird.model.derived_fields import time_in_x_id
from bowerbird.sources.file_labels import Shortened
from bowerbird.sources.found import Completeness, FoundPost, LeftOut, OrderSource, Reason
from bowerbird.sources.parsing import dates
from bowerbird.sources.parsing.text_lines import storable
from bowerbird.sources.post_links import MAX_LINK_CHARACTERS, PostLink, X

# A date of saving outside these years is a mistake, and would spoil the order of the library.
_FIRST_YEAR: Final = "1990"
_YEAR_AFTER_LAST: Final = "2200"
_MAX_SHOWN: Final = 80
_VIDEO_ENDINGS: Final = (".mp4", ".mov", ".webm", ".m3u8", ".m4v")


class FilePost(Struct, frozen=True, kw_only=True):
    """What a file says about one post. Everything but the link may be missing."""

    link: PostLink
    line: int
    completeness: Completeness = Completeness.STUB
    text: str = ""
    author_id: str = ""
    author_name: str = ""
    author_username: str = ""
    profile_image: str = ""
    posted_at: object = None
    saved_at: object = None
    # The order of the file is the order of saving, the newest first.
    is_in_order: bool = False
    labels: list[str] = []
    note: str = ""
    is_archived: bool = False
    is_read: bool = False
    attachments: list[dict[str, Any]] = []
    quoted_post: dict[str, Any] | None = None
    meta: PostMeta = PostMeta()


def found_post(post: FilePost) -> FoundPost:
    link = post.link
    is_x = link.network == X
    username = storable(post.author_username).strip().removeprefix("@") or link.author_username
    posted_at = dates.read(post.posted_at) or (time_in_x_id(link.post_id) if is_x else "")
    saved_at = _saved_at(post.saved_at)
    record = ImportRecord(
        post_id=link.post_id,
        author_id=storable(post.author_id),
        author_username=username,
        author_details=AuthorDetails(
            name=storable(post.author_name).strip(),
            username=username,
            profile_image=web_address(post.profile_image),
        ),
        tweet_details=PostDetails(
            text=storable(post.text).strip(),
            link=link.link,
            posted_at=posted_at,
            attachments=post.attachments,
            quoted_tweet=post.quoted_post,
            meta=post.meta if post.meta.tweet_conversation_id else _meta_of_first(link),
        ),
        # An unset field keeps what the library has. A file must not remove labels or flags.
        bookmarked_at=saved_at or UNSET,
        # Databases accept no subclass of a text.
        tags=list(map(str, post.labels)) or UNSET,
        is_archived=True if post.is_archived else UNSET,
        is_read=True if post.is_read else UNSET,
    )
    by_position = OrderSource.FILE_POSITION if post.is_in_order else None
    return FoundPost(
        record=record,
        line=post.line,
        completeness=post.completeness,
        order_source=OrderSource.SAVED_DATE if saved_at else by_position,
        source=link.network,
        source_id="" if is_x else link.source_id,
        note=storable(post.note).strip(),
        shortened_labels=tuple(one.original for one in post.labels if isinstance(one, Shortened)),
    )


def _saved_at(value: object) -> str | None:
    date = dates.read(value)
    return date if date is not None and _FIRST_YEAR <= date < _YEAR_AFTER_LAST else None


def _meta_of_first(link: PostLink) -> PostMeta:
    """The details of a post of which nothing says that it is a reply."""
    return PostMeta(tweet_conversation_id=link.post_id)


def not_a_post(line: int, address: str) -> LeftOut:
    if not address.strip():
        return invalid(line, "The row has no link.")
    return LeftOut(
        line=line,
        reason=Reason.NOT_A_POST,
        sentence=f"Line {line}: {shown(address)} is not a link to a post.",
    )


def invalid(line: int, problem: str) -> LeftOut:
    return LeftOut(line=line, reason=Reason.INVALID, sentence=f"Line {line}: {problem}")


def shown(text: str) -> str:
    """A text from a file as part of a sentence: on one line, and not too long."""
    text = " ".join(storable(text[: _MAX_SHOWN * 4]).split())
    text = "".join(character if character.isprintable() else "?" for character in text)
    return repr(text if len(text) <= _MAX_SHOWN else text[: _MAX_SHOWN - 1] + "…")


def web_address(text: object) -> str:
    """The text if it is an address of the web, else ""."""
    if not isinstance(text, str) or len(text) > MAX_LINK_CHARACTERS:
        return ""
    text = storable(text).strip()
    return text if text.startswith(("https://", "http://")) and " " not in text else ""


def media_attachments(addresses: Iterable[str]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for text in addresses:
        if address := web_address(text):
            try:
                path = urlsplit(address).path.lower()
            except ValueError:
                continue
            kind = "video" if path.endswith(_VIDEO_ENDINGS) else "image"
            found.append({"type": kind, "url": address})
    return found
