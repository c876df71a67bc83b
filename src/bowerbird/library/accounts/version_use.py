"""Records the last day on which each account called each API version.

Used to notify the remaining callers before a version ends.
"""

from bowerbird.clock import Clock, day_of
from bowerbird.library.accounts.uses import Uses
from bowerbird.storage.accounts.version_use import VersionUseStore


class VersionUse(Uses[tuple[int, str]]):
    def __init__(self, store: VersionUseStore, clock: Clock) -> None:
        super().__init__("version uses", store.put)
        self._clock = clock

    def note_call(self, account_id: int, version: str) -> None:
        self.note((account_id, version), day_of(self._clock()))
