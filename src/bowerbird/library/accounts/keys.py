"""Creates, lists and revokes the API keys of an account."""

from collections.abc import Sequence
from typing import NamedTuple

from bowerbird.clock import Clock
from bowerbird.errors import Code, Refusal
from bowerbird.library.access.activity import Activity
from bowerbird.library.accounts import tokens
from bowerbird.model.accounts import ActivityKind, Key
from bowerbird.model.keys import PREFIX, key_hash, new_key, shown_part
from bowerbird.requests import limits
from bowerbird.storage.accounts.keys import KeyStore
from bowerbird.storage.database import Database


class NoLiveKey(tokens.NotLive):
    """The account has no such key, or the key was revoked."""


class NewKey(NamedTuple):
    # Cannot be shown again: only its hash is stored.
    text: str
    key: Key


class Keys:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._store = KeyStore(database)
        self._activity = Activity(database, clock)
        self._clock = clock

    async def create(self, account_id: int, name: str) -> NewKey:
        name = tokens.checked_name("key", name)
        text = new_key(account_id)
        key = Key(tokens.new_id(), name, self._clock(), None, shown_part(text))
        entry = self._activity.entry(ActivityKind.KEY_CREATED, name)
        most = limits.KEYS_MAX
        if not await self._store.create(account_id, key, key_hash(text), entry, most=most):
            raise Refusal(
                Code.INVALID_REQUEST,
                f"The account has {most} keys, the maximum. Revoke one that is not used.",
            )
        return NewKey(text, key)

    async def all(self, account_id: int) -> Sequence[Key]:
        return await self._store.all(account_id)

    async def count_live(self, account_id: int) -> int:
        return await self._store.count_live(account_id)

    async def revoke(self, account_id: int, key: str) -> str:
        """Revokes a key by its text or id from the next request on; returns its id."""
        entry = self._activity.entry(ActivityKind.KEY_REVOKED)
        return await tokens.revoke(
            "key",
            PREFIX,
            key,
            NoLiveKey,
            lambda text, hashed: self._store.revoke(
                account_id, text, hashed, self._clock(), entry, kept=limits.REVOKED_KEYS_MAX
            ),
        )
