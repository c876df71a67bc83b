"""The changes that can be undone, in words and with those who made them."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from bowerbird.clock import Clock
from bowerbird.library.bookmarks import cursors
from bowerbird.library.bulk import words
from bowerbird.library.bulk.changes import BulkChanges
from bowerbird.model.accounts import Account
from bowerbird.model.bulk import FAILED, BulkAction, BulkRow, BulkState, Maker
from bowerbird.model.instants import with_offset
from bowerbird.requests.bookmarks import ChangesQuery
from bowerbird.requests.limits import KEPT_CHANGES_MAX, PAGE_DEFAULT
from bowerbird.storage.accounts.credentials import KeyStore
from bowerbird.storage.changes.bulk import BulkStore
from bowerbird.storage.database import Database

_LAST: Final = 2**63 - 1
_SERVER: Final = "server"


class RecentChange(Struct, frozen=True, kw_only=True):
    """A change that can be undone or is not finished."""

    change_id: str
    """Identifier of the change, for its progress and its undo."""
    summary: str
    """What was done, in words."""
    action: str
    """What was done."""
    label_name: str | None
    """The label that it is about, or null."""
    state: str
    """working, done, undoing, undone or failed."""
    count: int
    """Number of bookmarks that matched when the change started; 1 for a label or Smart View."""
    changed: int
    """Number of bookmarks that were changed."""
    restored: int
    """Number of bookmarks that the undo gave something back; for a label or Smart View 1, or 0
    if it was changed since."""
    made_by: str
    """Who made it: key, agent (by a tool), page (on the website), rule, or server (a command on
    it)."""
    key_name: str | None
    """Name of the API key that was used, or null."""
    rule_name: str | None
    """Name of the rule, or null."""
    created_at: str
    """When the change started: ISO 8601 with an offset."""
    finished_at: str | None
    """When the change or its undo finished, or null."""
    undo_until: str | None
    """Until when the change can be undone; null if it is undone or has not finished."""


class ChangePage(Struct, frozen=True):
    changes: list[RecentChange]
    next_cursor: str | None
    limit: int
    total_count: int


class RecentChanges:
    def __init__(self, database: Database, clock: Clock, changes: BulkChanges) -> None:
        self._store = BulkStore(database)
        self._keys = KeyStore(database)
        self._changes = changes
        self._clock = clock

    async def list(self, account: Account, asked: ChangesQuery) -> ChangePage:
        """The latest first. Those that can no longer be undone are left out."""
        limit, now = asked.limit or PAGE_DEFAULT, self._clock()
        query = cursors.query_of(account.account_id, "changes")
        before = _number(asked.cursor, query) if asked.cursor else _LAST
        found = await self._store.recent(
            account.account_id, now=now, before=before, limit=limit + 1
        )
        end = found[limit - 1] if len(found) > limit else None
        names = await self._keys.names(account.account_id) if found else {}
        return ChangePage(
            changes=[await self._shown(account, row, names) for row in found[:limit]],
            next_cursor=None
            if end is None
            else cursors.write(cursors.Named(str(end.number)), query),
            limit=limit,
            total_count=await self._store.count_recent(account.account_id, now),
        )

    async def of_action(self, account: Account, action: BulkAction) -> Sequence[BulkRow]:
        """Those of one kind that can be undone, latest first."""
        found = await self._store.recent(
            account.account_id,
            now=self._clock(),
            before=_LAST,
            limit=KEPT_CHANGES_MAX,
            action=action,
        )
        return [row for row in found if row.state is BulkState.DONE]

    async def _shown(self, account: Account, row: BulkRow, names: dict[str, str]) -> RecentChange:
        maker, _, name = row.made_by.partition(":")
        is_rule = maker == Maker.RULE
        problem = await self._changes.problem(account, row)
        return RecentChange(
            change_id=row.change_id,
            summary=words.summary(row),
            action=row.action,
            label_name=row.label_name,
            state=FAILED if problem else row.state,
            count=row.matched,
            changed=row.changed,
            restored=row.restored,
            made_by=maker or _SERVER,
            key_name=None if is_rule else names.get(name),
            rule_name=name if is_rule else None,
            created_at=with_offset(row.created_at),
            finished_at=None if row.finished_at is None else with_offset(row.finished_at),
            undo_until=with_offset(row.undo_until) if row.state is BulkState.DONE else None,
        )


def _number(cursor: str, query: bytes) -> int:
    name = cursors.read_name(cursor, query)
    if not (name.isascii() and name.isdigit() and len(name) < len(str(_LAST))):
        raise cursors.refused(cursor)
    return int(name)
