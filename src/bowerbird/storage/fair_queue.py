"""A queue in front of slow reads that shares a few slots fairly between accounts.

Accounts take turns, so an account with a hundred requests waits no less per request than an
account with one. An account may use only some of the slots at the same time, even if no
other account waits: a read holds its slot for seconds, and the next account may arrive a moment
later. Waiting is bounded in number and in time; a request beyond that is refused with 503.

A read of a background job goes first among those of its account, and waits as long as it takes: a
worker runs few jobs, and an export must not fail because its account also sends many requests. So
does a write that continues another one, which would be left half made otherwise, and a request
that had a turn before.
"""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import Final

from msgspec import Struct

from bowerbird import errors

_RETRY_AFTER_S: Final = 2

# Set in the task of a background job, and so in everything it awaits.
IN_BACKGROUND: Final[ContextVar[bool]] = ContextVar("in_background", default=False)
# Called with each slot that the task gets: a limit for the read itself starts then, not before.
ON_SLOT: Final[ContextVar[Callable[[], None] | None]] = ContextVar("on_slot", default=None)
# None is the service itself: reads that belong to no account.
Owner = int | None
_Waiters = dict[asyncio.Future[None], None]


class Bounds(Struct, frozen=True):
    """How many requests may wait per account and in total, and for how long.

    With `total` waiting, only accounts that already wait are refused, so that a few busy accounts
    do not close the queue for the others. `at_most` is for all.
    """

    per_account: int = 100
    total: int = 1_000
    wait_s: float = 10.0
    at_most: int = 10_000


class FairQueue:
    """Used on one event loop."""

    def __init__(
        self,
        resource: str,
        slots: int,
        per_account: int,
        bounds: Bounds,
        for_service: int | None = None,
    ) -> None:
        """`resource` names a slot in refusals, such as "database reader".

        `for_service` is how many slots the service itself may use; by default as an account.
        """
        self._resource = resource
        self._free = slots
        self._per_account = per_account
        self._for_service = per_account if for_service is None else for_service
        self._bounds = bounds
        self._used: dict[Owner, int] = {}
        # The accounts in the order of their turns, each with its waiters.
        self._waiting: OrderedDict[Owner, _Waiters] = OrderedDict()
        self._count = 0
        self._is_closed = False

    @asynccontextmanager
    async def slot(
        self, owner: Owner, wait_s: float | None = None, *, in_background: bool = False
    ) -> AsyncIterator[None]:
        await self.acquire(owner, wait_s, in_background=in_background)
        try:
            yield
        finally:
            self.release(owner)

    async def acquire(
        self, owner: Owner, wait_s: float | None = None, *, in_background: bool = False
    ) -> None:
        """`wait_s` is the caller's remaining time; by default the maximum of the bounds."""
        if self._is_closed:
            raise errors.stopping()
        if self._may_take(owner):
            self._take(owner)
        elif in_background:
            await self._wait(owner, None)
        else:
            self._require_room(owner)
            await self._wait(owner, self._bounds.wait_s if wait_s is None else wait_s)
        if (on_slot := ON_SLOT.get()) is not None:
            on_slot()

    def release(self, owner: Owner) -> None:
        self._free += 1
        self._used[owner] -= 1
        if not self._used[owner]:
            del self._used[owner]
        self._grant_next()

    def close(self) -> None:
        """Refuses every waiter and every later request; slots in use are not affected."""
        self._is_closed = True
        for waiters in self._waiting.values():
            for waiter in waiters:
                if not waiter.done():
                    waiter.set_exception(errors.stopping())

    def _may_take(self, owner: Owner) -> bool:
        most = self._for_service if owner is None else self._per_account
        return self._free > 0 and self._used.get(owner, 0) < most

    def _take(self, owner: Owner) -> None:
        self._free -= 1
        self._used[owner] = self._used.get(owner, 0) + 1

    async def _wait(self, owner: Owner, wait_s: float | None) -> None:
        """Without a limit, as the first of its account, if `wait_s` is None."""
        loop = asyncio.get_running_loop()
        waiter = loop.create_future()
        waiters = self._waiting.setdefault(owner, {})
        if wait_s is None:
            self._waiting[owner] = {waiter: None, **waiters}
        else:
            waiters[waiter] = None
        self._count += 1
        expiry = None if wait_s is None else loop.call_later(wait_s, self._expire, waiter)
        try:
            await waiter
        except asyncio.CancelledError:
            if not waiter.cancelled() and waiter.exception() is None:
                # The slot was granted, and the request cancelled before it ran again.
                self.release(owner)
            raise
        finally:
            if expiry is not None:
                expiry.cancel()
            self._count -= 1
            self._forget(owner, waiter)

    def _require_room(self, owner: Owner) -> None:
        own = len(self._waiting.get(owner, ()))
        if own >= self._bounds.per_account:
            raise self._refusal(
                f"Too many requests of this account wait for a {self._resource}; retry later."
            )
        if self._count >= (self._bounds.total if own else self._bounds.at_most):
            raise self._refusal(f"Too many requests wait for a {self._resource}; retry later.")

    def _expire(self, waiter: asyncio.Future[None]) -> None:
        if not waiter.done():
            waiter.set_exception(
                self._refusal(f"No {self._resource} became free in time; retry later.")
            )

    def _refusal(self, sentence: str) -> errors.Refusal:
        return errors.TooManyWaiting(sentence, _RETRY_AFTER_S)

    def _grant_next(self) -> None:
        """Grants one slot; a release never makes room for two.

        Skips accounts at their limit. There are never more of them than slots.
        """
        for owner, waiters in self._waiting.items():
            if not self._may_take(owner):
                continue
            waiter = next((waiter for waiter in waiters if not waiter.done()), None)
            if waiter is None:
                continue
            self._take(owner)
            waiter.set_result(None)
            self._waiting.move_to_end(owner)
            self._forget(owner, waiter)
            return

    def _forget(self, owner: Owner, waiter: asyncio.Future[None]) -> None:
        waiters = self._waiting.get(owner, {})
        waiters.pop(waiter, None)
        if not waiters:
            self._waiting.pop(owner, None)
