"""Which posts a change of many posts is for, and why. They are read once, before it starts.

Posts can match the words of a change only by names, link titles or alt texts.
"""

import asyncio
import re
from collections.abc import Sequence
from html import unescape
from typing import Final, NamedTuple

import msgspec
from msgspec import Struct

from bowerbird.clock import Clock
from bowerbird.errors import Code, Refusal
from bowerbird.library.access import plans
from bowerbird.library.bookmarks.bookmarks import is_post_id
from bowerbird.library.bookmarks.searching import post_texts
from bowerbird.library.bookmarks.searching.label_words import LabelWords
from bowerbird.library.bookmarks.searching.post_texts import fields_of, texts_of
from bowerbird.library.bookmarks.searching.ranking import Rankings
from bowerbird.library.bookmarks.trash import TrashSearch
from bowerbird.library.bookmarks.writing.trash_batch import KEPT
from bowerbird.library.bulk.changes import packed_parts
from bowerbird.library.vectors.semantic_search import SemanticSearch
from bowerbird.library.views.views import Views
from bowerbird.model.accounts import Account
from bowerbird.model.posts.bookmarks import Bookmark
from bowerbird.model.posts.filters import BookmarkFilter
from bowerbird.model.words import Part, Term, WordQuery
from bowerbird.requests import limits
from bowerbird.requests.bulk import BulkRequest, ChangeFilters, given
from bowerbird.requests.fields import gates_for
from bowerbird.requests.filters import check_order, filter_of, has_days, sent
from bowerbird.search.queries.highlights import Highlighter
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.stores import TimedService

_EVERYTHING: Final = BookmarkFilter(unread_only=False, hide_archived=False)
_EXAMPLES: Final = 5
EXAMPLE_CHARACTERS: Final = 140
_READ_TOGETHER: Final = 200
_raws: Final = msgspec.json.Decoder(list[msgspec.Raw]).decode
_bookmarks: Final = msgspec.json.Decoder(list[Bookmark]).decode


class Example(Struct, frozen=True):
    """One of the bookmarks that a change would change."""

    post_id: str = msgspec.field(name="tweet_id")
    """Identifier of the saved post: digits, as text."""
    author_username: str
    text: str
    """The beginning of the text."""
    why: str | None = None
    """Why it matches q: the words around the hit, or by name of the author; null without q."""


class Chosen(Struct, frozen=True):
    """The posts of a change, some per text as they are stored, and the first of them."""

    parts: Sequence[bytes]
    count: int
    first: Sequence[str]
    # Of the library, before the posts were read.
    version: int | None
    # Ids of the request that are not where the action looks for them, in its order.
    not_found: Sequence[str] = ()
    # Posts with the words elsewhere than in their texts, which `text_only` leaves out.
    left_out: int = 0
    words: WordQuery | None = None


class _Matching(NamedTuple):
    post_ids: Sequence[str]
    left_out: int = 0
    words: WordQuery | None = None


class BulkSelection(TimedService):
    def __init__(
        self, database: Database, clock: Clock, views: Views, meaning: SemanticSearch
    ) -> None:
        super().__init__(database, clock)
        self._search = TrashSearch(database, clock)
        self._labels = LabelWords(database)
        self._rankings = Rankings(database, meaning)
        self._meaning = meaning
        self._views = views

    async def choose(
        self, account: Account, request: BulkRequest, *, rule: Sequence[Part] | None = None
    ) -> Chosen:
        """Reads the posts that match now. Posts that are saved later are not among them.

        `rule`: the request is that of a rule, with these conditions besides its query.
        """
        if request.label_name is not None:
            plans.check_writes(account)
        version = await self._stores.libraries.version(self._library(account.account_id))
        if version is not None:
            # Of what is kept in memory, only the present may count.
            account = msgspec.structs.replace(account, version=version)
        post_ids, left_out, words = await self._chosen(account, request, rule)
        if len(post_ids) > limits.CHANGE_POSTS_MAX:
            raise Refusal(
                Code.INVALID_REQUEST,
                f"One change can have {limits.CHANGE_POSTS_MAX:,} posts, and "
                f"{len(post_ids):,} match. Narrow the filters.",
            )
        self.check_count(request.expected_count, len(post_ids), left_out)
        parts = await asyncio.to_thread(packed_parts, post_ids)
        found = frozenset(post_ids) if request.post_ids else frozenset()
        not_found = [one for one in request.post_ids or () if one not in found]
        return Chosen(
            parts, len(post_ids), post_ids[:_EXAMPLES], version, not_found, left_out, words
        )

    def check_count(self, expected: int | None, count: int, left_out: int = 0) -> None:
        """Refuses a change of another number of posts than somebody expects."""
        if expected is not None and count != expected:
            raise Refusal(
                Code.COUNT_MISMATCH,
                f"expected_count is {expected:,}, but {count:,} posts match. Nothing was changed."
                f"{_elsewhere(left_out)}",
            )

    async def is_current(self, transaction: Transaction, account: Account, chosen: Chosen) -> bool:
        """Whether nobody has changed the library since the posts were read. Locks it."""
        library = await self._stores.libraries.lock(transaction, account.account_id)
        return library.version == chosen.version

    async def examples(
        self, account: Account, request: BulkRequest, chosen: Chosen
    ) -> list[Example]:
        """Some of the bookmarks, for people who decide whether to go on."""
        if request.action == "restore":
            oldest = self._clock() - KEPT
            found = await self._stores.trash.contents(account.account_id, chosen.first, oldest)
            body = b",".join(found[one] for one in chosen.first if one in found)
        else:
            only = msgspec.structs.replace(_EVERYTHING, post_ids=tuple(chosen.first))
            numbers = await self._stores.bookmarks.numbers(account, only, None)
            body, _ = await self._stores.bookmarks.contents(account, list(numbers))
        found_posts = b"[" + body + b"]"
        why = whys([bytes(one) for one in _raws(found_posts)], chosen.words)
        return [
            Example(
                one.post_id,
                one.author_username,
                one.tweet_details.text[:EXAMPLE_CHARACTERS],
                reason,
            )
            for one, reason in zip(_bookmarks(found_posts), why, strict=True)
        ]

    async def _chosen(
        self, account: Account, request: BulkRequest, rule: Sequence[Part] | None
    ) -> _Matching:
        if request.action == "restore" or request.post_ids is not None:
            return _Matching(await self._named(account, request))
        filter = await self._filter(account, request)
        resolved = await self._labels.resolved(account, filter, is_of_rule=rule is not None)
        found = await self._matching(account, resolved.narrowed(rule or ()))
        words, filters = filter.words, request.filters
        if words is None or not words.wanted_terms or filter.meaning is not None:
            return _Matching(found)
        if filters is None or filters.text_only is False or len(found) > limits.CHANGE_POSTS_MAX:
            return _Matching(found, words=words)
        in_texts = await self._in_texts(account, found, words)
        kept = [one for one in found if one in in_texts]
        return _Matching(kept, len(found) - len(kept), words)

    async def _in_texts(
        self, account: Account, post_ids: Sequence[str], words: WordQuery
    ) -> set[str]:
        """The posts whose own texts have the words. They are in one index with names and titles."""
        found: set[str] = set()
        for first in range(0, len(post_ids), _READ_TOGETHER):
            some = tuple(post_ids[first : first + _READ_TOGETHER])
            only = msgspec.structs.replace(_EVERYTHING, post_ids=some)
            numbers = await self._stores.bookmarks.numbers(account, only, None)
            body, _ = await self._stores.bookmarks.contents(account, list(numbers))
            found |= await asyncio.to_thread(in_texts, body, words)
        return found

    async def _named(self, account: Account, request: BulkRequest) -> Sequence[str]:
        """The posts that a request names, or that are in the trash."""
        named = request.post_ids
        if request.action == "restore":
            filters = request.filters
            if filters is not None:
                values = {name: getattr(filters, name) for name in given(filters)}
                plans.check_fields(account, gates_for(ChangeFilters, values))
                if (narrow := await self._search.filter(account, filters)) is not None:
                    found = await self._search.found(account, narrow)
                    return [one.post_id for one in reversed(found)]
            in_trash = await self._stores.trash.post_ids(account.account_id, self._clock() - KEPT)
            wanted = None if named is None else frozenset(named)
            return [one for one in in_trash if wanted is None or one in wanted]
        ids = tuple(one for one in named or () if is_post_id(one))
        only = msgspec.structs.replace(_EVERYTHING, post_ids=ids)
        return await self._stores.bookmarks.post_ids(account, only) if ids else []

    async def _filter(self, account: Account, request: BulkRequest) -> BookmarkFilter:
        if request.view is not None:
            return await self._views.filter(account, request.view, request.bucket)
        assert request.filters is not None
        plans.check_fields(account, gates_for(ChangeFilters, sent(request.filters)))
        zone = await self.zone(account) if has_days(request.filters) else None
        filter = filter_of(request.filters, self._clock(), zone)
        check_order(filter)
        return filter

    async def _matching(self, account: Account, filter: BookmarkFilter) -> Sequence[str]:
        if filter.meaning is not None:
            store = await self._meaning.require(account)
            numbers = await self._rankings.numbers(account, filter, store, is_ordered=True)
            return await self._stores.bookmarks.post_ids(account, filter, list(numbers))
        if filter.words is not None and filter.words.is_empty:
            return []
        return await self._stores.bookmarks.post_ids(account, filter)


def _elsewhere(left_out: int) -> str:
    if not left_out:
        return ""
    return (
        f" {left_out:,} more have the words only in names, link titles or alt texts, or match only "
        "by an abbreviation that a post explains; text_only false includes them."
    )


_OWN: Final = ("article.", "note", "highlights.", "quoted_tweet.text", "quoted_tweet.article.")
_MARK: Final = re.compile("</?mark>")
_ELSEWHERE: Final = (
    ("attachments.alt_text", "in the description of an image: "),
    ("attachments.domain", "by the site that it links to: "),
    ("attachments.", "in the title of a link: "),
    ("image_texts.", "in the text of an image: "),
    ("note", "in your note: "),
    ("highlights.", "in your highlight: "),
)
_BY_NAME: Final = "by name of the author"
_AUTHOR: Final = ("author_username", "author_details.name")


def whys(bookmarks: Sequence[bytes], query: WordQuery | None) -> list[str | None]:
    """Per bookmark the words around the hit, or the name that matches; None without words."""
    if query is None or not query.wanted_terms:
        return [None] * len(bookmarks)
    highlighter = Highlighter(query, len(bookmarks))
    return [_why(one, highlighter) for one in bookmarks]


def _why(bookmark: bytes, highlighter: Highlighter) -> str | None:
    found = highlighter.highlight(fields_of(texts_of(bookmark)))
    if found is None:
        return None
    if found.field.endswith(_AUTHOR):
        return _BY_NAME
    snippet = unescape(_MARK.sub("", found.html))
    place = found.field.removeprefix("quoted_tweet.")
    return next((said for name, said in _ELSEWHERE if place.startswith(name)), "") + snippet


def in_texts(body: bytes, query: WordQuery) -> set[str]:
    """The posts, among these bookmarks, that match by their texts or the names of their labels."""
    words = [_quick(part) for part in query.parts]
    quick = None if None in words else [one for one in words if one is not None]
    found = set()
    for raw in _raws(b"[%b]" % body):
        post = texts_of(bytes(raw))
        fields = [one for one in fields_of(post) if _is_own(one[0])]
        if _matches(fields, post.tags or (), query, quick):
            found.add(post.post_id)
    return found


def _is_own(name: str) -> bool:
    return name == "text" or name.startswith(_OWN)


def _quick(part: object) -> re.Pattern[str] | None:
    """Finds a plain word without reading a text as the index does; None for anything else."""
    if not isinstance(part, Term) or part.is_excluded or len(part.tokens) != 1:
        return None
    word = part.tokens[0]
    return (
        re.compile(rf"(?<!\S){word}(?![^\s.,;:!?])") if word.isascii() and word.isalpha() else None
    )


def _matches(
    fields: Sequence[tuple[str, str]],
    labels: Sequence[str],
    query: WordQuery,
    quick: Sequence[re.Pattern[str]] | None,
) -> bool:
    if quick is not None:
        text = "\n".join(text for _, text in fields).lower()
        if all(one.search(text) for one in quick):
            return True
    # The database has checked the conditions.
    return post_texts.matches(
        post_texts.indexed(fields, labels), query.parts, lambda one: not one.is_excluded
    )
