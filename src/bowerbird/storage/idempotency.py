"""Keeps the answers of keyed writes. Runs inside the transaction of the write itself."""

from itertools import count
from typing import Any, Final

from msgspec import Struct

from bowerbird import errors
from bowerbird.storage.database import Database, Transaction

KEPT_HOURS: Final = 24
WAIT_LIMIT_S: Final = 5.0
# Old entries go a few at a time, along with new ones: no sweep ever holds anybody up.
_SWEPT_EVERY: Final = 8
_SWEPT_AT_ONCE: Final = 20
_TRIES: Final = 3


class Kept(Struct, frozen=True):
    fingerprint: bytes
    status: int
    headers: str
    body: bytes
    created_at: int


class IdempotencyStore:
    def __init__(self, database: Database, wait_limit_s: float = WAIT_LIMIT_S) -> None:
        """`wait_limit_s` bounds the wait for the first request with the same key."""
        self._sql = database.queries("idempotency")
        self._wait_limit_ms = round(wait_limit_s * 1000)
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
    ) -> Kept | None:
        """None when the key is free and now ours; else what the first request left."""
        values = {
            "account_id": account_id,
            "idempotency_key": key,
            "fingerprint": fingerprint,
            "body": b"",
            "created_at": now,
            "before": oldest,
        }
        # Again where what stood in the way is too old, or was removed between two statements.
        for _ in range(_TRIES):
            if await self._insert(transaction, values):
                if next(self._claims) % _SWEPT_EVERY == 0:
                    await self.sweep(transaction, account_id, oldest)
                return None
            rows = await transaction.rows(self._sql["kept"], values)
            if rows and rows[0][4] >= oldest:
                return Kept(*rows[0])
            await transaction.run(self._sql["forget"], values)
        raise errors.unavailable("The account is being changed; try again.", 1)

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

    async def sweep(
        self, transaction: Transaction, account_id: int, oldest: int, most: int = _SWEPT_AT_ONCE
    ) -> int:
        """Removes a few entries that are too old; tells how many."""
        values = {"account_id": account_id, "before": oldest, "most": most}
        return len(await transaction.rows(self._sql["forget_old"], values))

    async def _insert(self, transaction: Transaction, values: dict[str, Any]) -> bool:
        await self._bound_wait(transaction, self._wait_limit_ms)
        claimed = await transaction.rows(self._sql["claim"], values)
        await self._bound_wait(transaction, 0)
        return bool(claimed)

    async def _bound_wait(self, transaction: Transaction, limit_ms: int) -> None:
        if statement := self._sql["bound_wait"]:
            await transaction.rows(statement, {"limit_ms": str(limit_ms)})
