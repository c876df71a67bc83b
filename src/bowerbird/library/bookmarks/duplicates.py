"""Posts that are in a library several times: lists them in groups, and keeps one of each group.

Posts are duplicates if they have the same links, text or pictures. A group of one text or one
picture whose posts also have the same links is listed once, by its links; one of pictures whose
posts have the same text, by its text.
"""

import asyncio
import re
from collections.abc import Sequence
from typing import Final, Literal, NamedTuple, get_args

import msgspec
from msgspec import Struct

from bowerbird import errors
from bowerbird.clock import Clock
from bowerbird.library.access import activity, plans, turns
from bowerbird.library.bookmarks import cursors
from bowerbird.library.bookmarks.cursors import Named
from bowerbird.library.bookmarks.searching import explaining
from bowerbird.library.bookmarks.writing.changeset import Changeset, post_is_full
from bowerbird.library.bookmarks.writing.kept_changes import KeptChanges
from bowerbird.library.bookmarks.writing.label_renames import LabelRenames
from bowerbird.library.bookmarks.writing.trash_batch import TrashBatches
from bowerbird.model import json_depth
from bowerbird.model.accounts import Account, ActivityKind
from bowerbird.model.bulk import BulkAction, BulkRow
from bowerbird.requests.bookmarks import DuplicatesQuery, ResolveRequest
from bowerbird.requests.fields import Gate
from bowerbird.requests.limits import (
    DUPLICATE_GROUPS_MAX,
    DUPLICATES_SHOWN,
    PAGE_DEFAULT,
    POST_LABELS_MAX,
)
from bowerbird.storage.bookmarks.changeset import EditablePost
from bowerbird.storage.bookmarks.statistics import GroupedPost, Prints, Same
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.libraries import LockedLibrary
from bowerbird.storage.stores import TimedService

_KINDS: Final[tuple[Same, ...]] = get_args(Same)
_FIRST: Final = -(2**63)
_LAST: Final = 2**63 - 1
_NUMBER: Final = re.compile(r"-?[0-9]{1,19}")
_EXCERPT: Final = 280


class DuplicatePost(Struct, frozen=True, kw_only=True):
    """A post of a group of duplicates."""

    post_id: str
    author_username: str
    text: str
    """The beginning of its text."""
    link: str
    bookmarked_at: str
    """When the post was bookmarked, if known: ISO 8601 with an offset."""
    updated_at: str
    """When anything of the bookmark last changed."""
    tags: list[str] | None
    is_read: bool
    is_archived: bool
    is_annotated: bool
    """Whether it has a note or highlights of yours. Such a post is never removed as a duplicate."""


class DuplicateGroup(Struct, frozen=True, kw_only=True):
    """Posts that have the same links, the same text, or the same pictures."""

    same: Literal["link", "text", "picture"]
    """What they have in common."""
    count: int
    """Number of posts in the group."""
    keep: str
    """The post to keep if nothing else matters: one with a note or highlights, else the one with
    the most labels, else the first."""
    posts: list[DuplicatePost]
    """The first posts of the group, in the order in which they came into the library."""


class DuplicatePage(Struct, frozen=True):
    groups: Sequence[DuplicateGroup]
    next_cursor: str | None
    limit: int
    hint: str


class KeptPost(Struct, frozen=True):
    post_id: str
    tags: list[str] | None


class Resolved(Struct, frozen=True):
    kept: list[KeptPost]
    removed: int
    not_found: list[str]
    # Those with a note or highlights.
    not_removed: list[str]
    change: BulkRow | None


class _Details(Struct):
    text: str
    link: str


class _Post(Struct):
    """The fields of a stored bookmark that a group shows."""

    post_id: str
    author_username: str
    tweet_details: _Details
    bookmarked_at: str
    updated_at: str
    tags: list[str] | None
    is_read: bool
    is_archived: bool
    note: str | None = None
    highlights: list[msgspec.Raw] | None = None

    @property
    def is_annotated(self) -> bool:
        return bool(self.note or self.highlights)


_posts: Final = msgspec.json.Decoder(list[_Post]).decode


class Duplicates(TimedService):
    def __init__(self, database: Database, clock: Clock) -> None:
        super().__init__(database, clock)
        self._batches = TrashBatches(database, clock)
        self._kept = KeptChanges(database, clock)

    async def page(self, account: Account, query: DuplicatesQuery) -> DuplicatePage:
        plans.check_fields(account, {"duplicates": Gate.FILTERING})
        limit = min(query.limit or PAGE_DEFAULT, DUPLICATE_GROUPS_MAX)
        bound_to = cursors.query_of(account.account_id, "duplicates", query.same)
        start, after = _position(query.cursor, bound_to)
        kinds = [one for one in _KINDS if query.same in (None, one)]
        found: list[tuple[Same, int, int]] = []
        for kind in kinds[kinds.index(start) if start in kinds else 0 :]:
            left = limit + 1 - len(found)
            begin = after if kind == start else _FIRST
            groups = await self._stores.duplicates.groups(account.account_id, kind, begin, left)
            found += [(kind, print, count) for print, count in groups]
            if len(found) > limit:
                break
        has_more, found = len(found) > limit, found[:limit]
        is_waiting = await self._stores.bookmarks.has_posts_without_traits(account)
        return DuplicatePage(
            await self._shown(account, found, with_all=query.same is not None),
            cursors.write(Named(f"{found[-1][0]} {found[-1][1]}"), bound_to) if has_more else None,
            limit,
            explaining.NOT_LOOKED_AT if is_waiting else "",
        )

    async def _shown(
        self, account: Account, found: Sequence[tuple[Same, int, int]], *, with_all: bool
    ) -> list[DuplicateGroup]:
        members: dict[tuple[Same, int], list[GroupedPost]] = {}
        for kind in _KINDS:
            prints = [print for one, print, _ in found if one == kind]
            if prints:
                posts = await self._stores.duplicates.posts(
                    account.account_id, kind, prints, DUPLICATES_SHOWN
                )
                for post in posts:
                    members.setdefault((kind, post.print), []).append(post)
        numbers = {post.number: None for posts in members.values() for post in posts}
        body, _ = await self._stores.bookmarks.contents(account, list(numbers))
        stored = await asyncio.to_thread(_decoded, body)
        groups = []
        for kind, print, count in found:
            posts = members.get((kind, print), [])
            if not with_all and _is_listed_already(kind, posts, count):
                continue
            shown = [stored[post.post_id] for post in posts if post.post_id in stored]
            if len(shown) > 1:
                groups.append(_group(kind, count, shown))
        return groups

    async def resolve(
        self, transaction: Transaction, account: Account, request: ResolveRequest
    ) -> Resolved:
        """Moves duplicates to the trash, and gives their labels to the posts that stay."""
        plans.check_writes(account)
        library = await LabelRenames(self._database).lock(transaction, account.account_id)
        ids = [one for group in request.groups for one in (group.keep, *group.remove)]
        prints = await self._stores.duplicates.prints(library, ids)
        _check(request, prints)
        changeset = await Changeset.open(self._database, library, is_recorded=True)
        _check_size(request, await changeset.sizes(ids))
        posts = {one: post for one in ids if (post := changeset.post(one)) is not None}
        annotated = await self._annotated(library, list(posts.values()))
        removed = [
            [posts[one] for one in group.remove if one in posts and one not in annotated]
            for group in request.groups
        ]
        given = {name for some in removed for post in some for name in post.tags}
        await changeset.load_labels(given)
        kept = []
        for group, some in zip(request.groups, removed, strict=True):
            keep = posts[group.keep]
            _give_labels(changeset, keep, some)
            kept.append(KeptPost(keep.post_id, keep.tags or None))
        every = [post for some in removed for post in some]
        await self._batches.put(changeset, every)
        change = await self._kept.finish(changeset, BulkAction.TRASH, len(every))
        if every:
            entry = activity.entry(self._clock, ActivityKind.POSTS_DELETED)
            await self._stores.activity.add(library, entry)
        return Resolved(
            kept,
            len(every),
            [one for one in ids if one not in posts],
            [one for group in request.groups for one in group.remove if one in annotated],
            change,
        )

    async def _annotated(self, library: LockedLibrary, posts: Sequence[EditablePost]) -> set[str]:
        """The posts with a note or highlights, which a removal would take away."""
        found = await self._stores.bookmarks.contents_of(library, [post.number for post in posts])
        stored = _decoded(b",".join(found.values()))
        return {one.post_id for one in stored.values() if one.is_annotated}


def _decoded(body: bytes) -> dict[str, _Post]:
    return {one.post_id: one for one in _posts(json_depth.cut(b"[%b]" % body))}


def _group(same: Same, count: int, posts: Sequence[_Post]) -> DuplicateGroup:
    keep = max(posts, key=lambda post: (post.is_annotated, len(post.tags or ())))
    shown = [
        DuplicatePost(
            post_id=post.post_id,
            author_username=post.author_username,
            text=post.tweet_details.text[:_EXCERPT],
            link=post.tweet_details.link,
            bookmarked_at=post.bookmarked_at,
            updated_at=post.updated_at,
            tags=post.tags,
            is_read=post.is_read,
            is_archived=post.is_archived,
            is_annotated=post.is_annotated,
        )
        for post in posts
    ]
    return DuplicateGroup(same=same, count=count, keep=keep.post_id, posts=shown)


def _is_listed_already(kind: Same, posts: Sequence[GroupedPost], count: int) -> bool:
    """Whether all posts of a group have the same links or text, by which it comes earlier."""
    links = {post.link_print for post in posts}
    texts = {post.text_print for post in posts}
    earlier = {"link": (), "text": (links,), "picture": (links, texts)}[kind]
    return len(posts) == count and any(len(one) == 1 and None not in one for one in earlier)


class _Start(NamedTuple):
    kind: str
    after: int


def _position(cursor: str | None, bound_to: bytes) -> _Start:
    if not cursor:
        return _Start("", _FIRST)
    kind, _, print = cursors.read_as(cursors.Named, cursor, bound_to).name.partition(" ")
    # We never return another one, but anyone can forge it.
    if kind not in _KINDS or not _NUMBER.fullmatch(print) or not _FIRST <= int(print) <= _LAST:
        raise cursors.refused(cursor)
    return _Start(kind, int(print))


def _check(request: ResolveRequest, prints: dict[str, Prints]) -> None:
    """Refuses a post that is no duplicate of the one that stays."""
    for place, group in enumerate(request.groups):
        if group.keep not in prints:
            raise errors.not_found("post", group.keep)
        kept = prints[group.keep]
        for one in group.remove:
            found = prints.get(one)
            if found is not None and not _are_same(kept, found):
                raise errors.invalid(
                    f"groups[{place}].remove",
                    f"{one} has neither the text, the links nor the pictures of {group.keep}; "
                    "nothing was changed",
                )


def _check_size(request: ResolveRequest, sizes: dict[str, int]) -> None:
    """Posts are moved in one transaction, during which other writes wait."""
    removed = [one for group in request.groups for one in group.remove if one in sizes]
    if len(removed) > 1 and sum(sizes[one] for one in removed) > turns.BYTES_PER_TURN:
        raise errors.invalid("groups", "remove too long posts for one request; send fewer groups")


def _are_same(one: Prints, other: Prints) -> bool:
    return any(a is not None and a == b for a, b in zip(one, other, strict=True))


def _give_labels(changeset: Changeset, keep: EditablePost, removed: Sequence[EditablePost]) -> None:
    for name in dict.fromkeys(name for post in removed for name in post.tags):
        label = changeset.label(name)
        if label is None or label.name in keep.tags:
            continue
        if len(keep.tags) >= POST_LABELS_MAX:
            raise post_is_full(keep.post_id)
        changeset.attach(keep, label)
