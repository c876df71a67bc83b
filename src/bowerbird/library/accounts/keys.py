"""What an account's owner may do with its API keys: make, list and revoke them."""

import secrets
from collections.abc import Sequence
from typing import Final

from bowerbird.clock import Clock
from bowerbird.errors import Code, Refusal, shown
from bowerbird.model.accounts import Key
from bowerbird.model.keys import PREFIX, key_hash, new_key
from bowerbird.storage.accounts.keys import KeyStore
from bowerbird.storage.database import Database

_LONGEST_NAME: Final = 100


class NoLiveKey(Refusal):
    """The account has no such key, or it was revoked."""


class Keys:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._store = KeyStore(database)
        self._clock = clock

    async def create(self, account_id: int, name: str) -> str:
        """The text of the new key, which can never be shown again: only its hash is kept."""
        name = " ".join(name.split())
        if len(name) > _LONGEST_NAME or not name.isprintable():
            raise Refusal(
                Code.INVALID_REQUEST,
                f"A key's name has at most {_LONGEST_NAME} printable characters.",
            )
        text = new_key(account_id)
        key = Key(secrets.token_hex(4), name, self._clock(), None)
        await self._store.create(account_id, key, key_hash(text))
        return text

    async def all(self, account_id: int) -> Sequence[Key]:
        return await self._store.all(account_id)

    async def revoke(self, account_id: int, key: str) -> str:
        """Takes the key's text or its id; returns the id. Holds from the next request on."""
        key = key.strip()
        revoked = None
        # Keys and ids are ASCII; any other text names none, and some of it no database would take.
        if key.isascii() and key.isprintable():
            revoked = await self._store.revoke(account_id, key, key_hash(key), self._clock())
        if revoked is None:
            # The text of a key is not repeated: it may work on another account.
            named = "That key" if key.startswith(PREFIX) else f"Key {shown(key)}"
            raise NoLiveKey(Code.NOT_FOUND, f"{named} is no live key of this account.")
        return revoked
