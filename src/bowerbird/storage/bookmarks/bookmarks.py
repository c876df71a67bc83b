"""Reads bookmarks. A page is ready-made JSON bytes: no object is built per post."""

from array import array
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec
from msgspec import Struct

from bowerbird.model.accounts import Account
from bowerbird.model.posts import media
from bowerbird.model.posts.bookmarks import (
    FLAGS,
    TAGS,
    UNTAGGED,
    UPDATED,
    bookmark_json,
    join_bookmarks,
    scored_json,
)
from bowerbird.model.posts.filters import SORT_FIELDS, After, BookmarkFilter, Sort
from bowerbird.storage.bookmarks.filters import (
    FRAGMENTS,
    narrowing,
    of_many,
    queries_in,
    starting_with_matches,
    walking_past_dates,
)
from bowerbird.storage.bookmarks.list_reads import MATCHES, PAST_DATES, WALK, ListRead
from bowerbird.storage.database import Database, Reader, Row, Transaction, WordRead, place_values
from bowerbird.storage.libraries import LockedLibrary

_COLUMNS: Final = {
    "created_at": "b.bookmarked_at",
    "title": "b.title_key",
    "author": "b.author_key",
}
_DEFAULT: Final = Sort()
_numbers: Final = msgspec.json.Decoder(list[int]).decode
# Longer lists of contents than a page are not read on the event loop.
LONGEST_LIST: Final = 100
# As hexadecimal digits: a colon in JSON would be parsed as the start of a parameter.
_CLOSINGS: Final[dict[str, Any]] = {
    "tags": TAGS.hex(),
    "updated": [text.hex() for text in UPDATED],
    "flags": [closing.hex() for closing in FLAGS],
    "untagged": [closing.hex() for closing in UNTAGGED],
}
_AFTER: Final = {
    # (descending, has a number)
    (True, True): "({sort}, b.number) < (:after_value, :after_number)",
    (True, False): "{sort} < :after_value",
    (False, True): "({sort}, b.number) > (:after_value, :after_number)",
    (False, False): "{sort} > :after_value",
}


_SPAN: Final = "b.number BETWEEN :first_number AND :last_number"


class Page(Struct, frozen=True):
    """Bookmarks as JSON, in order and separated by commas, and the cursor of the next page."""

    body: bytes
    count: int
    end: After | None


class BookmarkStore:
    def __init__(self, database: Database) -> None:
        self._database = database
        # SQLite alone has further statements for lists.
        self._sql = {**database.queries("bookmarks"), **database.queries("list_reads")}

    async def by_post_id(self, account: Account, post_id: str) -> tuple[bytes, int] | None:
        """The JSON of a bookmark, and how complete it is."""
        return await self._by_post_id(self._database, account, post_id)

    async def by_post_id_within(
        self, transaction: Transaction, account: Account, post_id: str
    ) -> bytes | None:
        found = await self._by_post_id(transaction, account, post_id)
        return found and found[0]

    async def _by_post_id(
        self, reader: Reader, account: Account, post_id: str
    ) -> tuple[bytes, int] | None:
        values = {"post_id": post_id, **place_values(account)}
        rows = await reader.rows(self._statement("by_post_id"), values)
        if not rows:
            return None
        completeness, *columns = rows[0]
        return bookmark_json(*columns), completeness

    async def page(
        self,
        account: Account,
        filter: BookmarkFilter,
        sort: Sort,
        after: After | None,
        limit: int,
        *,
        total: int | None = None,
    ) -> Page:
        """Reads one bookmark more than requested, to find out whether another page follows.

        `total`: how many bookmarks match, if that is known.
        """
        if filter.is_flags_only and SORT_FIELDS[sort.field].is_indexed:
            return await self._walked(account, filter, sort, after, limit)
        keys = await self._keys(account, ListRead(filter, sort, after, limit + 1, total))
        end = After(*keys[limit - 1]) if len(keys) > limit else None
        body, count = await self.contents(account, [number for _, number in keys[:limit]])
        return Page(body, count, end)

    async def before(
        self, account: Account, filter: BookmarkFilter, sort: Sort, after: After, limit: int
    ) -> After | None:
        """Where the page before `after` starts: after this bookmark; None if it is the first."""
        backwards = Sort(sort.field, not sort.descending)
        keys = await self._keys(account, ListRead(filter, backwards, after, limit))
        return After(*keys[-1]) if len(keys) == limit else None

    async def thread(self, account: Account, first_id: str, limit: int) -> tuple[bytes, int]:
        """The saved posts of a thread, by the id of its first post, and how many they are."""
        values = {"account_id": account.account_id, "thread": first_id, "limit": limit}
        rows = await self._database.lists(account).rows(self._statement("thread"), values)
        return await self.contents(account, [row[0] for row in rows])

    async def strands(
        self,
        account: Account,
        filter: BookmarkFilter,
        sort: Sort,
        threads: Sequence[str],
        limit: int,
    ) -> Sequence[Row]:
        """The posts of these threads that a list has, at most so many of each, in their order.

        A row has the thread, the author's key, the post, its number and state, and its place among
        the others in the order of the list.
        """
        fragments, values = narrowing(self._database, account, filter)
        values |= {"threads": threads, "limit": limit}
        # A first post that is not known to start a thread does not say that it belongs to one.
        values["starts"] = media.BITS["thread"]
        return await self._database.lists(account).slow_rows(
            self._statement("strands", *fragments, sort=sort), values
        )

    async def has_posts_without_traits(self, account: Account) -> bool:
        """Whether posts that an earlier release stored wait until a job has looked at them."""
        values = {"account_id": account.account_id}
        rows = await self._database.rows(self._statement("has_posts_without_traits"), values)
        return bool(rows[0][0])

    async def count(self, account: Account, filter: BookmarkFilter) -> int:
        fragments, values = narrowing(self._database, account, filter)
        fragments = starting_with_matches(filter, fragments)
        sql, many = self._statement("count", *fragments), ""
        if "wanted" in values and "filter_wanted_of_many" in self._sql:
            many = self._statement("count", *of_many(fragments))
        rows = await self._rows(account, sql, values, many)
        # SQLite has none if no post of the account has the words.
        return int(rows[0][0]) if rows else 0

    async def count_after(
        self, account: Account, filter: BookmarkFilter, sort: Sort, value: int | str
    ) -> int:
        """How many matches come after all those with a value of the sort field."""
        sql, values = self._ordered("count", account, ListRead(filter, sort, After(value), 0))
        return int((await self._rows(account, sql, values))[0][0])

    async def number_text(self, account: Account, filter: BookmarkFilter) -> str | None:
        """The numbers of all matches, separated by commas: one text is the fastest to transfer."""
        fragments, values = narrowing(self._database, account, filter)
        rows = await self._database.lists(account).slow_rows(
            self._statement("number_text", *fragments), values
        )
        text: str | None = rows[0][0]
        return text

    async def in_order(self, account: Account, numbers: Sequence[int], sort: Sort) -> Sequence[int]:
        """The given bookmarks in the order of a sort field."""
        values = {"account_id": account.account_id, "numbers": numbers}
        sql = self._statement("in_order", sort=sort)
        return [row[0] for row in await self._database.lists(account).slow_rows(sql, values)]

    async def first(
        self, account: Account, filter: BookmarkFilter, limit: int, sort: Sort = _DEFAULT
    ) -> list[int]:
        """The numbers of the first matches in an order."""
        read = ListRead(filter, sort, None, limit)
        return [number for _, number in await self._keys(account, read)]

    async def prints(self, account: Account, numbers: Sequence[int]) -> Sequence[Row]:
        """What shows that these bookmarks are copies (model/posts/traits.py), in any order.

        (number, sort index, print of the text, print of the links)
        """
        values = {"account_id": account.account_id, "numbers": numbers}
        lists = self._database.lists(account)
        read = lists.slow_rows if len(numbers) > LONGEST_LIST else lists.rows
        return await read(self._sql["prints"], values) if numbers else ()

    async def contents(
        self,
        account: Account,
        numbers: Sequence[int],
        scores: Sequence[float] = (),
        copies: Mapping[int, int] | None = None,
    ) -> tuple[bytes, int]:
        """The bookmarks with these numbers, in the given order, and how many of them exist.

        `scores`: one per number, to be shown with it. `copies`: how many posts some stand for.
        """
        if not numbers:
            return b"", 0
        values = {"numbers": numbers, **place_values(account)}
        lists = self._database.lists(account)
        read = lists.slow_rows if len(numbers) > LONGEST_LIST else lists.rows
        rows = await read(self._statement("contents"), values)
        found = {row[3]: row for row in rows}
        if scores:
            scored = zip(numbers, scores, strict=True)
            copies = copies or {}
            shown = [
                scored_json(found[number], score, copies.get(number, 1))
                for number, score in scored
                if number in found
            ]
            return b",".join(shown), len(found)
        return join_bookmarks(found[number] for number in numbers if number in found), len(found)

    async def joined_contents(self, account: Account, numbers: Sequence[int]) -> bytes:
        """The bookmarks with these numbers that exist, in the given order, as a reader joins them.

        Faster than `contents` for long lists: the event loop only passes the bytes on.
        """
        values = {"numbers": numbers, **place_values(account)}
        rows = await self._database.slow_rows(self._statement("joined_contents"), values)
        return rows[0][0] or b""

    async def content_sizes(self, account: Account, numbers: Sequence[int]) -> dict[int, int]:
        """The bytes of the stored JSON of these bookmarks, by number, without reading it."""
        values = {"numbers": numbers, **place_values(account)}
        rows = await self._database.slow_rows(self._statement("content_sizes"), values)
        return {row[0]: row[1] for row in rows}

    async def each(self, account: Account, numbers: Sequence[int]) -> dict[int, bytes]:
        """The bookmarks with these numbers as JSON, by number."""
        values = {"numbers": numbers, **place_values(account)}
        rows = await self._database.rows(self._statement("contents"), values)
        return {row[3]: bookmark_json(*row[:3]) for row in rows}

    async def by_post_ids(self, account: Account, post_ids: Sequence[str]) -> dict[str, bytes]:
        """The bookmarks of these posts as JSON, by post. For a page of them."""
        values = {"post_ids": post_ids, **place_values(account)}
        rows = await self._database.rows(self._statement("by_post_ids"), values)
        return {row[0]: bookmark_json(*row[1:]) for row in rows}

    async def contents_of(self, library: LockedLibrary, numbers: Sequence[int]) -> dict[int, bytes]:
        values = {"numbers": numbers, "account_id": library.account_id, "place": library.place}
        rows = await library.transaction.rows(self._statement("contents"), values)
        return {row[3]: bookmark_json(*row[:3]) for row in rows}

    async def post_ids(
        self, account: Account, filter: BookmarkFilter, numbers: Sequence[int] | None = None
    ) -> list[str]:
        """The posts of every match in one consistent read, or of these numbers."""
        if numbers is not None:
            of = {"account_id": account.account_id, "numbers": numbers}
            rows = await self._database.slow_rows(self._statement("posts_of_numbers"), of)
            found = {row[0]: row[1] for row in rows}
            return [found[number] for number in numbers if number in found]
        fragments, values = narrowing(self._database, account, filter)
        rows = await self._database.slow_rows(self._statement("post_ids", *fragments), values)
        return [row[0] for row in rows]

    async def matching(
        self, reader: Reader, account: Account, filter: BookmarkFilter, span: tuple[int, int]
    ) -> list[str]:
        """The matches among the posts of these numbers, inside a transaction or outside of one.

        Of an index of words, SQLite reads only these posts.
        """
        first, last = span
        fragments, values = narrowing(self._database, account, filter)
        values |= {"first_number": first, "last_number": last}
        values["place_end"] = values["place"] + last
        values["place_from"] = values["place"] + first
        rows = await reader.rows(self._statement("post_ids", _SPAN, *fragments), values)
        return [row[0] for row in rows]

    async def numbers(
        self, account: Account, filter: BookmarkFilter, post_ids: Sequence[str] | None
    ) -> Sequence[int]:
        """Every match in one consistent read, among these posts or all, in order of arrival."""
        if post_ids is not None:
            filter = msgspec.structs.replace(filter, post_ids=tuple(post_ids))
        text = await self.number_text(account, filter)
        # The fastest way from a text to numbers, on the event loop.
        return array("q", sorted(_numbers(f"[{text or ''}]")))

    async def _walked(
        self, account: Account, filter: BookmarkFilter, sort: Sort, after: After | None, limit: int
    ) -> Page:
        sql, values = self._ordered("page", account, ListRead(filter, sort, after, limit))
        # Both flags or none have an index of exactly these rows, and so have archived posts; others
        # may skip many rows.
        has_index = filter.unread_only == filter.hide_archived
        if filter.archived_only:
            has_index = not filter.unread_only and not filter.hide_archived
        is_bounded = sort.field == "sort_index" and has_index
        lists = self._database.lists(account)
        read = lists.rows if is_bounded else lists.slow_rows
        rows = sorted(await read(sql, values), key=lambda row: row[0])
        _, body, count, _ = rows[0]
        # If there is a second key, it starts the next page, and the first key ends this page.
        end = After(*rows[1][2:]) if len(rows) > 2 else None  # noqa: PLR2004 - body and two keys
        return Page(body or b"", count, end)

    async def _keys(self, account: Account, read: ListRead) -> Sequence[Row]:
        sql, values = self._ordered(read.statement(account), account, read)
        return await self._rows(account, sql, values)

    async def _rows(
        self, account: Account, sql: str, values: dict[str, Any], of_many: str = ""
    ) -> Sequence[Row]:
        queries = queries_in(values)
        lists = self._database.lists(account)
        if not queries:
            return await lists.slow_rows(sql, values)
        return await lists.word_rows(WordRead(sql, values, account, queries, of_many))

    def _ordered(self, name: str, account: Account, read: ListRead) -> tuple[str, dict[str, Any]]:
        fragments, values = narrowing(self._database, account, read.filter)
        if name == MATCHES:
            fragments = starting_with_matches(read.filter, fragments)
        elif name == PAST_DATES and MATCHES in self._sql:
            fragments = walking_past_dates(fragments)
        if name not in self._sql:
            name = WALK
        values["limit"] = read.limit
        has_number = None
        if read.after is not None:
            has_number = read.after.number is not None
            values["after_value"], values["after_number"] = read.after.value, read.after.number
        return self._statement(name, *fragments, sort=read.sort, has_number=has_number), values

    def _statement(
        self,
        name: str,
        *fragments: str,
        sort: Sort = _DEFAULT,
        has_number: bool | None = None,
    ) -> str:
        """The text of a query, the same for the same filters, so that drivers keep it prepared."""
        column = _COLUMNS.get(sort.field, f"b.{sort.field}")
        conditions = [FRAGMENTS.get(f) or self._sql.get(f"filter_{f}", f) for f in fragments]
        if has_number is not None:
            conditions.append(_AFTER[sort.descending, has_number].format(sort=column))
        return self._sql[name].format(
            filters=" AND ".join(conditions) or "TRUE",
            sort=column,
            direction="DESC" if sort.descending else "ASC",
            **_CLOSINGS,
        )
