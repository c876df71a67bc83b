"""Slow reads of a SQLite file: a few threads, shared fairly between accounts.

Each running read has its own connection.
"""

import asyncio
import functools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, TypeVar

import apsw

from bowerbird import errors
from bowerbird.storage.fair_queue import IN_BACKGROUND, Bounds, FairQueue, Owner
from bowerbird.storage.sqlite.writer import translated

T = TypeVar("T")

SLOW_READ_LIMIT_S: Final = 30.0
# One account uses at most two of them at the same time, so that two cores are kept busy by one
# account and the third thread is free for every other account.
_THREADS: Final = 3
_THREADS_PER_ACCOUNT: Final = _THREADS - 1
_INTERRUPT_S: Final = 0.05


class SlowReaders:
    def __init__(self, connect: Callable[[], apsw.Connection], limit_s: float) -> None:
        """A read that takes longer than `limit_s` is stopped."""
        self.connections = tuple(connect() for _ in range(_THREADS))
        self._idle = list(self.connections)
        self._limit_s = limit_s
        self._queue = FairQueue("database reader", _THREADS, _THREADS_PER_ACCOUNT, Bounds())
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="sqlite-reader")

    async def run(self, owner: Owner, work: Callable[[apsw.Connection], T]) -> T:
        """Runs `work` on a thread, when it is the turn of the account that owns the read."""
        await self._queue.acquire(owner, in_background=IN_BACKGROUND.get())
        connection = self._idle.pop()
        reading = asyncio.get_running_loop().run_in_executor(self._threads, work, connection)
        reading.add_done_callback(functools.partial(self._give_back, owner, connection))
        try:
            await asyncio.wait((reading,), timeout=self._limit_s)
        finally:
            self._interrupt(connection, reading)
        if not reading.done():
            raise errors.unavailable("The read took too long and was stopped.")
        try:
            return reading.result()
        except apsw.InterruptError as error:
            raise errors.stopping() from error
        except apsw.Error as error:
            raise translated(error) from error

    async def close(self) -> None:
        self._queue.close()
        ending = asyncio.create_task(asyncio.to_thread(self._threads.shutdown))
        while not ending.done():
            for connection in self.connections:
                connection.interrupt()
            await asyncio.wait([ending], timeout=_INTERRUPT_S)
        for connection in self.connections:
            connection.close()

    def _give_back(
        self, owner: Owner, connection: apsw.Connection, reading: asyncio.Future[Any]
    ) -> None:
        """Runs when the thread has ended its read, whether or not a caller still waits for it."""
        self._idle.append(connection)
        self._queue.release(owner)
        # Retrieve the exception; asyncio warns otherwise.
        reading.exception()

    def _interrupt(self, connection: apsw.Connection, reading: asyncio.Future[Any]) -> None:
        """Interrupts until the thread has ended: an interrupt before its statement starts is lost.

        By timer and not in the caller's task, which may be cancelled a second time.
        """
        if not reading.done():
            connection.interrupt()
            loop = asyncio.get_running_loop()
            loop.call_later(_INTERRUPT_S, self._interrupt, connection, reading)
