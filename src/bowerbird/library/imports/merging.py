"""Merges what a source says about a post with what the library has. The richer value wins.

A value is never replaced by a poorer one: a text by its beginning, an article by its title, a known
author by none, pictures by none. Counts and the author's profile are those captured last. Fields
that the author did not write follow the source: whether the post is gone there (`gone_at`), whether
it is still saved there (`removed_at`), and the owner's note and highlights.

A post also has a place: its index and the time of saving. An index of X wins over a date of
saving. A position in a list places only new posts. Of two indexes of X, or of two dates, the later
one wins, because a post that is saved again moves up. A date that is later than the stored index of
X wins for the same reason; an earlier one changes nothing.
"""

import re
from collections.abc import Sequence
from enum import Enum, auto
from typing import Any, Final, NamedTuple, TypeVar

import msgspec
from msgspec import UNSET, UnsetType

from bowerbird.library.bookmarks.writing.upsert_batch import index_of
from bowerbird.model import instants
from bowerbird.model.arrival import (
    Completeness,
    Deletion,
    ExistingBookmark,
    HiddenPost,
    OrderSource,
)
from bowerbird.model.posts import highlights
from bowerbird.model.posts.bookmarks import (
    IMAGE_TEXTS_MAX,
    NOTE_MAX,
    AuthorDetails,
    ImageText,
    ImportRecord,
    Metrics,
    Post,
    PostDetails,
    PostMeta,
    known_time,
    with_highlights,
)
from bowerbird.sources.found import MAX_AHEAD_US, FoundPost

T = TypeVar("T", str, list[Any])

_NO_COUNTS: Final = Metrics()
_CUT_MARKS: Final = "….  \n"
# X ends the beginning of a long text with a link to the post, which some readers resolve.
_LINK_TO_REST: Final = re.compile(
    r"…\s?https?://(?:t\.co/[A-Za-z0-9]+|(?:x|twitter)\.com/\w+(?:/web)?/status/[0-9]+)\Z"
)
_MAX_LINK_CHARACTERS: Final = 100


class Sight(Enum):
    """What a source saw of a post, compared with what the library has."""

    LATEST = auto()
    # The library has counts and a profile that were captured later.
    OLDER = auto()
    # A part of the post: a count that is 0 may be missing.
    PART = auto()


def merge(stored: Post, has: int, found: Post, gives: int, sight: Sight = Sight.LATEST) -> Post:
    """`has` and `gives` say how complete the stored and the found post are."""
    is_richer = _is_richer(has, gives, sight)
    is_current = sight is not Sight.OLDER
    return Post(
        post_id=stored.post_id,
        tweet_details=_details(stored, found, has, gives, sight),
        author_id=_either(stored.author_id, found.author_id, takes_found=is_richer),
        author_username=_either(
            stored.author_username,
            found.author_username,
            takes_found=is_current and gives >= has,
        ),
        author_details=_author(
            stored.author_details,
            found.author_details,
            takes_found=is_current and gives > Completeness.STUB,
        ),
        source=found.source or stored.source,
        source_id=found.source_id or stored.source_id,
        gone_at=stored.gone_at,
        gone_reason=stored.gone_reason,
        removed_at=stored.removed_at,
        note=stored.note,
        highlights=stored.highlights,
        image_texts=stored.image_texts,
    )


def _details(stored: Post, found: Post, has: int, gives: int, sight: Sight) -> PostDetails:
    old, new = stored.tweet_details, found.tweet_details
    is_richer = _is_richer(has, gives, sight)
    names_author = bool(found.author_username > stored.author_username == "")
    counts = _counts(old.meta, new.meta, gives, sight)
    return PostDetails(
        text=_text(old.text, new.text, has, gives, sight),
        # The link has the name of the author, which can change.
        link=_either(
            old.link,
            new.link,
            takes_found=names_author or (is_richer and sight is not Sight.OLDER),
        ),
        posted_at=_either(known_time(stored), known_time(found), takes_found=is_richer),
        attachments=_either(old.attachments, new.attachments, takes_found=is_richer),
        article=_article(old.article, new.article, takes_found=is_richer),
        quoted_tweet=_quoted(old.quoted_tweet, new.quoted_tweet, takes_found=is_richer),
        meta=_meta(old.meta, new.meta, stored.post_id, gives, counts, takes_found=is_richer),
    )


def _is_richer(has: int, gives: int, sight: Sight) -> bool:
    """Whether the values of the found post win. Of two complete posts, the later one does."""
    return gives > has or (gives == has == Completeness.FULL and sight is not Sight.OLDER)


def _text(old: str, new: str, has: int, gives: int, sight: Sight) -> str:
    if not old or not new or old == new:
        return old or new
    if gives != has:
        return new if gives > has else old
    if gives == Completeness.FULL and sight is Sight.OLDER:
        return new if _is_beginning(old, new) else old
    if gives == Completeness.FULL:
        return old if _is_beginning(new, old) else new
    # Neither is complete. The longer one wins, whichever comes first.
    return max(old, new, key=lambda text: (len(text), text))


def _is_beginning(short: str, whole: str) -> bool:
    """Whether a text is a cut version of a longer one."""
    beginning = short.rstrip()
    if link := _LINK_TO_REST.search(beginning, max(0, len(beginning) - _MAX_LINK_CHARACTERS)):
        beginning = beginning[: link.start()]
    return len(beginning) < len(whole) and whole.startswith(beginning.rstrip(_CUT_MARKS))


def _either(old: T, new: T, *, takes_found: bool) -> T:
    return (new or old) if takes_found else (old or new)


def _article(
    old: dict[str, Any] | None, new: dict[str, Any] | None, *, takes_found: bool
) -> dict[str, Any] | None:
    if not old or not new:
        return old or new
    has_body, gives_body = bool(old.get("plain_text")), bool(new.get("plain_text"))
    if has_body != gives_body:
        return new if gives_body else old
    return new if takes_found else old


def _quoted(
    old: dict[str, Any] | None, new: dict[str, Any] | None, *, takes_found: bool
) -> dict[str, Any] | None:
    if not old or not new or old == new:
        return old or new
    has, gives = _richness(old), _richness(new)
    if has == gives and takes_found:
        return new
    return new if gives > has else old


def _richness(quoted: dict[str, Any]) -> tuple[bool, bool, int, int]:
    article = quoted.get("article")
    body = article.get("plain_text") if isinstance(article, dict) else None
    text = quoted.get("text")
    attachments = quoted.get("attachments")
    return (
        not quoted.get("unavailable"),
        bool(body),
        len(text) if isinstance(text, str) else 0,
        len(attachments) if isinstance(attachments, list) else 0,
    )


def _counts(old: PostMeta, new: PostMeta, gives: int, sight: Sight) -> Metrics:
    before, after = old.non_real_time_engagement_metrics, new.non_real_time_engagement_metrics
    if gives == Completeness.STUB or after == _NO_COUNTS:
        return before
    if sight is Sight.OLDER:
        return after if before == _NO_COUNTS else before
    if sight is Sight.LATEST:
        return after
    names = Metrics.__struct_fields__
    return Metrics(**{name: getattr(after, name) or getattr(before, name) for name in names})


def _meta(
    old: PostMeta, new: PostMeta, post_id: str, gives: int, counts: Metrics, *, takes_found: bool
) -> PostMeta:
    first, second = (new, old) if takes_found else (old, new)
    return PostMeta(
        tweet_reply_to_tweet_id=first.tweet_reply_to_tweet_id or second.tweet_reply_to_tweet_id,
        tweet_reply_to_user_id=first.tweet_reply_to_user_id or second.tweet_reply_to_user_id,
        tweet_conversation_id=_conversation(old, new, post_id, gives, takes_found=takes_found),
        tweet_is_thread=old.tweet_is_thread or new.tweet_is_thread,
        is_sub_tweet_of_thread=old.is_sub_tweet_of_thread or new.is_sub_tweet_of_thread,
        non_real_time_engagement_metrics=counts,
        via_repost_id=first.via_repost_id or second.via_repost_id,
        version_ids=first.version_ids or second.version_ids,
        language=first.language or second.language,
    )


def _conversation(
    old: PostMeta, new: PostMeta, post_id: str, gives: int, *, takes_found: bool
) -> str:
    """A post that nothing is known about starts its own conversation, so another one is better."""
    known = [
        meta.tweet_conversation_id
        for meta in ((new, old) if takes_found else (old, new))
        if meta.tweet_conversation_id not in ("", post_id)
    ]
    if known:
        return known[0]
    # A link says nothing about the conversation; its value is a guess.
    guess = "" if gives == Completeness.STUB else new.tweet_conversation_id
    return old.tweet_conversation_id or guess


def _author(old: AuthorDetails, new: AuthorDetails, *, takes_found: bool) -> AuthorDetails:
    return AuthorDetails(
        name=_either(old.name, new.name, takes_found=takes_found),
        username=_either(old.username, new.username, takes_found=takes_found),
        profile_image=_either(old.profile_image, new.profile_image, takes_found=takes_found),
    )


def as_thread(post: Post) -> Post:
    """The post, marked as the beginning of a thread."""
    details = post.tweet_details
    meta = msgspec.structs.replace(details.meta, tweet_is_thread=True)
    return msgspec.structs.replace(post, tweet_details=msgspec.structs.replace(details, meta=meta))


_FIELDS: Final = ("gone_at", "gone_reason", "removed_at", "note", "image_texts")
_NONE: Final[dict[str, Any]] = dict.fromkeys(_FIELDS, UNSET)


def of_found(found: FoundPost) -> dict[str, Any]:
    """What a found post says about itself in `tweet_details.meta`, beyond its record."""
    said: dict[str, Any] = {}
    if found.via_repost:
        said["via_repost_id"] = found.via_repost
    if found.versions:
        said["version_ids"] = list(found.versions)
    return said


def settled(
    post: Post,
    before: Post | None,
    found: FoundPost,
    hidden: HiddenPost | None,
    *,
    is_older: bool,
) -> Post:
    """The post with the state that is known after `found`.

    `before` is the stored post, and `hidden` what is known of a post that is not stored. A source
    that is older than what is known changes neither gone_at nor removed_at.
    """
    record = found.record
    known = _known(before, hidden)
    gone_at, gone_reason, removed_at = known["gone_at"], known["gone_reason"], known["removed_at"]
    if record.gone_at and not gone_at and not is_older:
        gone_at, gone_reason = record.gone_at, record.gone_reason
    elif found.is_shown and found.completeness is not Completeness.STUB:
        # The source showed the post itself. A file may be older than everything known.
        gone_at = gone_at if record.gone_at or is_older else UNSET
    if found.is_saved and not is_older:
        removed_at = UNSET
    elif not removed_at and not is_older:
        removed_at = record.removed_at
    settled = msgspec.structs.replace(
        post,
        gone_at=gone_at or UNSET,
        gone_reason=(gone_reason or UNSET) if gone_at else UNSET,
        removed_at=removed_at or UNSET,
        note=_joined_notes(known["note"] or "", found.note or record.note or "") or UNSET,
        image_texts=_joined_texts(known["image_texts"] or (), record.image_texts or ()) or UNSET,
    )
    return _with_passages(settled, before, record)


def sent(post: Post, record: ImportRecord, before: Post | None, hidden: HiddenPost | None) -> Post:
    """The post after a record in the format of the API: a field that it lacks stays as it is."""
    state = _known(before, hidden)
    for name in _FIELDS:
        value = getattr(record, name)
        if value is not UNSET:
            state[name] = value or UNSET
    if not state["gone_at"]:
        state["gone_reason"] = UNSET
    return _with_passages(msgspec.structs.replace(post, **state), before, record)


def _known(before: Post | None, hidden: HiddenPost | None) -> dict[str, Any]:
    if before is not None:
        return {name: getattr(before, name) for name in _FIELDS}
    if hidden is not None:
        return {**_NONE, "gone_at": hidden.gone_at, "gone_reason": hidden.reason}
    return dict(_NONE)


def _with_passages(post: Post, before: Post | None, record: ImportRecord) -> Post:
    """With the highlights of both, at their places in the text that the post has now."""
    known = None if before is None else before.highlights
    if not known and not record.highlights:
        return post
    return with_highlights(post, highlights.joined(known or (), record.highlights or ()))


def _joined_notes(stored: str, found: str) -> str:
    """Both notes: a program may have another note about the same post."""
    found = found[:NOTE_MAX].strip()
    if not stored or found in stored:
        return stored or found
    return f"{stored}\n\n{found}"[:NOTE_MAX]


def _joined_texts(stored: Sequence[ImageText], found: Sequence[ImageText]) -> list[ImageText]:
    """One for each image."""
    return list({one.url: one for one in (*stored, *found)}.values())[:IMAGE_TEXTS_MAX]


# The bits of an index below its milliseconds.
_LOW_BITS: Final = 20
_LOW: Final = (1 << _LOW_BITS) - 1


class Place(NamedTuple):
    """An unset value stays as it is in the library, or gets the default."""

    order_source: int
    sort_index: int | UnsetType = UNSET
    bookmarked_at: int | UnsetType = UNSET


class Positions:
    """Gives posts of a list places below the start of their run, in the order of the list."""

    def __init__(self, started_at: int, placed: int) -> None:
        self._first = index_of(started_at) | _LOW
        self.placed = placed

    def next(self) -> int:
        self.placed += 1
        return self._first - self.placed


def place(
    found: FoundPost,
    stored: ExistingBookmark | None,
    now: int,
    positions: Positions,
    *,
    is_older: bool = False,
) -> Place:
    """`is_older`: the post was captured before something else that is known about it."""
    offered = _offered(found, now)
    if stored is None:
        if offered.order_source == OrderSource.FILE_POSITION:
            return Place(OrderSource.FILE_POSITION, positions.next())
        return offered
    if offered.order_source < stored.order_source:
        # The post was saved again since X gave the index. The rank stays, so that an older page
        # does not move the post back.
        is_saved_again = offered.order_source == OrderSource.SAVED_DATE and _is_later(
            offered, stored
        )
        where = offered if is_saved_again else Place(stored.order_source)
        return where._replace(order_source=stored.order_source)
    if offered.order_source == stored.order_source:
        is_later = offered.sort_index is not UNSET and offered.sort_index > stored.sort_index
        return offered if is_later else Place(stored.order_source)
    if offered.order_source == OrderSource.FILE_POSITION:
        # A list without dates does not say that the post was saved again.
        return Place(stored.order_source)
    # An event may have said that the post was saved again after the page was captured.
    is_past = (
        is_older and stored.order_source == OrderSource.SAVED_DATE and _is_earlier(offered, stored)
    )
    return Place(stored.order_source) if is_past else offered


def later_index(where: Place, sort_index: int) -> Place:
    """The place of a valid index of X, unless the other place is a later index."""
    is_index = where.order_source == OrderSource.X
    if is_index and where.sort_index is not UNSET and where.sort_index >= sort_index:
        return where
    return Place(OrderSource.X, sort_index, (sort_index >> _LOW_BITS) * 1000)


def _is_later(offered: Place, stored: ExistingBookmark) -> bool:
    """Whether a date is after the millisecond of a stored index."""
    if offered.sort_index is UNSET:
        return False
    return offered.sort_index >> _LOW_BITS > stored.sort_index >> _LOW_BITS


def _is_earlier(offered: Place, stored: ExistingBookmark) -> bool:
    """Whether an index is before the millisecond of a stored date."""
    if offered.sort_index is UNSET:
        return False
    return offered.sort_index >> _LOW_BITS < stored.sort_index >> _LOW_BITS


def comes_back(found: FoundPost, deletion: Deletion, now: int) -> bool:
    """Whether a post was saved again after its owner deleted it."""
    offered = _offered(found, now)
    if offered.sort_index is UNSET:
        return False
    if offered.order_source == OrderSource.X:
        return offered.sort_index > deletion.sort_index
    return offered.sort_index > max(deletion.sort_index, index_of(deletion.deleted_at) | _LOW)


def _offered(found: FoundPost, now: int) -> Place:
    record = found.record
    order = found.order_source
    saved_at = None if record.bookmarked_at is UNSET else instants.parse(record.bookmarked_at)
    if order == OrderSource.X and record.sort_index is not UNSET:
        if saved_at is None:
            saved_at = _moment(found, record.sort_index, now)
        return Place(order, record.sort_index, UNSET if saved_at is None else saved_at)
    if order == OrderSource.SAVED_DATE and saved_at is not None:
        # A file with days but no times lists the newest first.
        below = _LOW - min(max(found.line, 0), _LOW)
        return Place(order, index_of(saved_at) | below, saved_at)
    if order == OrderSource.FILE_POSITION:
        return Place(order)
    return Place(OrderSource.IMPORT, bookmarked_at=UNSET if saved_at is None else saved_at)


def _moment(found: FoundPost, sort_index: int, now: int) -> int | None:
    """The moment in an index of X; None if it cannot be the moment of saving."""
    moment = (sort_index >> _LOW_BITS) * 1000
    posted_at = found.record.tweet_details.posted_at
    posted = (instants.parse(posted_at) if posted_at else None) or 0
    is_sane = posted <= moment <= now + MAX_AHEAD_US and str(sort_index) != found.record.post_id
    return moment if is_sane and moment > 0 else None
