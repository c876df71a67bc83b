"""Compares counters, indexes and renderings with the stored posts they are derived from.

The library can be in use: checks only read, and fixes are short transactions. The
rendering is the truth about the post, the bookmark's columns about its position and flags, and the
attached labels about its tags. The upsert's own functions derive everything else.
"""

import asyncio
import secrets
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, Final

import msgspec
from msgspec import Struct

from bowerbird.clock import month_of, system_clock
from bowerbird.library.bookmarks.writing.bookmark_row import (
    counted_words,
    row_of,
    stored_occurrences,
    words_of,
)
from bowerbird.model.accounts import Account
from bowerbird.model.arrival import Incoming, Placement
from bowerbird.model.events import EventType, Happening
from bowerbird.model.instants import UNKNOWN
from bowerbird.model.labels import name_key
from bowerbird.model.posts import bookmarks, traits
from bowerbird.model.posts.bookmarks import tags_json
from bowerbird.model.words import READING
from bowerbird.search.words.tokens import COUNTED_FORM, INDEX_FORM, index_form
from bowerbird.sources import own_json
from bowerbird.sources.own_json import InvalidRecord
from bowerbird.storage.checks import ORPHANS, StoredBookmark
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.libraries import LockedLibrary
from bowerbird.storage.stores import Service

# The content hash of lost content. No post has it, so the next import writes the post again.
_LOST: Final = bytes(16)
# The columns that have the time of a post, and those that have its article.
_TIME: Final = frozenset({"posted_at", "rendering", "content_hash"})
_ARTICLE: Final = frozenset({"media", "title_key", "rendering", "content_hash"})
_MAX_LENGTH: Final = 64


class Finding(Struct, frozen=True):
    """A stored value that differs from the expected one."""

    what: str
    stored: str
    expected: str
    is_fixable: bool = True


class Comparison:
    """A stored bookmark, and the post decoded from it."""

    def __init__(self, stored: StoredBookmark) -> None:
        self.stored = stored
        incoming = _post_of(stored)
        self.is_lost = incoming is None
        if incoming is None or incoming.post_id != stored.columns["post_id"]:
            incoming = _with_stored_id(stored, has_content=incoming is not None)
        self._incoming = incoming

    @property
    def name(self) -> str:
        return f"post {self.stored.columns['post_id']}"

    @property
    def is_fixable(self) -> bool:
        return self._incoming is not None

    @property
    def lacks_article(self) -> bool:
        """Whether an earlier release stored the post without the article that it quotes."""
        return self._incoming is not None and bookmarks.takes_article(self._incoming.record)

    @property
    def outdated(self) -> frozenset[str]:
        """The columns that an earlier release stored without time, quoted article or traits."""
        if self.is_lost:
            return frozenset()
        columns = _ARTICLE if self.lacks_article else frozenset()
        # A job looks for the traits of posts with words of an older form.
        is_older = self.stored.word_form < INDEX_FORM
        if is_older and self.stored.columns["media"] & traits.LOOKED_AT != traits.LOOKED_AT:
            columns |= {"media"}
        return columns | _TIME if self.stored.columns["posted_at"] == UNKNOWN else columns

    def words(self) -> str:
        assert self._incoming
        return words_of(self._incoming.record)

    def row(self, words: str | None) -> dict[str, Any]:
        """The row that an upsert would store for the bookmark. Without words it keeps its own."""
        assert self._incoming
        columns = self.stored.columns
        standing = Placement(
            sort_index=columns["sort_index"],
            imported_at=columns["imported_at"],
            bookmarked_at=columns["bookmarked_at"],
            is_read=bool(columns["is_read"]),
            is_archived=bool(columns["is_archived"]),
            completeness=columns["completeness"],
            order_source=columns["order_source"],
        )
        tags = tags_json(sorted(self.stored.label_names, key=name_key))
        row = row_of(self._incoming, standing, columns["number"], words, tags)
        if self.is_lost or columns["content_hash"] == _LOST:
            row["content_hash"] = _LOST
        return row

    def differences(self) -> list[Finding]:
        """Without those of outdated columns."""
        if not self.is_fixable:
            return [Finding(f"id of {self.name}", "not a number", "unknown", is_fixable=False)]
        if self.is_lost:
            stored = "none" if self.stored.columns["rendering"] is None else "invalid JSON"
            return [Finding(f"content of {self.name}", stored, "lost: import the post again")]
        expected, outdated = self.row(words=""), self.outdated
        found = [
            Finding(f"{column} of {self.name}", *_excerpts(value, expected[column]))
            for column, value in self.stored.columns.items()
            if value != expected[column] and column not in outdated
        ]
        if not self.stored.has_words:
            found.append(Finding(f"words of {self.name}", "none", cut(self.words())))
        return found


def cut(text: str) -> str:
    return ascii(text if len(text) <= _MAX_LENGTH else text[:_MAX_LENGTH] + "...")


def _post_of(stored: StoredBookmark) -> Incoming | None:
    rendering = stored.columns["rendering"]
    if rendering is None:
        return None
    try:
        return own_json.read(_closed(rendering), is_stored=True).incoming
    except InvalidRecord:
        return None


def _with_stored_id(stored: StoredBookmark, *, has_content: bool) -> Incoming | None:
    """The post with the id of its column, which lists and lookups use; None if that is invalid."""
    post: dict[str, Any] = {"tweet_details": {}}
    if has_content:
        post = msgspec.json.decode(_closed(stored.columns["rendering"]))
    post["post_id"] = stored.columns["post_id"]
    try:
        return own_json.read(msgspec.json.encode(post), is_stored=True).incoming
    except InvalidRecord:
        return None


def _closed(rendering: bytes) -> bytes:
    """A stored rendering as a complete JSON object, without the fields that reads append."""
    return rendering + b"}"


def _excerpts(stored: object, expected: object) -> tuple[str, str]:
    """Both values, shortened; long bytes are cut around the first difference."""
    if not isinstance(stored, bytes) or not isinstance(expected, bytes):
        return _printable(stored), _printable(expected)
    pairs = enumerate(zip(stored, expected, strict=False))
    start = max(0, next((place for place, (a, b) in pairs if a != b), 0) - _MAX_LENGTH // 4)
    end = start + _MAX_LENGTH
    return _printable(stored[start:end]), _printable(expected[start:end])


def _printable(value: object) -> str:
    if isinstance(value, bytes):
        return cut(value.decode("utf-8", "backslashreplace"))
    return "none" if value is None else cut(str(value))


_WORDS_PAGE: Final = 500
# A library that is in use may change while its words are counted.
_TRIES: Final = 5


class WordCountChecks(Service):
    def __init__(self, database: Database, *, fixes: bool) -> None:
        super().__init__(database)
        self._fixes = fixes
        self._counts = self._stores.word_counts

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
        found = await self._stores.accounts.by_id(account.account_id, month_of(system_clock()))
        return None if found is None else found.version

    async def _counted(self, account: Account) -> dict[str, int]:
        counts: Counter[str] = Counter()
        after = 0
        while page := await self._counts.counted_page(account, COUNTED_FORM, after, _WORDS_PAGE):
            renderings = [rendering for _, rendering in page]
            counts.update(await asyncio.to_thread(stored_occurrences, renderings))
            after = page[-1][0]
        return dict(counts)

    async def _is_unchanged(
        self, account: Account, version: int, stored: dict[str, int], expected: dict[str, int]
    ) -> bool:
        """Corrects the counts if fixing is on. False if the library has changed since."""

        async def work(transaction: Transaction) -> bool:
            library = await self._stores.libraries.lock_if_there(transaction, account.account_id)
            if library is None or library.version != version:
                return False
            if self._fixes:
                await self._counts.change(library, stored, expected)
                await self._stores.libraries.touch(library)
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


class Checks(Service):
    def __init__(self, database: Database, *, fixes: bool, is_deep: bool) -> None:
        super().__init__(database)
        self._word_counts = WordCountChecks(database, fixes=fixes)
        self._fixes, self._is_deep = fixes, is_deep

    async def leftovers(self) -> list[Finding]:
        found = await self._stores.checks.leftovers()
        if self._fixes:
            await self._stores.checks.delete_leftovers(found)
        findings = [Finding(f"{kind} rows of no account", str(n), "0") for kind, n in found.items()]
        if count := await self._stores.checks.libraries_without_person():
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
        numbers = await self._stores.checks.orphans(kind, account)
        if not numbers:
            return []
        await self._fix(
            account, lambda at: self._stores.checks.delete_orphans(at.transaction, kind, account)
        )
        return [Finding(_ORPHANS[kind], str(len(numbers)), "0")]

    async def _counts(self, account: Account) -> list[Finding]:
        """Stored counts of labels, vectors and kept images."""
        findings: list[Finding] = []
        for kind, words in _COUNTS.items():
            differing = await self._stores.checks.counts(kind, account)
            if differing:
                await self._fix(account, partial(self._fix_counts, kind=kind, account=account))
            findings += [
                Finding(words.format(name=name), str(stored), str(counted))
                for name, stored, counted in differing
            ]
        return findings

    async def _fix_counts(self, opened: LockedLibrary, *, kind: str, account: Account) -> None:
        await self._stores.checks.fix_counts(opened.transaction, kind, account)

    async def _counters(self, account: Account) -> list[Finding]:
        stored, expected = await self._stores.checks.counters(self._database.slow_rows, account)
        if stored == expected:
            return []

        async def change(opened: LockedLibrary) -> None:
            transaction = opened.transaction
            counters = await self._stores.checks.counters(transaction.rows, account)
            await self._stores.checks.fix_counters(transaction, account, counters[1])

        await self._fix(account, change)
        return [
            Finding(name, str(value), str(getattr(expected, name)))
            for name, value in msgspec.structs.asdict(stored).items()
            if value != getattr(expected, name)
        ]

    async def _bookmarks(self, account: Account, advance: Advance) -> list[Finding]:
        findings: list[Finding] = []
        after = 0
        while page := await self._stores.checks.page(account, after, _PAGE):
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
        form, words = comparison.stored.word_form, comparison.words()
        is_current = form in (INDEX_FORM, index_form())
        if not is_current or comparison.lacks_article or READING in words:
            # An earlier release wrote them, or perhaps an earlier dictionary. A job writes words of
            # another form again.
            return []
        if not await self._stores.checks.words_differ(account, comparison.stored, words):
            return []
        return [Finding(f"words of {comparison.name}", "other words", cut(words))]

    def _is_sampled(self, account: Account) -> bool:
        """Comparing words is slow, so without --deep only about a hundred posts are compared."""
        return self._is_deep or secrets.randbelow(max(account.total, 1)) < _SAMPLE_SIZE

    async def _rewrite(self, account: Account, numbers: Sequence[int]) -> None:
        async def change(opened: LockedLibrary) -> list[Happening]:
            stored = await self._stores.checks.by_numbers(opened.transaction, account, numbers)
            comparisons = [each for each in map(Comparison, stored) if each.is_fixable]
            rows = [comparison.row(comparison.words()) for comparison in comparisons]
            counted = await counted_words(self._database, opened, [row["number"] for row in rows])
            await self._stores.upserts.update(opened, rows, counted)
            await self._mark_vectors(opened.transaction, account, numbers)
            changed = [row["post_id"] for row in rows]
            return [Happening(EventType.POST_CHANGED, changed)] if changed else []

        await self._fix(account, change)

    async def _mark_vectors(
        self, transaction: Transaction, account: Account, numbers: Sequence[int]
    ) -> None:
        """The vectors of damaged posts may come from another text, so they are built again."""
        vectors = await self._stores.vectors.text_hashes(transaction, account.account_id, numbers)
        stale: dict[bytes, list[int]] = {}
        for number, model, _ in vectors:
            stale.setdefault(model, []).append(number)
        await self._stores.vectors.mark_stale(transaction, account.account_id, stale)

    async def _fix(
        self, account: Account, change: Callable[[LockedLibrary], Awaitable[list[Happening] | None]]
    ) -> None:
        """Changes a locked library and increments its version, if fixing is on."""
        if not self._fixes:
            return

        async def work(transaction: Transaction) -> None:
            opened = await self._stores.libraries.lock_if_there(transaction, account.account_id)
            if opened is not None:
                happened = await change(opened) or ()
                now = system_clock()
                await self._stores.libraries.touch(opened, happened, now)

        await self._database.write(work)
