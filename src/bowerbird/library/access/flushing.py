"""Writes what a process has collected in memory, regularly and once more at its end."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

import structlog

from bowerbird.errors import Refusal


class Flushing:
    """`what` names the things for the log, and `waiting` says how many are not written yet."""

    def __init__(
        self,
        what: str,
        flush: Callable[[], Awaitable[None]],
        waiting: Callable[[], int],
        every_s: float,
    ) -> None:
        self._what = what
        self._flush = flush
        self._waiting = waiting
        self._every_s = every_s
        self._wake = asyncio.Event()
        self._is_stopping = False
        self._is_failing = False
        self._log = structlog.get_logger()

    async def run(self) -> None:
        """Runs until `stop`, then writes what is left and ends."""
        while not self._is_stopping:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._wake.wait(), self._every_s)
            self._wake.clear()
            await self._try()

    def hurry(self) -> None:
        """Does not wait for the next time."""
        self._wake.set()

    def stop(self) -> None:
        """Does not cancel the task: that would lose a write in progress, or repeat it."""
        self._is_stopping = True
        self._wake.set()

    async def _try(self) -> None:
        try:
            await self._flush()
            self._is_failing = False
        except Refusal as refused:
            # One line when it begins: the flush is retried again and again.
            if not self._is_failing:
                self._log.warning(
                    f"{self._what} not written", reason=refused.sentence, waiting=self._waiting()
                )
            self._is_failing = True
        except Exception:  # noqa: BLE001 - the next flush tries again
            self._log.exception(f"{self._what} not written", waiting=self._waiting())
