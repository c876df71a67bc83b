"""Attempts to sign in that have succeeded, until they would expire anyway."""

from bowerbird.storage.database import Database, Transaction


class SpentAttemptStore:
    def __init__(self, database: Database) -> None:
        self._sql = database.queries("spent_attempts")

    async def spend(self, transaction: Transaction, attempt_hash: bytes, expires_at: int) -> bool:
        """False if the attempt was spent before."""
        values = {"attempt_hash": attempt_hash, "expires_at": expires_at}
        return bool(await transaction.rows(self._sql["spend"], values))

    async def sweep(self, transaction: Transaction, now: int, limit: int) -> int:
        values = {"now": now, "limit": limit}
        return len(await transaction.rows(self._sql["remove_expired"], values))
