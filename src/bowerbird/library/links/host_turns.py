"""One request per second and host, over all nodes and accounts.

A host that gives no answer is left alone for a while, and longer each time.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Final

from bowerbird.clock import MICROSECONDS, Clock
from bowerbird.connections import records
from bowerbird.connections.published import Busy, Endpoint
from bowerbird.connections.records import Answer, SourceProblem
from bowerbird.model.arrival.connections import Problem
from bowerbird.model.posts.links import Reason
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.links import LinkStore

if TYPE_CHECKING:
    from bowerbird.connections.fetching import PublicFetcher

Sleep = Callable[[float], Awaitable[None]]

BETWEEN_REQUESTS: Final = MICROSECONDS
# How long a request waits for its turn.
_PATIENCE: Final = 3 * MICROSECONDS
PAUSES_S: Final = (60, 600, 3_600, 21_600)
_FORGOTTEN_AFTER: Final = 2 * 86_400 * MICROSECONDS
_BUSY: Final = frozenset({408, 425, 429})
_FIRST_ERROR_OF_SERVER: Final = 500


class NotItsTurn(Exception):  # noqa: N818 - named for what it is
    def __init__(self, next_at: int) -> None:
        super().__init__()
        self.next_at = next_at


class HostTurns:
    def __init__(self, database: Database, clock: Clock, sleep: Sleep = asyncio.sleep) -> None:
        self._database = database
        self._clock = clock
        self._sleep = sleep
        self._store = LinkStore(database)

    async def ask(
        self, account_id: int, fetcher: "PublicFetcher", endpoint: Endpoint, url: str
    ) -> Answer:
        """The answer of the host, at its turn. Raises NotItsTurn, Busy or SourceProblem."""
        host = endpoint.host
        failures = await self._take(account_id, host)
        try:
            answer = await fetcher.published(url, endpoint.redirects_to)
        except SourceProblem as found:
            if found.problem is not Problem.UNREACHABLE:
                raise
            raise await self.paused(host, failures, Reason.UNREACHABLE) from None
        if answer.status in _BUSY or answer.status >= _FIRST_ERROR_OF_SERVER:
            retry_at = 0
            if "retry-after" in answer.headers:
                retry_at = records.retry_at(answer.headers, self._clock())
            raise await self.paused(host, failures, Reason.BUSY, retry_at)
        if failures:
            await self._database.write(lambda later: self._store.host_answers(later, host))
        return answer

    async def forget(self) -> None:
        before = self._clock() - _FORGOTTEN_AFTER
        while await self._database.write(lambda later: self._store.forget_hosts(later, before)):
            continue

    async def _take(self, account_id: int, host: str) -> int:
        """Waits for the turn of the host; returns how many times in a row it gave no answer."""
        until = self._clock() + _PATIENCE
        while True:
            now = self._clock()

            async def work(transaction: Transaction, now: int = now) -> int | None:
                return await self._store.take_turn(transaction, host, now, now + BETWEEN_REQUESTS)

            failures = await self._database.write(work, account_id)
            if failures is not None:
                return failures
            next_at = await self._store.next_turn(host)
            if next_at > until:
                raise NotItsTurn(next_at)
            await self._sleep(max(next_at - now, 0) / MICROSECONDS)

    async def paused(self, host: str, failures: int, reason: Reason, retry_at: int = 0) -> Busy:
        """The host is left alone for a while, for a host that gave no answer so many times."""
        pause_s = PAUSES_S[min(failures, len(PAUSES_S) - 1)]
        next_at = max(retry_at, self._clock() + pause_s * MICROSECONDS)
        # Requests that fail at the same time count once.
        await self._database.write(
            lambda later: self._store.pause_host(later, host, next_at, failures + 1)
        )
        return Busy(reason, next_at)
