"""Keeps the answers of keyed writes. Runs inside the transaction of the write itself."""

from typing import Final

from msgspec import Struct

from bowerbird.storage.database import Database, Transaction

# Old entries go a few at a time, along with new ones: no sweep ever holds anybody up.
_SWEPT_AT_ONCE: Final = 20


class Kept(Struct, frozen=True):
    fingerprint: bytes
    status: int
    headers: str
    body: bytes
    created_at: int


class IdempotencyStore:
    def __init__(self, database: Database) -> None:
        self._sql = database.queries("idempotency")

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
        }
        await self.sweep(transaction, account_id, oldest)
        await transaction.run(self._sql["bound_wait"], {})
        claimed = await transaction.rows(self._sql["claim"], values)
        await transaction.run(self._sql["unbound_wait"], {})
        if claimed:
            return None
        kept = Kept(*(await transaction.rows(self._sql["kept"], values))[0])
        if kept.created_at >= oldest:
            return kept
        await transaction.run(self._sql["forget"], values)
        await transaction.rows(self._sql["claim"], values)
        return None

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

    async def sweep(self, transaction: Transaction, account_id: int, oldest: int) -> int:
        """Removes a few entries that are too old; tells how many."""
        values = {"account_id": account_id, "before": oldest, "most": _SWEPT_AT_ONCE}
        return len(await transaction.rows(self._sql["forget_old"], values))
