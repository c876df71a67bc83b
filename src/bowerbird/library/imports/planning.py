"""Decides what found posts change in a library, without writing anything."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

import msgspec
from msgspec import UNSET, UnsetType

from bowerbird.library.bookmarks.writing.bookmark_row import draft_of, searchable_texts
from bowerbird.library.bookmarks.writing.upsert import Write
from bowerbird.library.bookmarks.writing.upsert_batch import differs
from bowerbird.library.imports import merging
from bowerbird.library.imports.merging import Place, Positions, Sight
from bowerbird.model.arrival import Deletion, ExistingBookmark, HiddenPost, Incoming, OrderSource
from bowerbird.model.labels import clean_name, name_key
from bowerbird.model.posts.bookmarks import (
    ImportRecord,
    Post,
    completed,
    rendered_post,
    with_known_time,
    without_saving_time,
)
from bowerbird.model.words import order_key
from bowerbird.search.words.tokens import index_text
from bowerbird.sources import own_json
from bowerbird.sources.found import FoundPost
from bowerbird.storage.bookmarks.upsert import StoredPost

_X: Final = "x"
_NO_WORDS_YET: Final = ""
_BESIDE_CONTENT: Final = ("imported_at", "bookmarked_at", "tags", "completeness", "order_source")


class Known(NamedTuple):
    """What the library has of the found posts."""

    posts: Mapping[str, StoredPost]
    deletions: Mapping[str, Deletion]
    # Posts that their author continued, with the author's key.
    threads: set[tuple[str, str]]
    # When the run started, or will have, and how many posts got a place from their position so far.
    started_at: int
    placed: int
    # When a page or event last said something about these posts.
    seen: Mapping[str, int]
    # Those that the library does not have, and that their source lists as unavailable.
    hidden: Mapping[str, HiddenPost]
    # Whether posts that are removed at their source are archived, until they are saved again.
    hides_removed: bool

    def is_older(self, found: FoundPost) -> bool:
        """Whether the post was captured before the last page that had it."""
        seen_at = self.seen.get(found.record.post_id)
        return found.captured_at is not None and seen_at is not None and found.captured_at < seen_at


class Planned(NamedTuple):
    """What becomes of a found post."""

    post_id: str
    # The owner deleted it.
    is_ignored: bool = False
    # The owner deleted it, and it was saved again.
    is_back: bool = False


class Plan(NamedTuple):
    items: Sequence[Planned]
    writes: Sequence[Write]
    # How many posts of the run have a place from their position.
    placed: int


class _Library(NamedTuple):
    """What all posts of a plan are compared with."""

    known: Known
    threads: set[tuple[str, str]]
    now: int
    positions: Positions


def conversations(found: Iterable[FoundPost]) -> list[str]:
    """The first posts of the threads that these posts continue."""
    metas = [one.record.tweet_details.meta for one in found]
    return [meta.tweet_conversation_id for meta in metas if meta.is_sub_tweet_of_thread]


def comes_back(found: FoundPost, known: Known, now: int, *, is_saving: bool) -> bool:
    """Whether the owner deleted the post, and it was saved again."""
    post_id = found.record.post_id
    deletion = known.deletions.get(post_id)
    if deletion is None or post_id in known.posts or found.is_mark:
        return False
    return is_saving or merging.comes_back(found, deletion, now)


def plan(
    found: Sequence[FoundPost],
    known: Known,
    now: int,
    *,
    is_saving: bool,
    finds_words: bool = True,
) -> Plan:
    """`found` has each post once."""
    positions = Positions(known.started_at, known.placed)
    items: list[Planned] = []
    taken: list[FoundPost] = []
    for one in found:
        post_id = one.record.post_id
        is_absent = post_id not in known.posts
        if one.is_mark and is_absent:
            items.append(Planned(post_id))
            continue
        is_back = comes_back(one, known, now, is_saving=is_saving)
        is_ignored = is_absent and post_id in known.deletions and not is_back
        items.append(Planned(post_id, is_ignored=is_ignored, is_back=is_back))
        if not is_ignored:
            taken.append(one)
    library = _Library(known, known.threads | _continued(taken), now, positions)
    writes: list[Write] = []
    for one in taken:
        stored = known.posts.get(one.record.post_id)
        # A person who saves a post sets its labels and flags, also without sending its text.
        is_poorer = stored is not None and one.completeness < stored.existing.completeness
        is_merged = one.own is None or (is_poorer and not is_saving)
        write = _merged(one, stored, library) if is_merged else _own(one, stored, library)
        if write is not None:
            writes.append(write)
    writes += _roots(taken, known)
    if finds_words:
        _add_words(writes)
    return Plan(items, writes, positions.placed)


def _add_words(writes: Sequence[Write]) -> None:
    """Completes the drafts, except those whose words stay as they are."""
    for write in writes:
        if write.draft["words"] is not None:
            write.draft["words"] = index_text(*searchable_texts(write.incoming.record))


def _own(found: FoundPost, stored: StoredPost | None, library: _Library) -> Write | None:
    incoming = found.own
    assert incoming is not None
    sent = incoming.record
    before = None if stored is None or not stored.rendering else _post_of(stored)
    if stored is not None and not found.replaces_stored:
        incoming = _filled(incoming, stored, found.completeness)
    hidden = library.known.hidden.get(incoming.post_id)
    if before is not None or hidden is not None:
        incoming = _with_state(incoming, sent, before, hidden)
    if found.order_source is OrderSource.SAVED_DATE:
        existing = None if stored is None else stored.existing
        where = merging.place(found, existing, library.now, library.positions)
        incoming = msgspec.structs.replace(
            incoming,
            record=msgspec.structs.replace(incoming.record, sort_index=where.sort_index),
            bookmarked_at=where.bookmarked_at,
            order_source=where.order_source,
        )
    if found.added_labels:
        names = [*(incoming.tags or {}).values(), *found.added_labels]
        keeps_labels = incoming.tags is None and stored is not None
        tags = _tags(names, stored.existing if stored and keeps_labels else None)
        incoming = msgspec.structs.replace(incoming, tags=tags)
    if stored is not None and not differs(incoming, stored.existing):
        return None
    return Write(incoming, draft_of(incoming, _NO_WORDS_YET))


def _filled(incoming: Incoming, stored: StoredPost, gives: int) -> Incoming:
    """The record with the stored values of the fields that it does not have."""
    before = _post_of(stored)
    if before is None:
        return incoming
    has = stored.existing.completeness
    sent = own_json.post_of(incoming.record)
    post = completed(merging.merge(before, has, sent, gives, Sight.PART))
    return msgspec.structs.replace(_with_content(incoming, post), completeness=max(has, gives))


def _with_content(incoming: Incoming, post: Post) -> Incoming:
    record = msgspec.structs.replace(incoming.record, **msgspec.structs.asdict(post))
    own = msgspec.structs.asdict(incoming)
    return own_json.incoming_of(record, **{name: own[name] for name in _BESIDE_CONTENT})


def _with_state(
    incoming: Incoming, sent: ImportRecord, before: Post | None, hidden: HiddenPost | None
) -> Incoming:
    post = own_json.post_of(incoming.record)
    complete = merging.sent(post, sent, before, hidden)
    if before is not None:
        complete = with_known_time(complete, before)
    return incoming if complete == post else _with_content(incoming, complete)


def _merged(found: FoundPost, stored: StoredPost | None, library: _Library) -> Write | None:
    before = None if stored is None else _post_of(stored)
    existing = None if stored is None else stored.existing
    gives = found.completeness
    has = gives if existing is None else max(existing.completeness, gives)
    after = _with_source(own_json.post_of(own_json.with_offset(found.record)), found)
    is_older = library.known.is_older(found)
    if before is not None and existing is not None:
        sight = Sight.OLDER if is_older else Sight.LATEST
        after = merging.merge(before, existing.completeness, after, gives, sight)
    after = completed(after)
    hidden = None if existing else library.known.hidden.get(after.post_id)
    after = merging.settled(after, before, found, hidden, is_older=is_older)
    if (after.post_id, order_key(after.author_username)) in library.threads:
        after = merging.as_thread(after)
    where = merging.place(found, existing, library.now, library.positions, is_older=is_older)
    if hidden is not None and hidden.sort_index is not None:
        where = merging.later_index(where, hidden.sort_index)
    incoming = _incoming(after, found, existing, where, has)
    if before is not None:
        hides = library.known.hides_removed
        incoming = _with_flags(incoming, before, after, found, hides_removed=hides)
    if existing is not None and not differs(incoming, existing):
        return None
    return _write(incoming, before, existing)


def _write(incoming: Incoming, before: Post | None, existing: ExistingBookmark | None) -> Write:
    draft = draft_of(incoming, _NO_WORDS_YET)
    if before is not None and searchable_texts(before) == searchable_texts(incoming.record):
        draft["words"] = None
    return Write(incoming, draft, _is_minor(incoming, before, existing))


def _is_minor(incoming: Incoming, before: Post | None, existing: ExistingBookmark | None) -> bool:
    if before is None or existing is None:
        return False
    as_before = msgspec.structs.replace(incoming, content_hash=existing.content_hash)
    if differs(as_before, existing):
        return False
    after = own_json.post_of(incoming.record)
    meta = msgspec.structs.replace(
        after.tweet_details.meta,
        non_real_time_engagement_metrics=(
            before.tweet_details.meta.non_real_time_engagement_metrics
        ),
    )
    after = msgspec.structs.replace(
        after,
        tweet_details=msgspec.structs.replace(after.tweet_details, meta=meta),
        author_details=msgspec.structs.replace(
            after.author_details, profile_image=before.author_details.profile_image
        ),
    )
    return after == before


def _incoming(
    post: Post, found: FoundPost, existing: ExistingBookmark | None, where: Place, has: int
) -> Incoming:
    record = found.record
    # A later sync does not touch the flags.
    is_read = record.is_read if existing is None else UNSET
    is_archived = record.is_archived if existing is None else UNSET
    return own_json.incoming_of(
        ImportRecord(
            **msgspec.structs.asdict(post),
            sort_index=where.sort_index,
            is_read=is_read,
            is_archived=is_archived,
        ),
        bookmarked_at=where.bookmarked_at,
        tags=_tags([*(record.tags or ()), *found.added_labels], existing),
        completeness=has,
        order_source=where.order_source,
    )


def _with_flags(
    incoming: Incoming, before: Post, after: Post, found: FoundPost, *, hides_removed: bool
) -> Incoming:
    """A post that is removed at its source can be archived, until it is saved again.

    Otherwise imports do not touch the flags of a stored post.
    """
    is_archived: bool | UnsetType = UNSET
    if after.removed_at and not before.removed_at:
        is_archived = found.record.is_archived
    elif hides_removed and before.removed_at and not after.removed_at:
        is_archived = False
    if is_archived is UNSET:
        return incoming
    record = msgspec.structs.replace(incoming.record, is_archived=is_archived)
    return msgspec.structs.replace(incoming, record=record)


def _tags(names: list[str], existing: ExistingBookmark | None) -> dict[str, str] | None:
    """Found labels are added to those of the post. Invalid names are left out."""
    if not names:
        return None
    tags = {} if existing is None else {key: key for key in existing.tags}
    for text in names:
        name = clean_name(text)
        if name is not None:
            tags.setdefault(name_key(name), name)
    return tags


def _with_source(post: Post, found: FoundPost) -> Post:
    if said := merging.of_found(found):
        details = post.tweet_details
        meta = msgspec.structs.replace(details.meta, **said)
        details = msgspec.structs.replace(details, meta=meta)
        post = msgspec.structs.replace(post, tweet_details=details)
    if found.source == _X:
        return post
    return msgspec.structs.replace(post, source=found.source, source_id=found.source_id or UNSET)


def _continued(found: Iterable[FoundPost]) -> set[tuple[str, str]]:
    """The threads that these posts continue, with the author's key."""
    return {
        (one.record.tweet_details.meta.tweet_conversation_id, order_key(one.record.author_username))
        for one in found
        if one.record.tweet_details.meta.is_sub_tweet_of_thread
    }


def _roots(found: Sequence[FoundPost], known: Known) -> list[Write]:
    """Marks the stored first posts of threads that these posts continue."""
    ids = {one.record.post_id for one in found}
    writes = []
    for post_id, author_key in sorted(_continued(one for one in found if one.own is None)):
        stored = None if post_id in ids else known.posts.get(post_id)
        before = None if stored is None else _post_of(stored)
        if stored is None or before is None or before.tweet_details.meta.tweet_is_thread:
            continue
        if order_key(before.author_username) != author_key:
            continue
        incoming = own_json.incoming_of(
            ImportRecord(**msgspec.structs.asdict(merging.as_thread(before))),
            completeness=stored.existing.completeness,
            order_source=stored.existing.order_source,
        )
        writes.append(_write(incoming, before, stored.existing))
    return writes


def _post_of(stored: StoredPost) -> Post | None:
    post = rendered_post(stored.rendering)
    return None if post is None else without_saving_time(post, stored.existing.bookmarked_at)
