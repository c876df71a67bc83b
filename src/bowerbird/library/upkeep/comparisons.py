"""Compares a stored bookmark with what an upsert would store, and counts of words with the posts.

The rendering is the truth about the post, the bookmark's columns about its position and flags,
and the attached labels about its tags. The upsert's own functions derive everything else.
"""

import asyncio
from collections import Counter
from typing import Any, Final

import msgspec
from msgspec import Struct

from bowerbird.clock import month_of, system_clock
from bowerbird.library.bookmarks.searching.counted_words import stored_occurrences
from bowerbird.library.bookmarks.writing.bookmark_row import row_of, words_of
from bowerbird.model.accounts import Account
from bowerbird.model.arrival import Incoming, Placement
from bowerbird.model.instants import UNKNOWN
from bowerbird.model.labels import name_key
from bowerbird.model.posts import bookmarks, traits
from bowerbird.model.posts.bookmarks import tags_json
from bowerbird.search.words.tokens import COUNTED_FORM
from bowerbird.sources import own_json
from bowerbird.sources.own_json import InvalidRecord
from bowerbird.storage.accounts.accounts import AccountStore
from bowerbird.storage.checks import StoredBookmark
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.libraries import LibraryStore
from bowerbird.storage.words.word_counts import WordCounts

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
        if self.stored.columns["media"] & traits.LOOKED_AT != traits.LOOKED_AT:
            columns |= {"media"}
        return columns | _TIME if self.stored.columns["posted_at"] == UNKNOWN else columns

    def words(self) -> str:
        assert self._incoming
        return words_of(self._incoming.record)

    def row(self, words: str) -> dict[str, Any]:
        """The row that an upsert would store for the bookmark."""
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
        while page := await self._counts.counted_page(account, COUNTED_FORM, after, _PAGE):
            renderings = [rendering for _, rendering in page]
            counts.update(await asyncio.to_thread(stored_occurrences, renderings))
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
                await self._counts.change(library, stored, expected)
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
