"""Stand-in until the real module is merged."""

from collections.abc import Sequence
from enum import StrEnum

import msgspec
from msgspec import Struct

from bowerbird.clock import Clock
from bowerbird.library.bookmarks.upsert import Prepared, Upsert, prepare_all
from bowerbird.model.accounts import Account
from bowerbird.model.upsert import LeftOutLabels
from bowerbird.sources import own_json
from bowerbird.sources.found import Completeness, FoundPost
from bowerbird.storage.database import Database, Transaction


class ItemResult(StrEnum):
    NEW = "new"
    CHANGED = "changed"
    UNCHANGED = "unchanged"
    IGNORED_DELETED = "ignored_deleted"


class IntakeOutcome(Struct, frozen=True):
    results: list[tuple[str, ItemResult]]
    labels_left_out: list[LeftOutLabels] = []


class Intake:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._upsert = Upsert(database, clock)

    async def prepare(
        self, account: Account, found: Sequence[FoundPost]
    ) -> list[tuple[FoundPost, Prepared]]:
        return [
            (
                one,
                prepare_all(
                    account.account_id, [own_json.read(msgspec.json.encode(one.record)).incoming]
                ),
            )
            for one in found
        ]

    async def take_within(
        self, transaction: Transaction, account: Account, prepared: list[tuple[FoundPost, Prepared]]
    ) -> IntakeOutcome:
        results = []
        for one, ready in prepared:
            stored = await self._upsert._store.stored(account, [one.record.post_id])
            if stored and one.completeness is Completeness.STUB:
                results.append((one.record.post_id, ItemResult.UNCHANGED))
                continue
            done = await self._upsert.put(transaction, ready)
            kind = (
                ItemResult.NEW
                if done.new
                else ItemResult.CHANGED
                if done.changed
                else ItemResult.UNCHANGED
            )
            results.append((one.record.post_id, kind))
        return IntakeOutcome(results)
