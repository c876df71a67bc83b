"""Counts the words of an account's posts again, and compares the stored counts with that."""

from collections import Counter
from typing import Final

from bowerbird.clock import month_of, system_clock
from bowerbird.library.bookmarks.searching.counted_words import stored_words
from bowerbird.library.upkeep.comparisons import Finding, cut
from bowerbird.model.accounts import Account
from bowerbird.search.words.tokens import INDEX_FORM
from bowerbird.storage.accounts.accounts import AccountStore
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.libraries import LibraryStore
from bowerbird.storage.word_counts import WordCounts, occurrences

_PAGE: Final = 500
# A library that is in use may change while its words are counted.
_TRIES: Final = 5


class WordCountChecks:
    def __init__(self, database: Database, *, fixes: bool) -> None:
        self._database = database
        self._fixes = fixes
        self._counts = WordCounts(database)
        self._accounts = AccountStore(database)
        self._libraries = LibraryStore(database)

    async def account(self, account: Account) -> list[Finding]:
        """Finds nothing in a library that changes whenever its words are counted."""
        for _ in range(_TRIES):
            version = await self._version(account)
            expected = await self._counted(account)
            stored = await self._counts.stored(account)
            if version is None or stored == expected:
                break
            if await self._is_unchanged(account, version, stored, expected):
                return _findings(stored, expected)
        return []

    async def _version(self, account: Account) -> int | None:
        found = await self._accounts.by_id(account.account_id, month_of(system_clock()))
        return None if found is None else found.version

    async def _counted(self, account: Account) -> dict[str, int]:
        counts: Counter[str] = Counter()
        after = 0
        while page := await self._counts.counted_page(account, INDEX_FORM, after, _PAGE):
            counts.update(occurrences(stored_words(rendering) or "" for _, rendering in page))
            after = page[-1][0]
        return dict(counts)

    async def _is_unchanged(
        self, account: Account, version: int, stored: dict[str, int], expected: dict[str, int]
    ) -> bool:
        """Corrects the counts if fixing is on. False if the library has changed since."""

        async def work(transaction: Transaction) -> bool:
            library = await self._libraries.lock(transaction, account.account_id)
            if library is None or library.version != version:
                return False
            if self._fixes:
                await self._counts.change(transaction, library, stored, expected)
                await self._libraries.touch(transaction, account.account_id)
            return True

        return await self._database.write(work)


def _findings(stored: dict[str, int], expected: dict[str, int]) -> list[Finding]:
    """One for all words: a single lost post changes the counts of fifty."""
    words = sorted(
        word
        for word in stored.keys() | expected.keys()
        if stored.get(word, 0) != expected.get(word, 0)
    )
    first, others = words[0], len(words) - 1
    what = f"posts that contain {cut(first)}" if first else "posts whose words are counted"
    if others:
        what += f" (and the counts of {others} other words)"
    return [Finding(what, str(stored.get(first, 0)), str(expected.get(first, 0)))]
