"""Stores the answers of keyed writes, in the transaction of the write itself."""

from itertools import count
from typing import Any, Final

from msgspec import Struct

from bowerbird import errors
from bowerbird.storage.database import Database, LockTimeoutError, Transaction

RETENTION_HOURS: Final = 24
# Old entries are removed a few at a time, along with new ones, so no sweep delays a request.
_SWEPT_EVERY: Final = 8
_SWEPT_AT_ONCE: Final = 20
_TRIES: Final = 3


class StoredAnswer(Struct, frozen=True):
    fingerprint: bytes
    status: int
    headers: str
    body: bytes
    created_at: int


class IdempotencyStore:
    def __init__(self, database: Database) -> None:
        self._sql = database.queries("idempotency")
        self._claims = count()

    async def claim(
        self,
        transaction: Transaction,
        account_id: int,
        key: str,
        *,
        fingerprint: bytes,
        now: int,
        oldest: int,
    ) -> StoredAnswer | None:
        """None if the key was free and is claimed now; otherwise the first request's answer."""
        values = {
            "account_id": account_id,
            "idempotency_key": key,
            "fingerprint": fingerprint,
            "body": b"",
            "created_at": now,
            "before": oldest,
        }
        await self._hold(transaction, values)
        # Retried if the existing entry is too old, or was removed between the two statements.
        for _ in range(_TRIES):
            if await transaction.rows(self._sql["claim"], values):
                if next(self._claims) % _SWEPT_EVERY == 0:
                    await self.sweep(transaction, account_id, oldest)
                return None
            rows = await transaction.rows(self._sql["kept"], values)
            if rows and rows[0][4] >= oldest:
                return StoredAnswer(*rows[0])
            await transaction.run(self._sql["forget"], values)
        raise errors.unavailable("Concurrent changes to this account conflicted; retry.", 1)

    async def keep(
        self,
        transaction: Transaction,
        account_id: int,
        key: str,
        *,
        status: int,
        headers: str,
        body: bytes,
    ) -> None:
        values = {
            "account_id": account_id,
            "idempotency_key": key,
            "status": status,
            "headers": headers,
            "body": body,
        }
        await transaction.run(self._sql["keep"], values)

    async def release(self, transaction: Transaction, account_id: int, key: str) -> None:
        """Gives the key back, because the write needs another transaction."""
        values = {"account_id": account_id, "idempotency_key": key}
        await transaction.run(self._sql["release"], values)

    async def sweep(
        self, transaction: Transaction, account_id: int, oldest: int, most: int = _SWEPT_AT_ONCE
    ) -> int:
        """Removes a few entries that are too old; returns how many."""
        values = {"account_id": account_id, "before": oldest, "most": most}
        return len(await transaction.rows(self._sql["forget_old"], values))

    async def _hold(self, transaction: Transaction, values: dict[str, Any]) -> None:
        """Waits for another transaction with the same key, as long as the database allows.

        A separate lock, because an insert may also wait for other reasons than the key.
        """
        if statement := self._sql["hold"]:
            try:
                await transaction.rows(statement, values)
            except LockTimeoutError as error:
                raise errors.Refusal(
                    errors.Code.IDEMPOTENCY_IN_PROGRESS,
                    "the first request with this key is still running.",
                    {"Retry-After": "1"},
                ) from error
