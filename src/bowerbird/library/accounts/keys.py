"""The API keys of an account."""

from bowerbird.clock import Clock
from bowerbird.library.accounts.tokens import Kind, New, NotLive, Tokens
from bowerbird.model.accounts import ActivityKind, Key
from bowerbird.model.keys import PREFIX, shown_part
from bowerbird.requests import limits
from bowerbird.storage.accounts.keys import KeyStore
from bowerbird.storage.database import Database


class NoLiveKey(NotLive):
    """The account has no such key, or the key was revoked."""


class Keys(Tokens[Key]):
    kind = Kind(
        "key",
        PREFIX,
        ActivityKind.KEY_CREATED,
        ActivityKind.KEY_REVOKED,
        NoLiveKey,
    )

    def __init__(self, database: Database, clock: Clock) -> None:
        self._store = KeyStore(database)
        super().__init__(database, clock, self._store)

    def _bounds(self) -> tuple[int, int]:
        return limits.KEYS_MAX, limits.REVOKED_KEYS_MAX

    def _record(self, id: str, name: str, text: str) -> Key:
        return Key(id, name, self._clock(), None, shown_part(text))

    async def create(self, account_id: int, name: str) -> New[Key]:
        return await self.issue(account_id, name)

    async def count_live(self, account_id: int) -> int:
        return await self._store.count_live(account_id)
