"""Finds posts that were removed at their source, and does with them what their owner has chosen.

Only a full run that read the whole list proves that a post was removed.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Final, NamedTuple

from msgspec import UNSET

from bowerbird.clock import Clock
from bowerbird.errors import Code, Refusal
from bowerbird.library.access import turns
from bowerbird.library.bookmarks.trash import Deleted, Trash
from bowerbird.library.imports.intake import Intake, ItemResult
from bowerbird.model.accounts import Account, RemovedPostsChoice
from bowerbird.model.arrival import IngestRun, OtherList, PageLink, SourceUser
from bowerbird.model.instants import with_offset
from bowerbird.requests import limits
from bowerbird.sources.found import mark
from bowerbird.storage.database import Database, Transaction, Writable
from bowerbird.storage.stores import TimedService

# As many as the library compares at once.
_AT_ONCE: Final = 200


class RemovedPosts(TimedService):
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
        removed = await self._stores.source_posts.removed(account.account_id, user, post_ids)
        ended = await self._ended(account, user, removed)
        marked = await self._mark(account, ended)
        # A post that was marked before is here because its owner restored it.
        await self._delete(account, {one: ended[one] for one in marked})

    async def _ended(
        self, account: Account, user: SourceUser, removed: Mapping[str, int]
    ) -> dict[str, int]:
        """The posts of the library that no account has saved any more, and since when."""
        stored = await self._stores.upserts.stored(account, list(removed)) if removed else {}
        if not stored:
            return {}
        others = await self._stores.source_posts.other_lists(account.account_id, user, list(stored))
        ended = {one: _end(user, removed[one], others.get(one, ())) for one in sorted(stored)}
        return {post_id: at for post_id, at in ended.items() if at is not None}

    async def _mark(self, account: Account, removed: Mapping[str, int]) -> list[str]:
        """Returns the posts that were not marked before."""
        if not removed:
            return []
        choice = await self._stores.accounts.removed_posts(self._library(account.account_id))
        is_archived = True if choice is RemovedPostsChoice.HIDE else UNSET
        marks = [
            mark(one, at, removed_at=with_offset(at), is_archived=is_archived)
            for one, at in removed.items()
        ]
        outcome = await self._intake.take(account, marks)
        return [post_id for post_id, result in outcome.results if result is ItemResult.CHANGED]

    async def _delete(self, account: Account, removed: Mapping[str, int]) -> None:
        if not removed:
            return
        library = self._library(account.account_id)
        choice = await self._stores.accounts.removed_posts(library)
        if choice is not RemovedPostsChoice.TRASH:
            return
        seen = await self._stores.source_posts.last_changes(library, list(removed))
        for post_id, at in removed.items():
            if seen.get(post_id, at) > at:
                # It was saved again meanwhile.
                continue

            async def work(transaction: Transaction, one: str = post_id, at: int = at) -> Deleted:
                return (await self._trash.delete(transaction, account, one, at))[0]

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


_PER_TRANSACTION: Final = 500


class ListPart(NamedTuple):
    """The part of a list that a run has read completely. None if it had no posts."""

    lowest: int | None
    highest: int | None


class Removals(TimedService):
    def __init__(self, database: Database, clock: Clock) -> None:
        super().__init__(database, clock)
        self._removed = RemovedPosts(database, clock)

    async def read_part(self, account: Account, run: IngestRun) -> ListPart | None:
        """None if the pages of the run do not prove that it has read the whole list."""
        if run.kind != "full":
            return None
        followed = _followed(await self._stores.ingest_runs.links(account.account_id, run.run_id))
        return _part(followed) if followed and followed[-1].proves_end else None

    async def note_completeness(
        self, transaction: Transaction, account: Account, run_id: str
    ) -> None:
        """A run is complete if its pages prove it, whatever the client says."""
        # To the end of the list, or to the page from which on it was known.
        library = Writable(transaction, account.account_id)
        followed = _followed(await self._stores.ingest_runs.links_within(library, run_id))
        if followed:
            highest = _part(followed).highest
            await self._stores.ingest_runs.complete(library, run_id, highest)

    async def candidates(
        self, account: Account, run: IngestRun, part: ListPart | None
    ) -> Sequence[str]:
        if part is None or part.lowest is None or part.highest is None:
            return ()
        return await self._stores.source_posts.missing(
            account.account_id, run, lowest=part.lowest, highest=part.highest
        )

    def is_held(self, account: Account, count: int) -> bool:
        """Whether so many posts are only removed if the user confirms it."""
        percent = count * 100 / max(account.total, 1)
        return count > limits.REMOVALS_MAX and percent > limits.REMOVALS_MAX_PERCENT

    async def apply(self, account: Account, run: IngestRun, post_ids: Sequence[str]) -> None:
        # Another server may have started the run, and its clock may be ahead.
        now = max(self._clock(), run.started_at)
        await self._removed.mark(account, run.user, dict.fromkeys(post_ids, now))
        for start in range(0, len(post_ids), _PER_TRANSACTION):
            part = post_ids[start : start + _PER_TRANSACTION]

            async def work(transaction: Transaction, part: Sequence[str] = part) -> None:
                await self._stores.source_posts.remove(
                    Writable(transaction, account.account_id), part, run, now
                )

            await self._database.write(work, account.account_id)


def _part(followed: Sequence[PageLink]) -> ListPart:
    lowest = min((one.lowest for one in followed if one.lowest is not None), default=None)
    highest = max((one.highest for one in followed if one.highest is not None), default=None)
    return ListPart(lowest, highest)


def _followed(links: Sequence[PageLink]) -> Sequence[PageLink]:
    """Follows the cursors from the first page to the end of the list, in whatever order they came.

    A missing page, or one that could not be read, may have had any post.
    """
    # A page that was sent again replaces the earlier one, unless it could not be read.
    by_cursor: dict[str, PageLink | None] = {}
    for link in links:
        if link.is_readable or link.cursor_in not in by_cursor:
            by_cursor[link.cursor_in] = link
    cursor, followed = "", list[PageLink]()
    while (page := by_cursor.pop(cursor, None)) is not None and page.is_readable:
        followed.append(page)
        if page.proves_end or page.is_caught_up:
            return followed
        cursor = page.cursor_out
    return ()
