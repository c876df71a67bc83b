"""When keys, versions and sessions were last used: noted in memory, written every few seconds.

A crash loses at most five seconds of uses.
"""

from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from typing import Final, Generic, TypeVar

from bowerbird.clock import Clock, day_of
from bowerbird.library.access.activity import Flushing
from bowerbird.model.keys import ParsedKey
from bowerbird.storage.accounts.credentials import KeyStore
from bowerbird.storage.accounts.sunset_notices import VersionUseStore

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


class KeyUse(Uses[tuple[int, bytes]]):
    def __init__(self, store: KeyStore, clock: Clock) -> None:
        super().__init__("key uses", store.put_uses)
        self._clock = clock

    def note_call(self, key: ParsedKey) -> None:
        self.note((key.account_id, key.key_hash), day_of(self._clock()))


CALLED_DAYS: Final = 90


class VersionUse(Uses[tuple[int, str]]):
    def __init__(self, store: VersionUseStore, clock: Clock) -> None:
        super().__init__("version uses", store.put)
        self._store = store
        self._clock = clock

    async def recent(self, account_id: int) -> Sequence[str]:
        """The versions that the account called recently, as far as uses are written."""
        return await self._store.versions(account_id, day_of(self._clock()) - CALLED_DAYS)

    def note_call(self, account_id: int, version: str) -> None:
        self.note((account_id, version), day_of(self._clock()))
