"""Finds posts that are not saved at their source any more, and records it.

Only a full run that read the whole list proves anything.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from bowerbird.clock import Clock
from bowerbird.library.ingest.removed_posts import RemovedPosts
from bowerbird.model.accounts import Account
from bowerbird.model.ingest import IngestRun, PageLink
from bowerbird.requests import limits
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.ingest.runs import IngestRunStore
from bowerbird.storage.ingest.source_posts import SourcePostStore

_PER_TRANSACTION: Final = 500


class ListPart(NamedTuple):
    """The part of a list that a run has read completely. None if it had no posts."""

    lowest: int | None
    highest: int | None


class Removals:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._runs = IngestRunStore(database)
        self._posts = SourcePostStore(database)
        self._removed = RemovedPosts(database, clock)
        self._clock = clock

    async def read_part(self, account: Account, run: IngestRun) -> ListPart | None:
        """None if the pages of the run do not prove that it has read the whole list."""
        if run.kind != "full":
            return None
        return proven_part(await self._runs.links(account.account_id, run.run_id))

    async def note_completeness(
        self, transaction: Transaction, account: Account, run_id: str
    ) -> None:
        """A run is complete if its pages prove it, whatever the client says."""
        links = await self._runs.links_within(transaction, account.account_id, run_id)
        part = read_part(links)
        if part is not None:
            await self._runs.complete(transaction, account.account_id, run_id, part.highest)

    async def candidates(
        self, account: Account, run: IngestRun, part: ListPart | None
    ) -> Sequence[str]:
        if part is None or part.lowest is None or part.highest is None:
            return ()
        return await self._posts.missing(
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
                await self._posts.remove(transaction, account.account_id, part, run, now)

            await self._database.write(work, account.account_id)


def proven_part(links: Sequence[PageLink]) -> ListPart | None:
    """The whole list, if the pages reach its end without a gap."""
    followed = _followed(links)
    return _part(followed) if followed and followed[-1].proves_end else None


def read_part(links: Sequence[PageLink]) -> ListPart | None:
    """The list to its end, or to the page from which on it was known; None if there is a gap."""
    followed = _followed(links)
    return _part(followed) if followed else None


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
