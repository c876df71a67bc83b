"""When something was last used, collected in memory and written every few seconds.

A crash loses at most five seconds of uses.
"""

from collections.abc import Awaitable, Callable, Hashable, Mapping
from typing import Final, Generic, TypeVar

from bowerbird.library.access.flushing import Flushing

K = TypeVar("K", bound=Hashable)

_FLUSH_S: Final = 5.0
# Above this the memory is cleared. Then some uses are written twice, which is harmless.
_MAX_RECORDED: Final = 100_000


class Uses(Generic[K]):
    """`write` stores what was used and when, as a day or a time. A later use wins."""

    def __init__(self, name: str, write: Callable[[Mapping[K, int]], Awaitable[None]]) -> None:
        self._write = write
        self._recorded: dict[K, int] = {}
        self._unwritten: dict[K, int] = {}
        self.flushing = Flushing(name, self.flush, lambda: len(self._unwritten), _FLUSH_S)

    def note(self, used: K, when: int) -> None:
        if self._recorded.get(used) == when:
            return
        if len(self._recorded) >= _MAX_RECORDED:
            self._recorded.clear()
        self._recorded[used] = self._unwritten[used] = when

    async def flush(self) -> None:
        uses, self._unwritten = self._unwritten, {}
        if not uses:
            return
        try:
            await self._write(uses)
        except Exception:
            # Uses recorded since then are newer and win.
            self._unwritten = uses | self._unwritten
            raise
