"""Reads lists from a replica: another server, which repeats the changes of the primary.

It lags. Therefore each read says which state of its account it needs, as the request has read it
from the primary, and the replica is asked first which state it has. What it has is remembered per
connection: another connection may lead to another server, but one never goes back in time.
Everything else, and what the replica cannot do, is done by the primary.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final, TypeVar

import asyncpg
import structlog

from bowerbird import errors
from bowerbird.lru import LruCache
from bowerbird.model.accounts import Account
from bowerbird.storage.database import Lists, Row, Transaction, Values, WordRead
from bowerbird.storage.fair_queue import Owner
from bowerbird.storage.postgres.database import (
    Connection,
    Limits,
    PostgresDatabase,
    open_pool,
)

T = TypeVar("T")

_STATE: Final = "SELECT l.epoch, l.version FROM library AS l WHERE l.account_id = $1"
_REMEMBERED: Final = 1_000
# An account that has just written reads from the primary, whatever its request knows of its state.
_AFTER_WRITING_S: Final = 2.0
_WRITERS: Final = 10_000
_PAUSE_S: Final = 5.0
# Shorter than those of the primary, which comes after it: together they stay under ten seconds.
LIMITS: Final = Limits(wait_s=0.5, lock_s=1.0, statement_s=1.0)


class _BehindError(Exception):
    """The replica has not repeated the changes yet that a read must see."""


class ReplicaConnection(Connection):
    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        # The epoch and the version that an account has there, or had before.
        self.seen = LruCache(_REMEMBERED)


class _ReplicaDatabase(PostgresDatabase):
    async def _prepare(self, connection: Any, values: Values) -> None:
        if "version" not in values:
            return
        seen = connection.seen.get(values["account_id"])
        if not _has(seen, values):
            seen = await connection.fetchrow(_STATE, values["account_id"])
            connection.seen.put(values["account_id"], seen)
            if not _has(seen, values):
                raise _BehindError


def _has(seen: Row | None, values: Values) -> bool:
    return seen is not None and seen[0] == values["epoch"] and seen[1] >= values["version"]


class Replica:
    def __init__(self, pool: "asyncpg.Pool[asyncpg.Record]", limits: Limits = LIMITS) -> None:
        self._database = _ReplicaDatabase(pool, limits)
        self._away_until = 0.0
        self._log = structlog.get_logger()

    @property
    def is_away(self) -> bool:
        return asyncio.get_running_loop().time() < self._away_until

    async def read(self, sql: str, values: Values, *, is_slow: bool) -> Sequence[Row] | None:
        """None if the primary has to answer."""
        is_return = self._away_until > 0
        if is_return:
            # While this read finds out whether the replica is back, no other does.
            self._away_until = asyncio.get_running_loop().time() + _PAUSE_S
        read = self._database.slow_rows if is_slow else self._database.rows
        try:
            rows = await read(sql, values)
        except _BehindError:
            rows = None
        except errors.Refusal as refusal:
            cause = refusal.__cause__
            if cause is None and not isinstance(refusal, errors.TooManyWaiting):
                raise
            # A replica that is only busy is asked again.
            if cause is not None and not isinstance(cause, asyncpg.QueryCanceledError):
                self._pause(cause)
            return None
        except asyncpg.PostgresError:
            # For example, rows that the read needed were removed by a repeated change.
            return None
        if is_return:
            self._away_until = 0.0
            self._log.info("replica is back")
        return rows

    def _pause(self, cause: BaseException) -> None:
        if not self._away_until:
            self._log.warning("replica is away; the primary answers", cause=repr(cause))
        self._away_until = asyncio.get_running_loop().time() + _PAUSE_S

    async def close(self) -> None:
        await self._database.close()


class _FirstReplica:
    """The lists of an account in the state that a request has seen, or in a later one."""

    def __init__(self, replica: Replica, primary: PostgresDatabase, account: Account) -> None:
        self._replica = replica
        self._primary = primary
        self._state = {
            "account_id": account.account_id,
            "epoch": account.epoch,
            "version": account.version,
        }

    async def rows(self, sql: str, values: Values) -> Sequence[Row]:
        found = await self._replica.read(sql, {**values, **self._state}, is_slow=False)
        return await self._primary.rows(sql, values) if found is None else found

    async def slow_rows(self, sql: str, values: Values) -> Sequence[Row]:
        found = await self._replica.read(sql, {**values, **self._state}, is_slow=True)
        return await self._primary.slow_rows(sql, values) if found is None else found

    async def word_rows(self, read: WordRead) -> Sequence[Row]:
        return await self.slow_rows(read.sql, read.values)


class ReplicatedDatabase(PostgresDatabase):
    """The primary. Its lists are read from the replica."""

    def __init__(
        self, pool: "asyncpg.Pool[asyncpg.Record]", limits: Limits, replica: Replica
    ) -> None:
        super().__init__(pool, limits)
        self._replica = replica
        # When each account last wrote through this process.
        self._written = LruCache(_WRITERS)

    def lists(self, account: Account) -> Lists:
        now, written = asyncio.get_running_loop().time(), self._written.get(account.account_id)
        if self._replica.is_away or (written is not None and now - written < _AFTER_WRITING_S):
            return self
        return _FirstReplica(self._replica, self, account)

    async def _write(
        self, work: Callable[[Transaction], Awaitable[T]], owner: Owner, deadline: float | None
    ) -> T:
        try:
            return await super()._write(work, owner, deadline)
        finally:
            self._written.put(owner, asyncio.get_running_loop().time())

    async def close(self) -> None:
        await self._replica.close()
        await super().close()


async def open_replica(url: str, connections: int, *, are_statements_named: bool = True) -> Replica:
    """Connects on first use, like the primary's pool."""
    pool = await open_pool(
        url, connections, LIMITS, ReplicaConnection, are_statements_named=are_statements_named
    )
    return Replica(pool)
