"""Reads the order of a library in the background, before a search for a common word needs it."""

import asyncio
from collections.abc import Awaitable, Callable
from contextvars import Context
from typing import Final

from bowerbird.errors import Refusal
from bowerbird.lru import LruCache
from bowerbird.model.accounts import Account
from bowerbird.storage.database import WordSearch

# The order of a smaller library is read in a millisecond.
_FEWEST_POSTS: Final = 5_000
# The search that comes before it has answered by then.
_DELAY_S: Final = 0.05
_KNOWN_ACCOUNTS: Final = 1_024


class OrderAhead:
    """One read at a time, and one per account until it is forgotten: not one per change."""

    def __init__(self, read: Callable[[Account, WordSearch], Awaitable[None]]) -> None:
        self._read = read
        self._known = LruCache(_KNOWN_ACCOUNTS)
        self._reading: asyncio.Task[None] | None = None
        # Of the account and the flags that are being read.
        self._key: tuple[int, str] | None = None

    def after(self, account: Account, search: WordSearch) -> None:
        """Called after a search that did without the order."""
        if account.total <= _FEWEST_POSTS or self._reading is not None:
            return
        if self._known.get(account.account_id):
            return
        self._known.put(account.account_id, True)  # noqa: FBT003 - the value of a set
        # Without the context of the request, which has its own limits.
        self._reading = asyncio.create_task(self._run(account, search), context=Context())

    def reads(self, account: Account, search: WordSearch) -> bool:
        """Whether it is reading the order that a search may need."""
        return self._key == (account.account_id, search.flags)

    async def ended(self) -> None:
        """Waits for the current read."""
        if self._reading is not None:
            await asyncio.wait([self._reading])

    async def close(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.wait([self._reading])

    async def _run(self, account: Account, search: WordSearch) -> None:
        try:
            await asyncio.sleep(_DELAY_S)
            self._key = (account.account_id, search.flags)
            await self._read(account, search)
        except Refusal:
            # The readers are busy, or the server stops. The search that needs the order reads it.
            pass
        finally:
            self._reading = self._key = None
