"""STAND-IN until the real intake is merged."""

from collections.abc import Sequence
from enum import StrEnum

import msgspec
from msgspec import Struct

from bowerbird.clock import Clock
from bowerbird.library.bookmarks.upsert import Upsert
from bowerbird.model.accounts import Account
from bowerbird.model.upsert import LeftOutLabels
from bowerbird.sources import own_json
from bowerbird.sources.found import FoundPost
from bowerbird.storage.bookmarks.upsert import UpsertStore
from bowerbird.storage.database import Database


class ItemResult(StrEnum):
    NEW = "new"
    CHANGED = "changed"
    UNCHANGED = "unchanged"
    IGNORED_DELETED = "ignored_deleted"


class IntakeOutcome(Struct, frozen=True):
    results: list[tuple[str, ItemResult]] = []
    labels_left_out: tuple[LeftOutLabels, ...] = ()

    def count(self, result: ItemResult) -> int:
        return sum(each is result for _, each in self.results)


class Intake:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._upsert = Upsert(database, clock)
        self._store = UpsertStore(database)

    async def take(
        self,
        account: Account,
        found: Sequence[FoundPost],
        *,
        run_id: str | None,  # noqa: ARG002
        is_saving: bool = False,  # noqa: ARG002
    ) -> IntakeOutcome:
        prepared, results = await self._prepare(account, found)
        outcome = await self._upsert.write(prepared)
        return IntakeOutcome(results, outcome.left_out)

    async def compare(self, account: Account, found: Sequence[FoundPost]) -> IntakeOutcome:
        _, results = await self._prepare(account, found)
        return IntakeOutcome(results)

    async def _prepare(self, account, found):  # type: ignore[no-untyped-def]
        arrivals = [own_json.read(msgspec.json.encode(f.record)).incoming for f in found]
        stored = await self._store.stored(account, [a.post_id for a in arrivals])
        prepared = await self._upsert.prepare(account, arrivals)
        differing = {a.post_id for a in prepared.arrivals}
        results = [
            (
                a.post_id,
                ItemResult.UNCHANGED
                if a.post_id not in differing
                else ItemResult.CHANGED
                if a.post_id in stored
                else ItemResult.NEW,
            )
            for a in arrivals
        ]
        return prepared, results
