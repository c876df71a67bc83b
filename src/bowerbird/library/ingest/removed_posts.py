"""Marks posts that were removed at their source, and does with them what their owner has chosen."""

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import UNSET

from bowerbird.clock import Clock
from bowerbird.errors import Code, Refusal
from bowerbird.library.access import turns
from bowerbird.library.access.turns import Unfinished
from bowerbird.library.bookmarks.trash import Deleted, Trash
from bowerbird.library.imports.intake import Intake
from bowerbird.model.accounts import Account, RemovedPostsChoice
from bowerbird.model.bookmarks import ImportRecord, PostDetails
from bowerbird.model.ingest import SourceUser
from bowerbird.model.instants import with_offset
from bowerbird.sources.found import Completeness, FoundPost
from bowerbird.storage.accounts.accounts import AccountStore
from bowerbird.storage.bookmarks.upsert import UpsertStore
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.ingest.source_posts import SourcePostStore

_HIDE: Final = RemovedPostsChoice.HIDE
# As many as the library compares at once.
_AT_ONCE: Final = 200


class RemovedPosts:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._accounts = AccountStore(database)
        self._posts = SourcePostStore(database)
        self._bookmarks = UpsertStore(database)
        self._intake = Intake(database, clock)
        self._trash = Trash(database, clock)

    async def mark(self, account: Account, user: SourceUser, removed: Mapping[str, int]) -> None:
        """Posts that `user` removed, with the moments. Repeating it changes nothing.

        Call it before the removal is recorded: if the process stops between, the client or the
        next run repeats both.
        """
        ids = list(removed)
        for start in range(0, len(ids), _AT_ONCE):
            part = {post_id: removed[post_id] for post_id in ids[start : start + _AT_ONCE]}
            await self._mark(account, user, part)

    async def _mark(self, account: Account, user: SourceUser, removed: Mapping[str, int]) -> None:
        stored = await self._bookmarks.stored(account, list(removed))
        if not stored:
            return
        elsewhere = await self._posts.saved_elsewhere(account.account_id, user, list(stored))
        ids = sorted(stored.keys() - elsewhere)
        choice = await self._accounts.removed_posts(account.account_id)
        marks = [_mark(one, removed[one], is_hidden=choice is _HIDE) for one in ids]
        await self._intake.take(account, marks, run_id=None)
        if choice is RemovedPostsChoice.TRASH:
            await self._delete(account, ids)

    async def _delete(self, account: Account, post_ids: Sequence[str]) -> None:
        for post_id in post_ids:

            async def work(
                transaction: Transaction, one: str = post_id
            ) -> Deleted | Unfinished[Deleted]:
                return await self._trash.delete(transaction, account, one)

            try:
                await turns.run(self._database, work, account.account_id)
            except Refusal as refusal:
                # Its owner deleted it at the same time.
                if refusal.code is not Code.NOT_FOUND:
                    raise


def _mark(post_id: str, removed_at: int, *, is_hidden: bool) -> FoundPost:
    record = ImportRecord(
        post_id=post_id,
        tweet_details=PostDetails(),
        removed_at=with_offset(removed_at),
        is_archived=True if is_hidden else UNSET,
    )
    return FoundPost(record=record, line=0, completeness=Completeness.STUB, is_mark=True)
