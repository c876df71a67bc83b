"""Marks posts that were removed at their source, and does with them what their owner has chosen."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Final

from msgspec import UNSET

from bowerbird.clock import Clock
from bowerbird.errors import Code, Refusal
from bowerbird.library.access import turns
from bowerbird.library.access.turns import Unfinished
from bowerbird.library.bookmarks.trash import Deleted, Trash
from bowerbird.library.imports.intake import Intake, ItemResult
from bowerbird.model.accounts import Account, RemovedPostsChoice
from bowerbird.model.bookmarks import ImportRecord, PostDetails
from bowerbird.model.ingest import OtherList, SourceUser
from bowerbird.model.instants import with_offset
from bowerbird.sources.found import Completeness, FoundPost
from bowerbird.storage.accounts.accounts import AccountStore
from bowerbird.storage.bookmarks.upsert import UpsertStore
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.ingest.source_posts import SourcePostStore

# As many as the library compares at once.
_AT_ONCE: Final = 200


class RemovedPosts:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._accounts = AccountStore(database)
        self._posts = SourcePostStore(database)
        self._bookmarks = UpsertStore(database)
        self._clock = clock

    # Built only when posts were removed, because they have many parts.
    @cached_property
    def _intake(self) -> Intake:
        return Intake(self._database, self._clock)

    @cached_property
    def _trash(self) -> Trash:
        return Trash(self._database, self._clock)

    async def mark(self, account: Account, user: SourceUser, removed: Mapping[str, int]) -> None:
        """Posts that `user` removed, with the moments. Repeating it changes nothing.

        Call it before the removal is recorded: if the process stops between, the client or the
        next run repeats both.
        """
        ids = list(removed)
        for start in range(0, len(ids), _AT_ONCE):
            part = {post_id: removed[post_id] for post_id in ids[start : start + _AT_ONCE]}
            ended = await self._ended(account, user, part)
            await self._mark(account, ended)
            await self._delete(account, ended)

    async def mark_late(self, account: Account, user: SourceUser, post_ids: Sequence[str]) -> None:
        """Posts of a page that was captured before their removal, and stored after it."""
        removed = await self._posts.removed(account.account_id, user, post_ids)
        ended = await self._ended(account, user, removed)
        marked = await self._mark(account, ended)
        # A post that was marked before is here because its owner restored it.
        await self._delete(account, {one: ended[one] for one in marked})

    async def _ended(
        self, account: Account, user: SourceUser, removed: Mapping[str, int]
    ) -> dict[str, int]:
        """The posts of the library that no account has saved any more, and since when."""
        stored = await self._bookmarks.stored(account, list(removed)) if removed else {}
        if not stored:
            return {}
        others = await self._posts.other_lists(account.account_id, user, list(stored))
        ended = {one: _end(user, removed[one], others.get(one, ())) for one in sorted(stored)}
        return {post_id: at for post_id, at in ended.items() if at is not None}

    async def _mark(self, account: Account, removed: Mapping[str, int]) -> list[str]:
        """Returns the posts that were not marked before."""
        if not removed:
            return []
        choice = await self._accounts.removed_posts(self._database, account.account_id)
        is_hidden = choice is RemovedPostsChoice.HIDE
        marks = [_mark(one, at, is_hidden=is_hidden) for one, at in removed.items()]
        outcome = await self._intake.take(account, marks, run_id=None)
        return [post_id for post_id, result in outcome.results if result is ItemResult.CHANGED]

    async def _delete(self, account: Account, removed: Mapping[str, int]) -> None:
        if not removed:
            return
        choice = await self._accounts.removed_posts(self._database, account.account_id)
        if choice is not RemovedPostsChoice.TRASH:
            return
        seen = await self._posts.last_changes(self._database, account.account_id, list(removed))
        for post_id, at in removed.items():
            if seen.get(post_id, at) > at:
                # It was saved again meanwhile.
                continue

            async def work(
                transaction: Transaction, one: str = post_id, at: int = at
            ) -> Deleted | Unfinished[Deleted]:
                return await self._trash.delete(transaction, account, one, at)

            try:
                await turns.run(self._database, work, account.account_id)
            except Refusal as refusal:
                # Its owner deleted it at the same time.
                if refusal.code is not Code.NOT_FOUND:
                    raise


def _end(user: SourceUser, at: int, others: Sequence[OtherList]) -> int | None:
    """When the last account removed the post; None if another account still has it."""
    ends = [one.removed_at for one in _of_others(user, others)]
    return None if None in ends else max([at, *filter(None, ends)])


def _of_others(user: SourceUser, others: Sequence[OtherList]) -> Sequence[OtherList]:
    """A client need not say whose list it reads. Such a list is that of the only known account."""
    same = [one for one in others if one.user.source == user.source]
    if user.source_user_id:
        same = [one for one in same if not one.user.source_user_id]
    elif len(same) > 1:
        same = []
    return [one for one in others if one not in same]


def _mark(post_id: str, removed_at: int, *, is_hidden: bool) -> FoundPost:
    record = ImportRecord(
        post_id=post_id,
        tweet_details=PostDetails(),
        removed_at=with_offset(removed_at),
        is_archived=True if is_hidden else UNSET,
    )
    return FoundPost(
        record=record,
        line=0,
        completeness=Completeness.STUB,
        captured_at=removed_at,
        is_mark=True,
    )
