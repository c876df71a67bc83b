"""Waits for conditions in another process, thread or table that has no event to wait for.

The only module that polls. Every wait has a deadline.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

T = TypeVar("T")
# A machine may be many times slower than another, and other tests use the same cores.
PATIENCE_S: Final = 90.0
_PAUSE_S: Final = 0.02


def wait_until(
    look: Callable[[], T], patience_s: float = PATIENCE_S, pause_s: float = _PAUSE_S
) -> T:
    """Calls `look` until it returns something true, and returns that.

    A longer pause leaves more of the processor to what is waited for.
    """
    deadline = time.monotonic() + patience_s
    while not (seen := look()):
        assert time.monotonic() < deadline, f"still {seen!r} after {patience_s:g} s"
        time.sleep(pause_s)
    return seen


async def until(look: Callable[[], Awaitable[T]], patience_s: float = PATIENCE_S) -> T:
    """`wait_until` for coroutines, and for conditions that tasks of this event loop change."""
    deadline = time.monotonic() + patience_s
    while not (seen := await look()):
        assert time.monotonic() < deadline, f"still {seen!r} after {patience_s:g} s"
        await asyncio.sleep(_PAUSE_S)
    return seen
