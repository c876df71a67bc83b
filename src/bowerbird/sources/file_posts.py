"""Builds the record of a post from what a file says about it."""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec
from msgspec import UNSET, Struct

from bowerbird.model.arrival import Completeness, OrderSource
from bowerbird.model.posts.bookmarks import (
    AuthorDetails,
    ImportRecord,
    PostDetails,
    PostMeta,
    time_in_x_id,
)
from bowerbird.sources.file_labels import Shortened
from bowerbird.sources.found import Choices, Found, FoundPost, LeftOut, Reason
from bowerbird.sources.parsing import dates
from bowerbird.sources.parsing.json_values import Part, Unreadable, read_value
from bowerbird.sources.parsing.text_lines import storable
from bowerbird.sources.post_links import (
    BLUESKY,
    MASTODON,
    MAX_LINK_CHARACTERS,
    SHORT_ADVICE,
    PostLink,
    X,
    is_short,
)

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
    by_position = OrderSource.FILE_POSITION if post.is_in_order else OrderSource.IMPORT
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
    """The details of a post that is not known to be a reply."""
    return PostMeta(tweet_conversation_id=link.post_id)


def not_a_post(line: int, address: str) -> LeftOut:
    if not address.strip():
        return invalid(line, "The row has no link.")
    what = SHORT_ADVICE if is_short(address) else "not a link to a post."
    return LeftOut(
        line=line,
        reason=Reason.NOT_A_POST,
        sentence=f"Line {line}: {shown(address)} is {what}",
        link=web_address(address),
    )


def invalid(line: int, problem: str, place: int = 0) -> LeftOut:
    """`place`: of a record in its list, of which one line may have many."""
    where = f"Record {place}: " if place not in (0, line) else ""
    return LeftOut(line=line, reason=Reason.INVALID, sentence=f"Line {line}: {where}{problem}")


def found_in(parts: Iterable[Part], found: Callable[[int, Any], Found]) -> Iterator[Found]:
    """What a reader finds in each record, by its line. It raises Unreadable if it finds nothing."""
    for part in parts:
        try:
            one = found(part.line, read_value(part))
        except Unreadable as problem:
            one = invalid(part.line, str(problem), part.place)
        yield one


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


# Sites put the number of unread notifications first.
_UNREAD: Final = re.compile(r"\([0-9]{1,4}\+?\) ")
_HANDLE: Final = r" \(@[\w.@-]{1,300}\)"
# The author, and the text after its first quotation mark.
_QUOTING: Final = {
    X: re.compile(r'(?P<name>.{1,100}?) on (?:X|Twitter): ["“](?P<rest>.*)', re.DOTALL),
    MASTODON: re.compile(r'(?P<name>.{1,100}?): ["“](?P<rest>.*)', re.DOTALL),
    BLUESKY: re.compile(rf'(?P<name>.{{1,100}}?)(?:{_HANDLE})?: ["“](?P<rest>.*)', re.DOTALL),
}
# The last quotation mark, and the name of the site. X and some programs cut long texts.
_END: Final = re.compile(r'(?P<cut>…(?:\s*https?://t\.co/\w+)?)?["”](?: [/—-] [^"”]{1,60})?\Z')
_END_CHARACTERS: Final = 200
_WITH_HANDLE: Final = re.compile(rf"(?P<name>.{{1,100}}?){_HANDLE}(?: (?:[/—-]|on) .{{1,60}})?")
_ONLY_X: Final = re.compile(r"(?:.{1,100} / )?(?:X|Twitter)")
_ON_X: Final = re.compile(r"(?P<name>.{1,100}) on (?:X|Twitter)")
_WORD: Final = re.compile(r"[^\W_]+")


def text_and_name(title: str, address: str, link: PostLink) -> tuple[str, str]:
    """The text of the post and the author's name, each "" if the title does not have it.

    A title of no known form may be in the words of its owner, and is the text until a source has
    a better one.
    """
    title = title.strip()
    if title == address.strip() or title.lower().removeprefix("@") == link.author_username.lower():
        return "", ""
    page = _UNREAD.sub("", title, count=1) if _UNREAD.match(title) else title
    quoting = _QUOTING.get(link.network)
    if quoting and (quoted := quoting.fullmatch(page)):
        return _complete(quoted["rest"]), quoted["name"]
    if quoting and (named := _WITH_HANDLE.fullmatch(page)):
        return "", named["name"]
    if link.network == X and (_ONLY_X.fullmatch(page) or _names_author(page, link)):
        return "", ""
    return title, ""


def _names_author(page: str, link: PostLink) -> bool:
    """Whether it is "Ada L. on X" for a post of @ada. "My notes on X" is in words of the owner."""
    named = _ON_X.fullmatch(page)
    words = _WORD.findall(named["name"].lower()) if named else []
    handle = link.author_username.lower()
    return bool(handle) and (handle in words or "".join(words) == handle.replace("_", ""))


def _complete(rest: str) -> str:
    """The text before the last quotation mark, "" if its end is missing."""
    end = _END.search(rest, max(0, len(rest) - _END_CHARACTERS))
    return "" if end is None or end["cut"] else rest[: end.start()]


LIKED: Final = "liked"
# The label of posts that their owner marked with a star or a heart in another program.
FAVOURITE: Final = "favourite"


def as_liked(found: Found) -> Found:
    if not isinstance(found, FoundPost):
        return found
    labels = [*(found.record.tags or ()), LIKED]
    return msgspec.structs.replace(found, record=msgspec.structs.replace(found.record, tags=labels))


def only_if_requested(likes: Iterable[Found], choices: Choices) -> Iterator[Found]:
    for found in likes:
        if choices.with_likes or not isinstance(found, FoundPost):
            yield found
        else:
            yield LeftOut(
                line=found.line,
                reason=Reason.NOT_REQUESTED,
                sentence=f"Line {found.line}: A liked post. Likes are imported only on request.",
            )
