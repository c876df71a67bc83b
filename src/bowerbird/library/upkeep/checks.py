"""Compares a library with itself: counters, indexes and renderings with what they are made from.

Reads while the library is in use; mends in short transactions, as any other writer.
"""

import secrets
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

import msgspec

from bowerbird.library.upkeep.comparisons import Finding, Reading, cut
from bowerbird.model.accounts import Account
from bowerbird.storage.bookmarks.upsert import UpsertStore
from bowerbird.storage.checks import STRAYS, CheckStore
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.libraries import LibraryStore, LockedLibrary
from bowerbird.storage.vectors import VectorStore

Advance = Callable[[int], None]

_PAGE: Final = 200
_MENDED_AT_ONCE: Final = 20
_SAMPLE: Final = 100
_STRAY: Final = {
    "attachments": "labels attached to no bookmark",
    "contents": "contents of no bookmark",
    "words": "words of no bookmark",
    "vectors": "vectors of no bookmark",
}


class Checks:
    def __init__(self, database: Database, *, mends: bool, is_deep: bool) -> None:
        self._database = database
        self._store = CheckStore(database)
        self._intake = UpsertStore(database)
        self._libraries = LibraryStore(database)
        self._embedded = VectorStore(database)
        self._mends, self._is_deep = mends, is_deep

    async def leftovers(self) -> list[Finding]:
        """What belongs to no account."""
        found = await self._store.leftovers()
        if self._mends:
            await self._store.mend_leftovers(found)
        findings = [Finding(f"{kind} rows of no account", str(n), "0") for kind, n in found.items()]
        if ownerless := await self._store.ownerless():
            findings.append(
                Finding("libraries without a person", str(ownerless), "0", is_mendable=False)
            )
        return findings

    async def account(self, account: Account, advance: Advance) -> list[Finding]:
        findings: list[Finding] = []
        for kind in STRAYS:
            findings += await self._strays(kind, account)
        findings += await self._bookmarks(account, advance)
        findings += await self._labels(account)
        findings += await self._vectors(account)
        findings += await self._ledger(account)
        return findings

    async def _strays(self, kind: str, account: Account) -> list[Finding]:
        numbers = await self._store.strays(kind, account)
        if not numbers:
            return []
        await self._mend(account, lambda t, _: self._store.mend_strays(t, kind, account))
        return [Finding(_STRAY[kind], str(len(numbers)), "0")]

    async def _labels(self, account: Account) -> list[Finding]:
        differing = await self._store.label_counts(account)
        if not differing:
            return []
        await self._mend(account, lambda t, _: self._store.mend_label_counts(t, account))
        return [
            Finding(f"bookmark_count of label {name!r}", str(stored), str(counted))
            for name, stored, counted in differing
        ]

    async def _vectors(self, account: Account) -> list[Finding]:
        differing = await self._store.vector_counts(account)
        if not differing:
            return []
        await self._mend(account, lambda t, _: self._store.mend_vector_counts(t, account))
        return [
            Finding(f"vectors of {name}", str(stored), str(counted))
            for name, stored, counted in differing
        ]

    async def _ledger(self, account: Account) -> list[Finding]:
        stored, right = await self._store.ledgers(self._database.slow_rows, account)
        if stored == right:
            return []

        async def change(transaction: Transaction, _: LockedLibrary) -> None:
            ledgers = await self._store.ledgers(transaction.rows, account)
            await self._store.put_ledger(transaction, account, ledgers[1])

        await self._mend(account, change)
        return [
            Finding(name, str(value), str(getattr(right, name)))
            for name, value in msgspec.structs.asdict(stored).items()
            if value != getattr(right, name)
        ]

    async def _bookmarks(self, account: Account, advance: Advance) -> list[Finding]:
        findings: list[Finding] = []
        after = 0
        while page := await self._store.page(account, after, _PAGE):
            damaged = []
            for stored in page:
                if own := await self._bookmark(account, Reading(stored)):
                    damaged.append(stored.columns["number"])
                    findings += own
            for start in range(0, len(damaged), _MENDED_AT_ONCE):
                await self._rewrite(account, damaged[start : start + _MENDED_AT_ONCE])
            after = page[-1].columns["number"]
            advance(len(page))
        return findings

    async def _bookmark(self, account: Account, reading: Reading) -> list[Finding]:
        found = reading.differences()
        if found or not self._is_sampled(account):
            return found
        words = reading.words()
        if not await self._store.words_differ(account, reading.stored, words):
            return []
        return [Finding(f"words of {reading.name}", "others", cut(words))]

    def _is_sampled(self, account: Account) -> bool:
        """Comparing words takes most of the time: about a hundred posts stand for all."""
        return self._is_deep or secrets.randbelow(max(account.total, 1)) < _SAMPLE

    async def _rewrite(self, account: Account, numbers: Sequence[int]) -> None:
        async def change(transaction: Transaction, opened: LockedLibrary) -> None:
            readings = map(Reading, await self._store.these(transaction, account, numbers))
            rows = [reading.row(reading.words()) for reading in readings if reading.is_mendable]
            await self._intake.update(transaction, opened, rows)
            await self._forget_meaning(transaction, account, numbers)

        await self._mend(account, change)

    async def _forget_meaning(
        self, transaction: Transaction, account: Account, numbers: Sequence[int]
    ) -> None:
        """What was damaged is embedded anew: nobody knows what its vector was made from."""
        held = await self._embedded.text_hashes(transaction, account.account_id, numbers)
        stale: dict[bytes, list[int]] = {}
        for number, model, _ in held:
            stale.setdefault(model, []).append(number)
        await self._embedded.drop_stale(transaction, account.account_id, stale)

    async def _mend(
        self, account: Account, change: Callable[[Transaction, LockedLibrary], Awaitable[None]]
    ) -> None:
        """One short transaction under the library's lock, with a new version, if mending is on."""
        if not self._mends:
            return

        async def work(transaction: Transaction) -> None:
            opened = await self._libraries.lock(transaction, account.account_id)
            if opened is not None:
                await change(transaction, opened)
                await self._libraries.touch(transaction, account.account_id)

        await self._database.write(work)
