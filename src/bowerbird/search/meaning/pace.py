"""Makes embedding posts wait while the process serves requests.

This is in addition to the low priority of its thread, which only decides between threads that wait
for a core.
"""

import threading
import time
from collections.abc import Callable
from typing import Final

# From this share of a core on, the process is busy with something else.
_BUSY: Final = 0.15
# With 10 for a whole core, embedding works for an eleventh of the time while requests keep a core
# busy, and for a third while they need a fifth of it.
_REST_PER_WORK: Final = 10.0
_MAX_REST_S: Final = 3.0


class Pace:
    """Used by one thread. Setting the event ends a rest."""

    def __init__(self, closing: threading.Event, others: Callable[[], float] | None = None) -> None:
        """`others` returns the CPU time that other threads have used."""
        self._closing = closing
        self._cpu_of_others = others or cpu_of_others
        self._last = self._rested_until = time.perf_counter()
        self._others = self._cpu_of_others()

    def rest(self) -> None:
        """Called between two pieces of work."""
        now, others = time.perf_counter(), self._cpu_of_others()
        elapsed = now - self._last
        share = (others - self._others) / elapsed if elapsed > 0 else 0.0
        if share > _BUSY:
            worked = now - self._rested_until
            self._closing.wait(min(worked * _REST_PER_WORK * min(share, 1.0), _MAX_REST_S))
        # The rest itself belongs to the next measurement: requests are served during it.
        self._last, self._others = now, others
        self._rested_until = time.perf_counter()


def cpu_of_others() -> float:
    """The CPU time of the other threads of this process, in seconds."""
    return time.process_time() - time.thread_time()
