"""Every page of every list is the part of a plain sort that it must be, in both directions."""

import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest

from bowerbird.model import instants
from bowerbird.model.accounts import Account
from bowerbird.model.posts.filters import SORT_FIELDS, After, BookmarkFilter, Sort
from bowerbird.storage.bookmarks.bookmarks import BookmarkStore
from bowerbird.storage.bookmarks.list_reads import (
    MATCHES,
    PAST_DATES,
    SCAN,
    WALK,
    ListRead,
)
from tests.support import databases, make, service

pytestmark = pytest.mark.anyio

Record = dict[str, Any]

POSTS = 110
LIMIT = 14
COUNTS = ("favorite_count", "retweet_count", "reply_count", "quote_count", "bookmark_count")
# Folded, in no alphabet's order, and with characters beyond the first 65,536.
TITLES = ("zebra", "äpfel", "apple", "日本語", "😀 face", "", "zebra crossing", "\ufffd", "é")


def count(name: str) -> Callable[[Record], Any]:
    def value(post: Record) -> Any:
        return post["tweet_details"]["meta"]["non_real_time_engagement_metrics"][name]

    return value


VALUES: dict[str, Callable[[Record], Any]] = {
    "sort_index": lambda post: post["sort_index"],
    "created_at": lambda post: instants.parse(post["bookmarked_at"]),
    "posted_at": lambda post: instants.parse(post["tweet_details"]["posted_at"]),
    "imported_at": lambda post: instants.parse(post["imported_at"]),
    "title": lambda post: post["tweet_details"]["text"],
    "author": lambda post: post["author_username"],
    **{name: count(name) for name in COUNTS},
}
FLAGS = {
    "unread and not archived": BookmarkFilter(),
    "all": BookmarkFilter(unread_only=False, hide_archived=False),
    "unread": BookmarkFilter(hide_archived=False),
    "not archived": BookmarkFilter(unread_only=False),
    "archived": BookmarkFilter(unread_only=False, hide_archived=False, archived_only=True),
}


# The statements have the same text for all flags but these.
WIDEST_FLAGS = ("unread and not archived", "archived")


class Narrowing(NamedTuple):
    fields: dict[str, Any]
    matches: Callable[[Record], bool]


TENTH_OF_JANUARY = instants.parse("2026-01-10T00:00:00Z")
TWENTIETH_OF_MARCH = instants.parse("2026-03-20T00:00:00Z")
NARROWINGS = {
    "nothing else": Narrowing({}, lambda _: True),
    "an author": Narrowing(
        {"author": "mia"},
        lambda post: "mia" in (post["author_username"], post["author_details"]["name"].lower()),
    ),
    "a label": Narrowing({"tag": "often"}, lambda post: "Often" in post["tags"]),
    "a rare label": Narrowing({"tag": "rare"}, lambda post: "Rare" in post["tags"]),
    "a media type": Narrowing(
        {"media_bit": 4}, lambda post: bool(post["tweet_details"]["attachments"])
    ),
    "a label and an author": Narrowing(
        {"tag": "often", "author": "ada"},
        lambda post: "Often" in post["tags"] and post["author_username"] == "ada",
    ),
    "dates": Narrowing(
        {"posted_from": TENTH_OF_JANUARY, "bookmarked_to": TWENTIETH_OF_MARCH},
        lambda post: (
            VALUES["posted_at"](post) > TENTH_OF_JANUARY
            and VALUES["created_at"](post) < TWENTIETH_OF_MARCH
        ),
    ),
}


class Shelf(NamedTuple):
    """An account, and its posts in the order of their numbers."""

    account: Account
    posts: list[Record]

    def sorted(self, filter: BookmarkFilter, narrowing: Narrowing, sort: Sort) -> list[str]:
        """The posts of a list, as Python sorts them."""
        found = [
            (VALUES[sort.field](post), number, post["post_id"])
            for number, post in enumerate(self.posts)
            if is_visible(post, filter) and narrowing.matches(post)
        ]
        return [post_id for _, _, post_id in sorted(found, reverse=sort.descending)]


class Shelves(NamedTuple):
    store: BookmarkStore
    shelves: dict[str, Shelf]


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
async def library(
    request: pytest.FixtureRequest,
    sqlite_template: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[Shelves]:
    if request.param == "sqlite":
        fresh = databases.fresh_sqlite(sqlite_template, tmp_path_factory.mktemp("orders"))
    else:
        fresh = databases.fresh_postgres(request.getfixturevalue("postgres"))
    async with fresh as database:
        built = await service.build(database)
        shelves = {}
        for name, member, unread in (
            ("mostly read", built.alice, 11),
            ("mostly unread", built.bob, 1),
        ):
            posts = [record(number, unread) for number in range(POSTS)]
            await member.save_all(posts)
            shelves[name] = Shelf(await member.account(), posts)
        yield Shelves(BookmarkStore(database), shelves)


def record(number: int, unread: int) -> Record:
    """Every order has ties, and none is the order of another."""
    return make.post(
        sort_index=number * 7 % 50,
        text=TITLES[number * 5 % len(TITLES)],
        author=("ada", "mia", "zoë", "bob")[number % 4],
        name=("Ada L.", "M", "Mia", "Bob")[number % 4],
        tags=["Often"] * (number % 3 > 0) + ["Rare"] * (number % 29 == 3),
        attachments=[{"type": "animated_gif"}] if number % 5 == 2 else [],
        is_read=number % unread != 0 if unread > 1 else number % 13 == 0,
        is_archived=number % 7 == 0,
        posted_at=f"2026-01-{1 + number * 3 % 28:02}T00:00:00Z",
        imported_at=f"2026-02-{1 + number * 5 % 28:02}T00:00:00",
        bookmarked_at=f"2026-03-{1 + number * 11 % 28:02}T00:00:00Z",
        metrics={
            name: number * factor % 17
            for name, factor in zip(COUNTS, (3, 5, 7, 11, 13), strict=True)
        },
    )


def is_visible(post: Record, filter: BookmarkFilter) -> bool:
    return not (
        (filter.unread_only and post["is_read"])
        or (filter.hide_archived and post["is_archived"])
        or (filter.archived_only and not post["is_archived"])
    )


def ids(body: bytes) -> list[str]:
    return [post["post_id"] for post in json.loads(b"[" + body + b"]")]


def sorts(narrowing: str) -> list[Sort]:
    """Every order of a whole list. For a part of it one count and one direction are enough."""
    if narrowing == "nothing else":
        return [Sort(field, down) for field in SORT_FIELDS for down in (True, False)]
    fields = [field for field in SORT_FIELDS if field not in COUNTS[1:]]
    first = list(NARROWINGS).index(narrowing)
    return [Sort(field, (first + place) % 2 == 0) for place, field in enumerate(fields)]


# SQLite chooses its statements by the number of posts; PostgreSQL always has the same.
@pytest.mark.parametrize(
    ("library", "name"),
    [("sqlite", "mostly read"), ("sqlite", "mostly unread"), ("postgres", "mostly unread")],
    indirect=["library"],
)
@pytest.mark.parametrize("narrowing", NARROWINGS)
async def test_a_crawl_in_any_order_is_a_sort(library: Shelves, name: str, narrowing: str) -> None:
    shelf, narrowed = library.shelves[name], NARROWINGS[narrowing]
    for flags in FLAGS.values():
        filter = msgspec.structs.replace(flags, **narrowed.fields)
        for sort in sorts(narrowing):
            expected = shelf.sorted(filter, narrowed, sort)
            ends = await crawled(library.store, shelf, filter, sort, expected)
            await check_backwards(library.store, shelf, filter, sort, ends)


async def crawled(
    store: BookmarkStore, shelf: Shelf, filter: BookmarkFilter, sort: Sort, expected: list[str]
) -> list[After]:
    """Reads a list page by page; returns the ends of the pages."""
    ends: list[After] = []
    found: list[str] = []
    after: After | None = None
    while True:
        page = await store.page(shelf.account, filter, sort, after, LIMIT, total=len(expected))
        found += ids(page.body)
        assert found == expected[: len(found)], (filter, sort)
        after = page.end
        if after is None:
            break
        assert page.count == LIMIT
        ends.append(after)
    assert found == expected, (filter, sort)
    return ends


async def check_backwards(
    store: BookmarkStore, shelf: Shelf, filter: BookmarkFilter, sort: Sort, ends: list[After]
) -> None:
    """Each page knows where the page before it starts."""
    starts = [None, *ends]
    for place, end in enumerate(ends):
        assert await store.before(shelf.account, filter, sort, end, LIMIT) == starts[place]


@pytest.mark.parametrize("library", ["sqlite"], indirect=True)
@pytest.mark.parametrize("narrowing", NARROWINGS)
@pytest.mark.parametrize(
    ("statement", "flags"),
    [(name, flags) for name in (WALK, MATCHES, SCAN, PAST_DATES) for flags in WIDEST_FLAGS],
)
async def test_every_statement_reads_the_same_list(
    library: Shelves,
    monkeypatch: pytest.MonkeyPatch,
    statement: str,
    flags: str,
    narrowing: str,
) -> None:
    monkeypatch.setattr(ListRead, "statement", lambda *_: statement)
    shelf, narrowed = library.shelves["mostly unread"], NARROWINGS[narrowing]
    filter = msgspec.structs.replace(FLAGS[flags], **narrowed.fields)

    for sort in sorts(narrowing):
        await crawled(library.store, shelf, filter, sort, shelf.sorted(filter, narrowed, sort))


@pytest.mark.parametrize("field", SORT_FIELDS)
async def test_a_list_goes_on_after_a_value_as_a_sort_does(library: Shelves, field: str) -> None:
    shelf = library.shelves["mostly unread"]
    filter = BookmarkFilter(author="ada")
    numbered = {post["post_id"]: post for post in shelf.posts}
    for descending in (True, False):
        sort = Sort(field, descending)
        expected = shelf.sorted(filter, NARROWINGS["an author"]._replace(matches=by_ada), sort)
        values = [VALUES[field](numbered[post_id]) for post_id in expected]
        for value in dict.fromkeys(values):
            page = await library.store.page(shelf.account, filter, sort, After(value), LIMIT)
            rest = [
                post_id
                for post_id, other in zip(expected, values, strict=True)
                if (other < value if descending else other > value)
            ]
            assert ids(page.body) == rest[:LIMIT]


def by_ada(post: Record) -> bool:
    return bool(post["author_username"] == "ada")
