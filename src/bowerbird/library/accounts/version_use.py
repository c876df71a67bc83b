"""Records the last day on which each account called each API version.

Used to notify the remaining callers before a version ends.
"""

from collections.abc import Sequence
from typing import Final

from bowerbird.clock import Clock, day_of
from bowerbird.library.accounts.uses import Uses
from bowerbird.storage.accounts.version_use import VersionUseStore

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
