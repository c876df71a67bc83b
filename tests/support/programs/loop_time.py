"""How long a call occupies the event loop, in processor time."""

import time
from collections.abc import Awaitable, Callable

# Collecting garbage of other tests may fall into one call, but not into every one.
_CALLS = 10


async def least_loop_time(call: Callable[[], Awaitable[object]]) -> float:
    """Seconds of processor time in the thread of the event loop, of the quickest call."""
    took = []
    for _ in range(_CALLS):
        started = time.thread_time()
        await call()
        took.append(time.thread_time() - started)
    return min(took)
