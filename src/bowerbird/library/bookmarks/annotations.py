"""What the owner of a post says about it: read, archived, a note, highlights. Every plan has this.

Each call changes posts inside a transaction that has locked the library, so two people or programs
that mark passages of the same post do not overwrite each other.
"""

import secrets
from collections.abc import Callable
from typing import Final

import msgspec
from msgspec import UNSET, Struct, UnsetType

from bowerbird import errors
from bowerbird.clock import Clock
from bowerbird.errors import Code, Refusal
from bowerbird.library.bookmarks.bookmarks import is_post_id
from bowerbird.library.bookmarks.writing.changeset import Changeset
from bowerbird.library.bookmarks.writing.kept_changes import KeptChanges
from bowerbird.model.accounts import Account
from bowerbird.model.bulk import FLAG_ACTIONS, BulkAction, BulkRow
from bowerbird.model.instants import with_offset
from bowerbird.model.posts import highlights
from bowerbird.model.posts.bookmarks import Post, markable_texts, with_highlights
from bowerbird.model.posts.highlights import HighlightedPassage, Span
from bowerbird.requests import limits
from bowerbird.requests.bookmarks import FlagsRequest, HighlightChange, NewHighlight, UpdateRequest
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.stores import Service, TimedService


class BookmarkState(Struct, frozen=True):
    post_id: str
    is_read: bool
    is_archived: bool


class FlagsResult(Struct, frozen=True):
    posts: list[BookmarkState]
    affected: int
    not_found: list[str]
    # None if nothing has changed.
    change: BulkRow | None


class Flags(Service):
    def __init__(self, database: Database, clock: Clock) -> None:
        super().__init__(database)
        self._kept = KeptChanges(database, clock)

    async def update(
        self,
        transaction: Transaction,
        account: Account,
        post_ids: list[str],
        flags: FlagsRequest,
        note: str | UnsetType | None = UNSET,
    ) -> FlagsResult:
        """Changes the flags of posts, and the note of one."""
        library = await self._stores.libraries.lock(transaction, account.account_id)
        changeset = await Changeset.open(self._database, library, is_recorded=True)
        await changeset.load(post_ids)
        posts = [post for post_id in post_ids if (post := changeset.post(post_id)) is not None]
        affected = 0
        for post in posts:
            is_changed = changeset.set_flags(
                post, is_read=flags.is_read, is_archived=flags.is_archived
            )
            if note is not UNSET:
                is_changed |= await changeset.rewrite(post, lambda stored: _with_note(stored, note))
            affected += is_changed
        if not posts:
            raise errors.not_found("post", *post_ids)
        action = FLAG_ACTIONS.get((flags.is_read, flags.is_archived), BulkAction.UPDATE_NOTE)
        change = await self._kept.finish(changeset, action, len(posts))
        return FlagsResult(
            [BookmarkState(post.post_id, post.is_read, post.is_archived) for post in posts],
            affected,
            [post_id for post_id in post_ids if changeset.post(post_id) is None],
            change,
        )

    async def stored(self, transaction: Transaction, account: Account, post_id: str) -> bytes:
        """The JSON of a bookmark."""
        found = None
        if is_post_id(post_id):
            found = await self._stores.bookmarks.by_post_id_within(transaction, account, post_id)
        if found is None:
            raise errors.not_found("post", post_id)
        return found

    async def update_one(
        self, transaction: Transaction, account: Account, post_id: str, change: UpdateRequest
    ) -> tuple[bytes, BulkRow | None]:
        """Changes one bookmark; returns its JSON, and the change; None if nothing has changed."""
        result = await self.update(transaction, account, [post_id], change, change.note)
        found = await self._stores.bookmarks.by_post_id_within(transaction, account, post_id)
        assert found is not None
        return found, result.change


def _with_note(post: Post, note: str | None) -> Post:
    return msgspec.structs.replace(post, note=note or UNSET)


Passages = list[HighlightedPassage]
Marked = tuple[HighlightedPassage, BulkRow | None]
"""A passage, and the change; None if nothing has changed."""
_ID_BYTES: Final = 6


class Highlights(TimedService):
    def __init__(self, database: Database, clock: Clock) -> None:
        super().__init__(database, clock)
        self._kept = KeptChanges(database, clock)

    async def add(
        self, transaction: Transaction, account: Account, post_id: str, request: NewHighlight
    ) -> Marked:
        """Marks a passage. One that is marked already keeps its id, and gets the comment."""
        made: Passages = []
        now, id = with_offset(self._clock()), secrets.token_hex(_ID_BYTES)

        def change(post: Post) -> Post:
            text = markable_texts(post)[request.field]
            start, end = _span(text, request)
            stored = list(post.highlights or ())
            same = [n for n, one in enumerate(stored) if one.where == (request.field, start, end)]
            if same:
                made.append(_commented(stored[same[0]], request.comment, keeps=True))
                stored[same[0]] = made[0]
            else:
                passage = HighlightedPassage(
                    id=id,
                    field=request.field,
                    quote=text[start:end],
                    start=start,
                    end=end,
                    created_at=now,
                )
                made.append(_commented(passage, request.comment))
                stored.append(made[0])
            return _fitting(post, stored)

        action = BulkAction.ADD_HIGHLIGHT
        row = await self._change(transaction, account, post_id, action, change)
        return made[0], row

    async def update(
        self,
        transaction: Transaction,
        account: Account,
        post_id: str,
        highlight_id: str,
        request: HighlightChange,
    ) -> Marked:
        changed: Passages = []

        def change(post: Post) -> Post:
            stored = list(post.highlights or ())
            place = _index(stored, highlight_id)
            changed.append(_commented(stored[place], request.comment))
            stored[place] = changed[0]
            return _fitting(post, stored)

        action = BulkAction.UPDATE_HIGHLIGHT
        row = await self._change(transaction, account, post_id, action, change)
        return changed[0], row

    async def remove(
        self, transaction: Transaction, account: Account, post_id: str, highlight_id: str
    ) -> Marked:
        """Returns the highlight that was removed."""
        removed: Passages = []

        def change(post: Post) -> Post:
            stored = list(post.highlights or ())
            removed.append(stored.pop(_index(stored, highlight_id)))
            return with_highlights(post, stored)

        action = BulkAction.DELETE_HIGHLIGHT
        row = await self._change(transaction, account, post_id, action, change)
        return removed[0], row

    async def _change(
        self,
        transaction: Transaction,
        account: Account,
        post_id: str,
        action: BulkAction,
        change: Callable[[Post], Post],
    ) -> BulkRow | None:
        library = await self._stores.libraries.lock(transaction, account.account_id)
        changeset = await Changeset.open(self._database, library, is_recorded=True)
        await changeset.load([post_id])
        post = changeset.post(post_id)
        if post is None:
            raise errors.not_found("post", post_id)
        await changeset.rewrite(post, change)
        return await self._kept.finish(changeset, action, 1)


def _span(text: str, request: NewHighlight) -> Span:
    near = request.start or 0
    if request.quote is not None:
        span = highlights.find(text, request.quote.strip(), near)
        if span is None:
            raise errors.invalid("quote", f"is not in the {_name(request)} of the post")
        return span
    assert request.end is not None
    span = highlights.trimmed(text, near, request.end)
    if span is None:
        raise errors.invalid("start", f"to end has no visible character of the {_name(request)}")
    return span


def _name(request: NewHighlight) -> str:
    return "article" if request.field == "article" else "text"


def _index(stored: Passages, highlight_id: str) -> int:
    for place, one in enumerate(stored):
        if one.id == highlight_id:
            return place
    raise errors.not_found("highlight", highlight_id)


def _commented(
    passage: HighlightedPassage, comment: str | None, *, keeps: bool = False
) -> HighlightedPassage:
    """`keeps`: without a comment, the one that it has stays."""
    if keeps and not comment:
        return passage
    return msgspec.structs.replace(passage, comment=(comment or "").strip() or UNSET)


def _fitting(post: Post, passages: Passages) -> Post:
    if len(passages) > limits.HIGHLIGHTS_MAX:
        raise Refusal(
            Code.INVALID_REQUEST,
            f"Post {post.post_id} already has {limits.HIGHLIGHTS_MAX} highlights, which is the "
            "maximum.",
        )
    if not highlights.fits(passages):
        raise Refusal(
            Code.INVALID_REQUEST,
            f"The highlights and comments of post {post.post_id} would have more than "
            f"{limits.HIGHLIGHT_CHARACTERS_MAX:,} characters, which is the maximum.",
        )
    return with_highlights(post, passages)
