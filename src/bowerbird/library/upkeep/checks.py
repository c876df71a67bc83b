"""Compares counters, indexes and renderings with the stored posts they are derived from.

The library can be in use: checks only read, and fixes are short transactions.
"""

import secrets
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Final

import msgspec

from bowerbird.clock import system_clock
from bowerbird.library.bookmarks.searching.counted_words import CountedWords
from bowerbird.library.upkeep.comparisons import Comparison, Finding, WordCountChecks, cut
from bowerbird.model.accounts import Account
from bowerbird.model.events import EventType, Happening
from bowerbird.search.words.tokens import INDEX_FORM
from bowerbird.storage.bookmarks.upsert import UpsertStore
from bowerbird.storage.checks import ORPHANS, CheckStore
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.libraries import LibraryStore, LockedLibrary
from bowerbird.storage.words.vectors import VectorStore

Advance = Callable[[int], None]

_PAGE: Final = 200
_FIXED_PER_TRANSACTION: Final = 20
_SAMPLE_SIZE: Final = 100
_ORPHANS: Final = {
    "attachments": "labels attached to no post",
    "contents": "contents of no post",
    "words": "words of no post",
    "vectors": "vectors of no post",
}
_COUNTS: Final = {
    "label_counts": "bookmark_count of label {name!r}",
    "vector_counts": "vectors of {name}",
    "media_counts": "{name} of kept images",
}


class Checks:
    def __init__(self, database: Database, *, fixes: bool, is_deep: bool) -> None:
        self._database = database
        self._store = CheckStore(database)
        self._upserts = UpsertStore(database)
        self._libraries = LibraryStore(database)
        self._vector_store = VectorStore(database)
        self._counted = CountedWords(database)
        self._word_counts = WordCountChecks(database, fixes=fixes)
        self._fixes, self._is_deep = fixes, is_deep

    async def leftovers(self) -> list[Finding]:
        """Rows without an account."""
        found = await self._store.leftovers()
        if self._fixes:
            await self._store.delete_leftovers(found)
        findings = [Finding(f"{kind} rows of no account", str(n), "0") for kind, n in found.items()]
        if count := await self._store.libraries_without_person():
            findings.append(
                Finding("libraries without a person", str(count), "0", is_fixable=False)
            )
        return findings

    async def account(self, account: Account, advance: Advance) -> list[Finding]:
        findings: list[Finding] = []
        for kind in ORPHANS:
            findings += await self._orphans(kind, account)
        findings += await self._bookmarks(account, advance)
        findings += await self._word_counts.account(account)
        findings += await self._counts(account)
        findings += await self._counters(account)
        return findings

    async def _orphans(self, kind: str, account: Account) -> list[Finding]:
        numbers = await self._store.orphans(kind, account)
        if not numbers:
            return []
        await self._fix(
            account, lambda at: self._store.delete_orphans(at.transaction, kind, account)
        )
        return [Finding(_ORPHANS[kind], str(len(numbers)), "0")]

    async def _counts(self, account: Account) -> list[Finding]:
        """Stored counts of labels, vectors and kept images."""
        findings: list[Finding] = []
        for kind, words in _COUNTS.items():
            differing = await self._store.counts(kind, account)
            if differing:
                await self._fix(account, partial(self._fix_counts, kind=kind, account=account))
            findings += [
                Finding(words.format(name=name), str(stored), str(counted))
                for name, stored, counted in differing
            ]
        return findings

    async def _fix_counts(self, opened: LockedLibrary, *, kind: str, account: Account) -> None:
        await self._store.fix_counts(opened.transaction, kind, account)

    async def _counters(self, account: Account) -> list[Finding]:
        stored, expected = await self._store.counters(self._database.slow_rows, account)
        if stored == expected:
            return []

        async def change(opened: LockedLibrary) -> None:
            transaction = opened.transaction
            counters = await self._store.counters(transaction.rows, account)
            await self._store.fix_counters(transaction, account, counters[1])

        await self._fix(account, change)
        return [
            Finding(name, str(value), str(getattr(expected, name)))
            for name, value in msgspec.structs.asdict(stored).items()
            if value != getattr(expected, name)
        ]

    async def _bookmarks(self, account: Account, advance: Advance) -> list[Finding]:
        findings: list[Finding] = []
        after = 0
        while page := await self._store.page(account, after, _PAGE):
            stale = []
            for stored in page:
                comparison = Comparison(stored)
                found = await self._bookmark(account, comparison)
                if found or comparison.outdated:
                    stale.append(stored.columns["number"])
                findings += found
            for start in range(0, len(stale), _FIXED_PER_TRANSACTION):
                await self._rewrite(account, stale[start : start + _FIXED_PER_TRANSACTION])
            after = page[-1].columns["number"]
            advance(len(page))
        return findings

    async def _bookmark(self, account: Account, comparison: Comparison) -> list[Finding]:
        found = comparison.differences()
        if found or not self._is_sampled(account):
            return found
        if comparison.stored.word_form != INDEX_FORM or comparison.lacks_article:
            # An earlier release wrote them. A job writes words of another form again.
            return []
        words = comparison.words()
        if not await self._store.words_differ(account, comparison.stored, words):
            return []
        return [Finding(f"words of {comparison.name}", "other words", cut(words))]

    def _is_sampled(self, account: Account) -> bool:
        """Comparing words is slow, so without --deep only about a hundred posts are compared."""
        return self._is_deep or secrets.randbelow(max(account.total, 1)) < _SAMPLE_SIZE

    async def _rewrite(self, account: Account, numbers: Sequence[int]) -> None:
        async def change(opened: LockedLibrary) -> list[Happening]:
            stored = await self._store.by_numbers(opened.transaction, account, numbers)
            comparisons = [each for each in map(Comparison, stored) if each.is_fixable]
            rows = [comparison.row(comparison.words()) for comparison in comparisons]
            counted = await self._counted.of(opened, [row["number"] for row in rows])
            await self._upserts.update(opened, rows, counted)
            await self._mark_vectors(opened.transaction, account, numbers)
            changed = [row["post_id"] for row in rows]
            return [Happening(EventType.POST_CHANGED, changed)] if changed else []

        await self._fix(account, change)

    async def _mark_vectors(
        self, transaction: Transaction, account: Account, numbers: Sequence[int]
    ) -> None:
        """The vectors of damaged posts may come from another text, so they are built again."""
        vectors = await self._vector_store.text_hashes(transaction, account.account_id, numbers)
        stale: dict[bytes, list[int]] = {}
        for number, model, _ in vectors:
            stale.setdefault(model, []).append(number)
        await self._vector_store.mark_stale(transaction, account.account_id, stale)

    async def _fix(
        self, account: Account, change: Callable[[LockedLibrary], Awaitable[list[Happening] | None]]
    ) -> None:
        """Changes a locked library and increments its version, if fixing is on."""
        if not self._fixes:
            return

        async def work(transaction: Transaction) -> None:
            opened = await self._libraries.lock(transaction, account.account_id)
            if opened is not None:
                happened = await change(opened) or ()
                now = system_clock()
                await self._libraries.touch(transaction, account.account_id, happened, now)

        await self._database.write(work)
