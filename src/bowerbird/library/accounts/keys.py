"""Creates, lists and revokes the API keys of an account."""

import secrets
from collections.abc import Sequence
from typing import Final

from bowerbird.clock import Clock
from bowerbird.errors import Code, Refusal, shown
from bowerbird.model.accounts import Key
from bowerbird.model.keys import PREFIX, key_hash, new_key
from bowerbird.storage.accounts.keys import KeyStore
from bowerbird.storage.database import Database

_MAX_NAME_LENGTH: Final = 100


class NoLiveKey(Refusal):
    """The account has no such key, or the key was revoked."""


class Keys:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._store = KeyStore(database)
        self._clock = clock

    async def create(self, account_id: int, name: str) -> str:
        """Returns the new key. It cannot be shown again: only its hash is stored."""
        name = " ".join(name.split())
        if len(name) > _MAX_NAME_LENGTH or not name.isprintable():
            raise Refusal(
                Code.INVALID_REQUEST,
                f"A key name can have at most {_MAX_NAME_LENGTH} printable characters.",
            )
        text = new_key(account_id)
        key = Key(secrets.token_hex(4), name, self._clock(), None)
        await self._store.create(account_id, key, key_hash(text))
        return text

    async def all(self, account_id: int) -> Sequence[Key]:
        return await self._store.all(account_id)

    async def revoke(self, account_id: int, key: str) -> str:
        """Revokes a key by its text or id from the next request on; returns its id."""
        key = key.strip()
        revoked = None
        # Keys and ids are printable ASCII. PostgreSQL rejects some other characters.
        if key.isascii() and key.isprintable():
            revoked = await self._store.revoke(account_id, key, key_hash(key), self._clock())
        if revoked is None:
            # The error does not repeat the key: it may be valid for another account.
            named = "That key" if key.startswith(PREFIX) else f"Key {shown(key)}"
            raise NoLiveKey(Code.NOT_FOUND, f"{named} is not an active key of this account.")
        return revoked
