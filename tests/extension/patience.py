"""Waits for browsers and servers, and leaves them the processor while it waits."""

from collections.abc import Callable
from typing import Final, TypeVar

from tests.support import waiting

T = TypeVar("T")
# A browser on a busy machine takes its time. A test that passes never waits so long.
PATIENCE_S: Final = 180.0
# Each look takes some milliseconds of several processes.
_PAUSE_S: Final = 0.1


def wait_until(look: Callable[[], T], patience_s: float = PATIENCE_S) -> T:
    """Calls `look` until it returns something true, and returns that."""
    return waiting.wait_until(look, patience_s, _PAUSE_S)
