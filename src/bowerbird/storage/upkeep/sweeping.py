"""Finds the accounts that have expired records."""

from collections.abc import Sequence

import msgspec
from msgspec import Struct

from bowerbird.storage.database import Store


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
