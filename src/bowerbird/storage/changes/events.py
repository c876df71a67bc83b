"""Reads the events of a library, and removes old ones. `LibraryStore` adds them."""

from itertools import takewhile
from typing import NamedTuple

from bowerbird.model import events
from bowerbird.model.events import Happening
from bowerbird.storage.database import Reader, Store, Transaction


class Logged(NamedTuple):
    """A change of the library. Its events have the numbers after `last - size`, up to `last`."""

    last: int
    size: int
    at: int
    happened: list[Happening]


class Kept(NamedTuple):
    """The number of the last event of a library, and of the last one that was removed."""

    last: int
    removed: int


class EventStore(Store):
    resource = "events"

    async def after(self, account_id: int, number: int, limit: int) -> tuple[list[Logged], bool]:
        """Changes with at least this many later events, if there are, and whether more follow.

        A change can have thousands of events, so their sizes are read first.
        """
        values = {"account_id": account_id, "after": number, "limit": limit + 1}
        sizes = await self._database.rows(self._sql["sizes"], values)
        found = [last for last, size in sizes if last - size < number + limit]
        if not found:
            return [], False
        values = {"account_id": account_id, "after": number, "until": found[-1]}
        rows = await self._database.rows(self._sql["between"], values)
        logged = [Logged(last, size, at, events.decode(body)) for last, size, at, body in rows]
        return logged, len(found) < len(sizes) or found[-1] > number + limit

    async def kept(self, reader: Reader, account_id: int) -> Kept | None:
        """None if the account no longer exists."""
        rows = await reader.rows(self._sql["kept"], {"account_id": account_id})
        return Kept(*rows[0]) if rows else None

    async def posts_after(self, account_id: int, number: int, limit: int) -> dict[int, str]:
        """The next posts of the library in the order of their numbers, by these."""
        rows = await self._read("posts_after", account_id=account_id, after=number, limit=limit)
        return {row[0]: row[1] for row in rows}

    async def sweep(
        self, transaction: Transaction, account_id: int, *, before: int, kept: int, most: int
    ) -> int:
        """Removes some of the oldest changes: before a time, or beyond a number of events."""
        state = await self.kept(transaction, account_id)
        if state is None:
            return 0
        values = {"account_id": account_id, "limit": most}
        oldest = await transaction.rows(self._sql["oldest"], values)
        # Always the oldest, even if a clock was wrong: nothing is missing in between.
        old = [*takewhile(lambda row: row[1] < before or row[0] <= state.last - kept, oldest)]
        if old:
            values = {"account_id": account_id, "last": old[-1][0]}
            await transaction.run(self._sql["remove_up_to"], values)
        return len(old)
