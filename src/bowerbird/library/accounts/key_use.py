"""Records the last day on which each API key was used."""

from bowerbird.clock import Clock, day_of
from bowerbird.library.accounts.uses import Uses
from bowerbird.model.keys import ParsedKey
from bowerbird.storage.accounts.keys import KeyStore


class KeyUse(Uses[tuple[int, bytes]]):
    def __init__(self, store: KeyStore, clock: Clock) -> None:
        super().__init__("key uses", store.put_uses)
        self._clock = clock

    def note_call(self, key: ParsedKey) -> None:
        self.note((key.account_id, key.key_hash), day_of(self._clock()))
