"""The posts with notes and highlights of their owner: by post, searched, and one for each day."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import date
from typing import Final, Literal

import msgspec
from msgspec import Struct

from bowerbird.library.access import plans
from bowerbird.library.bookmarks import cursors
from bowerbird.library.bookmarks.bookmarks import Bookmarks
from bowerbird.library.bookmarks.cursors import Keyset
from bowerbird.library.bookmarks.searching.post_texts import texts_of
from bowerbird.model.accounts import Account
from bowerbird.model.posts.filters import After, BookmarkFilter, Sort
from bowerbird.model.words import Term, WordQuery
from bowerbird.requests.bookmarks import ListQuery
from bowerbird.requests.fields import gates_for
from bowerbird.search.queries.highlights import merge_overlaps
from bowerbird.search.queries.term_spans import Span, TermSpans
from bowerbird.search.words.languages import language_of_texts
from bowerbird.storage.bookmarks.bookmarks import Page
from bowerbird.storage.database import Database
from bowerbird.storage.libraries import LockedLibrary
from bowerbird.storage.stores import Service

Kind = Literal["both", "highlights", "notes"]
PER_PAGE: Final = 20
_READ_AT_ONCE: Final = 100
# The index finds words anywhere in a post, so some of these posts do not have them in a note.
_SEARCHED_MAX: Final = 5 * _READ_AT_ONCE
# In microseconds. Beyond it, posts with the words are listed without looking where they are.
_COST_MAX: Final = 100_000
# Few posts have the text that the index looks for in another place.
_CANDIDATES: Final = 5
# Of more posts, those that were left out first can come again.
_NOT_AGAIN_MAX: Final = 1_000
_SORT: Final = Sort()


class AnnotatedPost(Struct, frozen=True):
    """`found`: where the words of a search are, by the text of the note, passage or comment."""

    bookmark: bytes
    found: Mapping[str, Sequence[Span]] = {}


class AnnotatedPage(Struct, frozen=True):
    posts: Sequence[AnnotatedPost]
    next_cursor: str | None


class AnnotationCounts(Struct, frozen=True):
    posts: int
    notes: int
    highlights: int


_posts: Final = msgspec.json.Decoder(list[msgspec.Raw]).decode


class AnnotatedPosts(Service):
    def __init__(self, database: Database, bookmarks: Bookmarks) -> None:
        super().__init__(database)
        self._bookmarks = bookmarks

    async def counts(self, account: Account) -> AnnotationCounts:
        highlights = await self._stores.annotations.highlight_count(account)
        posts = await self._bookmarks.total(account, _filter("both"))
        notes = await self._bookmarks.total(account, _filter("notes"))
        return AnnotationCounts(posts, notes, highlights)

    async def page(
        self, account: Account, kind: Kind, search: str = "", cursor: str | None = None
    ) -> AnnotatedPage:
        """The latest first. A page of a search may be short or empty and have a next one."""
        query = cursors.query_of(account.account_id, "annotated", kind, search)
        after = None if cursor is None else cursors.read_after(cursor, query, _SORT)
        filter, words = _filter(kind), None
        if search:
            plans.check_fields(account, gates_for(ListQuery, {"q": search}))
            words = (await self._bookmarks.filter(account, ListQuery(q=search))).words
            filter = msgspec.structs.replace(filter, words=words)
            filter = await self._bookmarks.labels.resolved(account, filter)
            words = filter.words
        if words is not None and words.is_empty:
            return AnnotatedPage([], None)
        if words is None or not words.wanted_terms:
            page = await self._read(account, filter, after, PER_PAGE)
            posts = [AnnotatedPost(one) for one in _split(page)]
        else:
            page, posts = await self._searched(account, filter, words, after)
        if page.end is None or page.end.number is None:
            return AnnotatedPage(posts, None)
        end = Keyset(page.end.value, page.end.number)
        return AnnotatedPage(posts, cursors.write(end, query))

    async def all(self, account: Account, kind: Kind) -> AsyncIterator[list[bytes]]:
        """Every post, some at a time."""
        page = await self._read(account, _filter(kind), None, _READ_AT_ONCE)
        yield _split(page)
        while page.end is not None:
            page = await self._read(account, _filter(kind), page.end, _READ_AT_ONCE)
            yield _split(page)

    async def of_day(self, account: Account, day: date, skipped: int = 0) -> tuple[bytes, int]:
        """A post to look at again, the same for the whole day, and a number to choose a passage.

        `skipped`: how many came before it on that day; after the last the first comes again. If
        there is none, b"".
        """
        text = f"{account.account_id} {day.isoformat()}".encode()
        chosen = int.from_bytes(hashlib.blake2b(text, digest_size=8).digest())
        limit = skipped + _CANDIDATES
        numbers = await self._stores.annotations.in_order_of_day(account, chosen, limit)
        first = skipped % max(len(numbers), 1)
        body, _ = await self._stores.bookmarks.contents(
            account, numbers[first : first + _CANDIDATES]
        )
        found = (one for one in _split(Page(body, 0, None)) if _read_texts(one))
        return next(found, b""), chosen

    async def show_again(self, account: Account, post_id: str, *, is_wanted: bool) -> None:
        """Whether a post may be the one of a day. Nothing happens if the library lacks it."""
        found = await self._stores.bookmarks.numbers(account, _filter("both"), [post_id])

        async def work(library: LockedLibrary) -> None:
            before = await self._stores.annotations.not_again(library)
            numbers = [number for number in before if number not in found]
            if not is_wanted:
                numbers = [*numbers, *found][-_NOT_AGAIN_MAX:]
            await self._stores.annotations.set_not_again(library, numbers)

        if found:
            await self._locked(account.account_id, work, is_service=True)

    async def _read(
        self, account: Account, filter: BookmarkFilter, after: After | None, limit: int
    ) -> Page:
        total = await self._bookmarks.total(account, filter)
        if not total:
            return Page(b"", 0, None)
        return await self._stores.bookmarks.page(account, filter, _SORT, after, limit, total=total)

    async def _searched(
        self, account: Account, filter: BookmarkFilter, words: WordQuery, after: After | None
    ) -> tuple[Page, list[AnnotatedPost]]:
        search, found, read = _Search(words), list[AnnotatedPost](), 0
        while True:
            page = await self._read(account, filter, after, _READ_AT_ONCE)
            # On a thread: a page of long notes takes milliseconds.
            found += await asyncio.to_thread(search.matching, _split(page))
            read += _READ_AT_ONCE
            after = page.end
            if after is None or len(found) >= PER_PAGE or read >= _SEARCHED_MAX:
                return page, found


class _Search:
    """Finds the words of a query in notes, passages and comments."""

    def __init__(self, words: WordQuery) -> None:
        terms = words.wanted_terms
        self._spans = TermSpans(terms)
        # A post needs all of these, or else one of the terms.
        self._needed = {
            terms.index(part)
            for part in words.parts
            if isinstance(part, Term) and not part.is_excluded
        }

    def matching(self, bookmarks: Sequence[bytes]) -> list[AnnotatedPost]:
        found = []
        for bookmark in bookmarks:
            texts = _read_texts(bookmark)
            if self._spans.pieces.cost > _COST_MAX:
                found.append(AnnotatedPost(bookmark))
                continue
            language = language_of_texts(texts)
            by_text = {text: self._spans.in_section(text, language) for text in texts}
            matched = {term for spans in by_text.values() for term, one in enumerate(spans) if one}
            if matched and self._needed <= matched:
                places = {
                    text: merge_overlaps([span for one in spans for span in one])
                    for text, spans in by_text.items()
                }
                found.append(AnnotatedPost(bookmark, places))
        return found


def _filter(kind: Kind) -> BookmarkFilter:
    return BookmarkFilter(unread_only=False, hide_archived=False, annotated=kind)


def _split(page: Page) -> list[bytes]:
    return [bytes(raw) for raw in _posts(b"[%b]" % page.body)]


def _read_texts(bookmark: bytes) -> list[str]:
    """The note, the passages that are marked, and the comments on them."""
    post = texts_of(bookmark)
    texts = [post.note, *(text for one in post.highlights for text in (one.quote, one.comment))]
    return [text for text in texts if text]
