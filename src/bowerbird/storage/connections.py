"""Reads and writes connected sources. Their tokens are encrypted before they come here."""

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec.structs import asdict

from bowerbird.model.connections import Connection, ConnectionState, Network, Problem
from bowerbird.storage.database import Readable, Row, Store, Writable, record


class ConnectionStore(Store):
    resource = "connections"

    async def insert(self, library: Writable, new: Connection, most: int) -> bool:
        """False if the account has so many connections already, or was deleted."""
        return bool(await self._of(library, "insert", **asdict(new), most=most))

    async def all(self, account_id: int) -> Sequence[Connection]:
        return [_connection(row) for row in await self._read("list", account_id=account_id)]

    async def one(self, library: Readable, connection_id: str) -> Connection | None:
        rows = await self._of(library, "one", connection_id=connection_id)
        return _connection(rows[0]) if rows else None

    async def by_user(
        self, library: Readable, network: Network, source_user_id: str
    ) -> Connection | None:
        rows = await self._of(library, "by_user", network=network, source_user_id=source_user_id)
        return _connection(rows[0]) if rows else None

    async def due(self, account_id: int, now: int) -> Sequence[Connection]:
        """The connections that are due, the longest waiting first."""
        return [_connection(row) for row in await self._read("due", account_id=account_id, now=now)]

    async def due_accounts(self, after: int, now: int, limit: int) -> Sequence[int]:
        values = {"after": after, "now": now, "limit": limit}
        return [row[0] for row in await self._read("due_accounts", **values)]

    async def delete(self, library: Writable, connection_id: str) -> tuple[Network, str] | None:
        """The network and name of the deleted connection."""
        rows = await self._of(library, "delete", connection_id=connection_id)
        return (Network(rows[0][0]), str(rows[0][1])) if rows else None

    async def connected(self, library: Writable, connection: Connection) -> bool:
        return bool(await self._of(library, "connected", **asdict(connection)))

    async def put_tokens(
        self, account_id: int, connection: Connection, sealed: bytes
    ) -> int | None:
        """The new version; None if the tokens were changed since the connection was read."""
        rows = await self._note(
            account_id, "put_tokens", connection, version=connection.version, sealed=sealed
        )
        return rows[0][0] if rows else None

    async def set_state(
        self, library: Writable, connection_id: str, state: ConnectionState, next_run_at: int
    ) -> bool:
        values = {"connection_id": connection_id, "state": state, "next_run_at": next_run_at}
        return bool(await self._of(library, "set_state", **values))

    async def set_bounds(
        self, library: Writable, connection_id: str, interval_s: int, posts_per_day: int
    ) -> None:
        values = {
            "connection_id": connection_id,
            "interval_s": interval_s,
            "posts_per_day": posts_per_day,
        }
        await self._do(library, "set_bounds", **values)

    async def start_run(self, library: Writable, connection_id: str, run_id: str) -> bool:
        """False if the connection has a run, or was deleted."""
        values = {"connection_id": connection_id, "run_id": run_id}
        return bool(await self._of(library, "start_run", **values))

    async def end_run(
        self,
        account_id: int,
        connection: Connection,
        *,
        new: int,
        changed: int,
        now: int,
        next_run_at: int,
    ) -> None:
        values = {"new": new, "changed": changed, "now": now, "next_run_at": next_run_at}
        await self._note(account_id, "end_run", connection, run_id=connection.run_id, **values)

    async def leave_run(self, account_id: int, connection: Connection) -> None:
        await self._note(account_id, "leave_run", connection, run_id=connection.run_id)

    async def fail(
        self,
        account_id: int,
        connection: Connection,
        problem: Problem,
        *,
        failures: int,
        now: int,
        next_run_at: int,
    ) -> None:
        values = {"problem": problem, "failures": failures, "now": now, "next_run_at": next_run_at}
        await self._note(account_id, "fail", connection, version=connection.version, **values)

    async def spend(self, account_id: int, connection: Connection, today: int, posts: int) -> bool:
        """Counts posts before they are read; False if they are too many for the day."""
        return bool(await self._note(account_id, "spend", connection, today=today, posts=posts))

    async def give_back(
        self, account_id: int, connection: Connection, today: int, posts: int
    ) -> None:
        """The page had fewer posts than were counted."""
        await self._note(account_id, "give_back", connection, today=today, posts=posts)

    async def leave_folders(self, account_id: int, connection: Connection, left: str) -> None:
        """Stores where the reading of folders goes on."""
        values = {"run_id": connection.run_id, "left": left}
        await self._note(account_id, "leave_folders", connection, **values)

    async def note_folders(self, account_id: int, connection: Connection, today: int) -> None:
        await self._note(account_id, "note_folders", connection, today=today)

    async def _note(
        self, account_id: int, name: str, connection: Connection, **values: Any
    ) -> Sequence[Row]:
        key = {"account_id": account_id, "connection_id": connection.connection_id}
        return await self._write(name, account_id, **key, **values)


def _connection(row: Row) -> Connection:
    found = record(Connection, row)
    return msgspec.structs.replace(
        found,
        network=Network(found.network),
        state=ConnectionState(found.state),
        problem=Problem(found.problem),
        sealed=bytes(found.sealed),
    )
