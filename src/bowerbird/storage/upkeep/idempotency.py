"""Stores the answers of keyed writes, in the transaction of the write itself.

Also finds the accounts that have expired records.
"""

from collections.abc import Sequence
from typing import Any, Final

import msgspec
from msgspec import Struct

from bowerbird import errors
from bowerbird.clock import day_of
from bowerbird.storage.database import Database, LockTimeoutError, Store, Writable
from bowerbird.storage.libraries import KEYED_ANSWERS, DailyUseStore, DayUse

RETENTION_HOURS: Final = 24
# An answer may have megabytes, so that a hundred of them would delay other writers.
_SWEPT_BYTES: Final = 8_000_000
_TRIES: Final = 3


class InProgressError(Exception):
    """Another transaction holds the key, longer than this one may wait."""


class StoredAnswer(Struct, frozen=True):
    fingerprint: bytes
    status: int
    headers: str
    body: bytes
    created_at: int


class IdempotencyStore(Store):
    resource = "idempotency"

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._use = DailyUseStore(database, KEYED_ANSWERS)

    async def claim(
        self, library: Writable, key: str, *, fingerprint: bytes, now: int, oldest: int
    ) -> StoredAnswer | DayUse:
        """The answer of the first request with this key.

        If there was none, the key is claimed, and what the account has stored today is returned.
        """
        values = {
            "idempotency_key": key,
            "fingerprint": fingerprint,
            "body": b"",
            "created_at": now,
            "before": oldest,
        }
        await self._hold(library, values)
        # Retried if the existing entry is too old, or was removed between the two statements.
        for _ in range(_TRIES):
            if await self._of(library, "claim", **values):
                return await self._use.used(library, day_of(now))
            rows = await self._of(library, "kept", **values)
            if rows and rows[0][4] >= oldest:
                return StoredAnswer(*rows[0])
            await self._do(library, "forget", **values)
        raise errors.unavailable("Concurrent changes to this account conflicted; retry.", 1)

    async def keep(
        self, library: Writable, key: str, *, status: int, headers: str, body: bytes, now: int
    ) -> None:
        await self.replace(library, key, status=status, headers=headers, body=body)
        size = len(body) + len(headers) + len(key)
        # Last, because other keyed writes of the account wait for this row until the commit.
        await self._use.add(library, day_of(now), uses=1, size=size)

    async def replace(
        self, library: Writable, key: str, *, status: int, headers: str, body: bytes
    ) -> None:
        """Stores another answer under a key."""
        values = {"idempotency_key": key, "status": status, "headers": headers, "body": body}
        await self._do(library, "keep", **values)

    async def sweep(self, library: Writable, oldest: int, most: int) -> int:
        """Removes a few entries that are too old; returns how many."""
        values = {"before": oldest, "most": most, "most_bytes": _SWEPT_BYTES}
        return len(await self._of(library, "forget_old", **values))

    async def _hold(self, library: Writable, values: dict[str, Any]) -> None:
        """Waits for another transaction with the same key, as long as the database allows.

        A separate lock, because an insert may also wait for other reasons than the key.
        """
        if self._sql["hold"]:
            try:
                await self._of(library, "hold", **values)
            except LockTimeoutError as error:
                raise InProgressError from error


class Expiry(Struct, frozen=True, kw_only=True):
    """The times before which records of each kind have expired."""

    answers_before: int
    trash_before: int
    logs_before: int
    stopped_before: int
    undo_kept: int
    pages_before: int
    kept_before: int
    runs_before: int
    sessions_used_after: int
    sessions_created_after: int
    activity_before: int
    # How many entries of the activity log are kept.
    activity_most: int
    events_before: int
    # How many events of the library are kept.
    events_kept: int


class Due(Struct, frozen=True):
    """An account, and which kinds of its records have expired."""

    account_id: int
    has_old_answers: bool
    has_old_trash: bool
    has_old_logs: bool
    has_stopped_runs: bool
    has_old_ingest: bool
    has_old_sessions: bool
    has_old_activity: bool
    has_old_changes: bool
    has_old_events: bool


class SweepStore(Store):
    resource = "sweeping"

    async def has_old_proofs(self, now: int) -> tuple[bool, bool]:
        """Whether there are expired one-time links, and expired attempts to sign in."""
        rows = await self._read("has_old_proofs", now=now)
        links, attempts = rows[0]
        return bool(links), bool(attempts)

    async def next_accounts(self, after: int, limit: int, expiry: Expiry) -> Sequence[Due]:
        values = {"after": after, "limit": limit, **msgspec.structs.asdict(expiry)}
        rows = await self._read_slowly("next_accounts", **values)
        return [Due(account_id, *map(bool, expired)) for account_id, *expired in rows]
