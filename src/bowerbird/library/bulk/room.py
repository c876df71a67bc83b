"""Bounds what changes of many posts keep: open changes, kept changes, and kept posts per account.

A change beyond a bound is not refused: the oldest finished one can no longer be undone, and what is
kept of it is removed, some rows per turn and at least as many as the turn adds.
"""

from typing import Final

from bowerbird.clock import Clock
from bowerbird.errors import Code, Refusal
from bowerbird.requests import limits
from bowerbird.storage.bulk import BulkStore
from bowerbird.storage.database import Database, Transaction

_WAIT_S: Final = 10
_REMOVED_PER_TURN: Final = 500


class BulkRoom:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._store = BulkStore(database)
        self._clock = clock

    async def number(self, transaction: Transaction, account_id: int) -> int:
        """The number of a new change. Refused while too many are unfinished."""
        unfinished = await self._store.count_unfinished(transaction, account_id)
        if unfinished >= limits.UNFINISHED_CHANGES_MAX:
            raise Refusal(
                Code.RATE_LIMITED,
                f"This account has {unfinished} unfinished changes. Wait until some have finished.",
                {"Retry-After": str(_WAIT_S)},
            )
        return await self._store.next_number(transaction, account_id)

    async def make(self, transaction: Transaction, account_id: int) -> None:
        """Removes some of what is kept beyond the bounds. Call it in each turn of a change."""
        finished = await self._store.finished(transaction, account_id)
        posts = await self._store.kept_posts(transaction, account_id)
        now, extra = self._clock(), len(finished) - limits.KEPT_CHANGES_MAX
        for one in finished:
            is_over = extra > 0 or posts > limits.KEPT_CHANGED_POSTS_MAX
            if not is_over and one.undo_until >= now:
                continue
            if one.undo_until >= now:
                await self._store.expire(transaction, account_id, one.number)
            await self._store.remove_first(transaction, account_id, one.number, _REMOVED_PER_TURN)
            # The others wait for the next turn, so that this one stays short.
            return
