"""The library row: locks an account's library, and moves its version and counters.

Also how much of its daily bounds an account has used, and what happened to the account. A day is a
UTC calendar day.
"""

from collections.abc import Sequence
from typing import Any, Final

import msgspec
from msgspec import Struct

from bowerbird import errors
from bowerbird.model import events
from bowerbird.model.accounts import ActivityEntry, ActivityKind
from bowerbird.model.arrival import Counts
from bowerbird.model.events import Happening
from bowerbird.model.instants import without_offset
from bowerbird.model.labels import Label, name_key
from bowerbird.storage.database import (
    Database,
    Readable,
    Row,
    Store,
    Transaction,
    Writable,
    place_of,
)


class LockedLibrary(Writable):
    """A library row that a transaction has locked, with its next free numbers."""

    place: int
    next_number: int
    next_label_id: int
    # Before this transaction.
    version: int

    @property
    def values(self) -> dict[str, Any]:
        """Those that every statement about it has."""
        return {"account_id": self.account_id, "place": self.place}

    def new_label(self, name: str) -> Label:
        self.next_label_id += 1
        return Label(self.next_label_id - 1, name, name_key(name))


class LibraryStore(Store):
    resource = "libraries"

    async def lock(self, transaction: Transaction, account_id: int) -> LockedLibrary:
        """Other writers of the same library wait until this transaction ends."""
        library = await self.lock_if_there(transaction, account_id)
        if library is None:
            raise errors.account_gone()
        return library

    async def lock_if_there(
        self, transaction: Transaction, account_id: int
    ) -> LockedLibrary | None:
        """None if the account no longer exists."""
        rows = await transaction.rows(self._sql["lock"], {"account_id": account_id})
        if not rows:
            return None
        local_number, *others = rows[0]
        return LockedLibrary(transaction, account_id, place_of(local_number), *others)

    async def version(self, library: Readable) -> int | None:
        """None if the account no longer exists."""
        rows = await self._of(library, "version")
        return int(rows[0][0]) if rows else None

    async def advance(
        self,
        library: LockedLibrary,
        change: Counts,
        happened: Sequence[Happening] = (),
        now: int = 0,
        *,
        touches: bool = True,
    ) -> None:
        """Raises the version, adds `change` to the counters, and logs what happened just now.

        Without `touches`, the caller calls `touch_posts` for all changes of a transaction.
        """
        values = {
            "next_number": library.next_number,
            "next_label_id": library.next_label_id,
            **msgspec.structs.asdict(change),
            "events": _count(happened),
        }
        await self._do(library, "advance", **values)
        await self._log(library, happened, now, touches=touches)

    async def touch(
        self, library: Writable, happened: Sequence[Happening] = (), now: int = 0
    ) -> None:
        """Raises the version, and logs what happened just now."""
        await self._do(library, "touch", events=_count(happened))
        await self._log(library, happened, now)

    async def _log(
        self, library: Writable, happened: Sequence[Happening], now: int, *, touches: bool = True
    ) -> None:
        """The row of the library is locked, so that rows are added in the order of commits."""
        if not happened:
            return
        await self._do(library, "log", size=_count(happened), at=now, body=events.encode(happened))
        changed = events.changed_posts(happened) if touches else ()
        if changed:
            await self.touch_posts(library, changed, now)

    async def touch_posts(self, library: Writable, post_ids: Sequence[str], now: int) -> None:
        """Notes when posts changed."""
        await self._do(library, "touch_posts", post_ids=post_ids, updated_at=without_offset(now))


def _count(happened: Sequence[Happening]) -> int:
    return sum(one.size for one in happened)


KEYED_ANSWERS: Final = "keyed answers"
EXPORTS: Final = "exports"
ACCOUNT_DOWNLOADS: Final = "account downloads"
EMAIL_LINKS: Final = "email links"
SIGN_IN_LINKS: Final = "sign-in links"
INGEST_PAGES: Final = "ingest pages"
INGEST_RUNS: Final = "ingest runs"
INGEST_FILES: Final = "ingest files"


class DayUse(Struct, frozen=True):
    uses: int = 0
    bytes: int = 0


class DailyUseStore(Store):
    resource = "daily_use"

    def __init__(self, database: Database, used: str) -> None:
        super().__init__(database)
        self._used = used

    async def used(self, library: Readable, day: int) -> DayUse:
        return _use(await self._of(library, "used", resource=self._used, day=day))

    async def add(self, library: Writable, day: int, *, uses: int = 0, size: int = 0) -> DayUse:
        """Adds to the use of the day, and returns it."""
        values = {"resource": self._used, "day": day, "uses": uses, "bytes": size}
        return _use(await self._of(library, "add", **values))

    async def give_back(self, library: Writable, day: int, size: int) -> None:
        """Subtracts bytes that were added on the same day, and not used after all."""
        await self._do(library, "give_back", resource=self._used, day=day, bytes=size)


def _use(rows: Sequence[Row]) -> DayUse:
    return DayUse(*rows[0]) if rows else DayUse()


class ActivityStore(Store):
    resource = "activity"

    async def add(self, library: Writable, entry: ActivityEntry) -> None:
        values = {
            "at": entry.at,
            "entry_id": entry.entry_id,
            "kind": entry.kind,
            "detail": entry.detail,
            "address": entry.address,
        }
        await self._do(library, "insert", **values)

    async def page(
        self, account_id: int, before: tuple[int, str], limit: int
    ) -> Sequence[ActivityEntry]:
        """Entries before the given time and id, the latest first."""
        at, entry_id = before
        values = {"account_id": account_id, "at": at, "entry_id": entry_id, "limit": limit}
        return [
            ActivityEntry(at, entry_id, _kind(kind), detail, address)
            for at, entry_id, kind, detail, address in await self._read("page", **values)
        ]

    async def sweep(self, library: Writable, before: int, kept: int, limit: int) -> int:
        """Removes entries before a time, and those older than the newest `kept` ones."""
        values = {"kept": kept}
        [[oldest]] = await self._of(library, "oldest_kept", **values)
        before = max(before, oldest or 0)
        values = {"before": before, "limit": limit}
        return len(await self._of(library, "remove_some", **values))


def _kind(text: str) -> ActivityKind | str:
    try:
        return ActivityKind(text)
    except ValueError:
        return text
