"""Creates, lists and revokes the API keys of an account."""

from collections.abc import Sequence

from bowerbird.clock import Clock
from bowerbird.library.accounts import tokens
from bowerbird.model.accounts import Key
from bowerbird.model.keys import PREFIX, key_hash, new_key
from bowerbird.storage.accounts.keys import KeyStore
from bowerbird.storage.database import Database


class NoLiveKey(tokens.NotLive):
    """The account has no such key, or the key was revoked."""


class Keys:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._store = KeyStore(database)
        self._clock = clock

    async def create(self, account_id: int, name: str) -> str:
        """Returns the new key. It cannot be shown again: only its hash is stored."""
        name = tokens.checked_name("key", name)
        text = new_key(account_id)
        key = Key(tokens.new_id(), name, self._clock(), None)
        await self._store.create(account_id, key, key_hash(text))
        return text

    async def all(self, account_id: int) -> Sequence[Key]:
        return await self._store.all(account_id)

    async def revoke(self, account_id: int, key: str) -> str:
        """Revokes a key by its text or id from the next request on; returns its id."""
        return await tokens.revoke(
            "key",
            PREFIX,
            key,
            NoLiveKey,
            lambda text, hashed: self._store.revoke(account_id, text, hashed, self._clock()),
        )
