"""Marks bookmarks read or archived, and changes their notes. Every plan includes this."""

import msgspec
from msgspec import UNSET, Struct, UnsetType

from bowerbird import errors
from bowerbird.clock import Clock
from bowerbird.library.bookmarks.bookmarks import is_post_id
from bowerbird.library.bookmarks.writing.changeset import Changesets
from bowerbird.library.bookmarks.writing.kept_changes import KeptChanges
from bowerbird.model.accounts import Account
from bowerbird.model.bulk import FLAG_ACTIONS, BulkAction, BulkRow
from bowerbird.model.posts.bookmarks import Post
from bowerbird.requests.bookmarks import FlagsRequest, UpdateRequest
from bowerbird.storage.bookmarks.bookmarks import BookmarkStore
from bowerbird.storage.database import Database, Transaction


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


class Flags:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._changesets = Changesets(database)
        self._kept = KeptChanges(database, clock)
        self._bookmarks = BookmarkStore(database)

    async def update(
        self,
        transaction: Transaction,
        account: Account,
        post_ids: list[str],
        flags: FlagsRequest,
        note: str | UnsetType | None = UNSET,
    ) -> FlagsResult:
        """Changes the flags of posts, and the note of one."""
        changeset = await self._changesets.open(transaction, account.account_id, is_recorded=True)
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
            raise errors.not_found("post", ", ".join(post_ids[:3]))
        action = FLAG_ACTIONS.get((flags.is_read, flags.is_archived), BulkAction.UPDATE_NOTE)
        change = await self._kept.finish(transaction, changeset, action, len(posts))
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
            found = await self._bookmarks.by_post_id_within(transaction, account, post_id)
        if found is None:
            raise errors.not_found("post", post_id)
        return found

    async def update_one(
        self, transaction: Transaction, account: Account, post_id: str, change: UpdateRequest
    ) -> tuple[bytes, BulkRow | None]:
        """Changes one bookmark; returns its JSON, and the change; None if nothing has changed."""
        result = await self.update(transaction, account, [post_id], change, change.note)
        found = await self._bookmarks.by_post_id_within(transaction, account, post_id)
        assert found is not None
        return found, result.change


def _with_note(post: Post, note: str | None) -> Post:
    return msgspec.structs.replace(post, note=note or UNSET)
