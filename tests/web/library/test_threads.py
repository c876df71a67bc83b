"""A thread is one row of a list, on every page and in every order."""

import re
from typing import Any
from urllib.parse import parse_qsl, urlencode

import pytest

from tests.support import make
from tests.web.house import Reader
from tests.web.library.test_lists import older

pytestmark = pytest.mark.anyio
ALL = "/library?is_unread_only=false&hide_archived=false"


def part(thread: int, number: int, **fields: Any) -> dict[str, Any]:
    """The post of a thread with this number; 0 starts it."""
    first = str(9000 + 100 * thread)
    names = ("tweet_is_thread",) if number == 0 else ("is_sub_tweet_of_thread",)
    return make.post(
        post_id=str(int(first) + number),
        text=f"part {number} of {thread}",
        posted_at=f"2026-01-0{thread}T00:{number:02}:00+00:00",
        meta={"tweet_conversation_id": first, **dict.fromkeys(names, True)},
        **fields,
    )


def rows(page: str) -> list[list[str]]:
    """The posts of each row, the shown one first."""
    boxes = re.findall(r'form="many" name="p-(\d+)"(?: value="([^"]*)")?', page)
    return [[first, *others.split()] for first, others in boxes]


async def walked(reader: Reader, path: str) -> list[list[str]]:
    found: list[list[str]] = []
    while path:
        page = await reader.page(path)
        found += rows(page)
        path = older(page) if "data-older" in page else ""
    return found


@pytest.mark.both
async def test_the_posts_of_a_thread_are_one_row(ann: Reader) -> None:
    await ann.member.save_all([part(1, number) for number in range(4)])
    await ann.member.save(post_id="7", text="alone")

    page = await ann.page(ALL)

    assert rows(page) == [["7"], ["9100", "9101", "9102", "9103"]]
    assert "<h1>5 posts</h1>" in page
    assert ">part 0 of 1</p>" in page
    assert '<li data-n="2" dir="auto">part 1 of 1</li><li data-n="3" dir="auto">part 2 of 1' in page
    assert "Thread, 4 posts</a>" in page
    assert "part 3" not in page
    assert "Thread, 4 posts" in await ann.page(f"{ALL}&density=compact")
    assert len(await ann.member.ids()) == 5
    # A search finds single posts.
    assert len(rows(await ann.page(f"{ALL}&q=part"))) == 4


@pytest.mark.parametrize(
    "query",
    [
        "",
        "&sort_by=posted_at",
        "&sort_by=sort_index&sort_order=asc",
        "&sort_by=author&sort_order=asc",
        "&tag=Birds",
        "&is_unread_only=true",
        "&posted_from=2026-01-01T00:01:30Z",
        "&author=ada",
    ],
)
async def test_every_post_of_a_list_is_in_one_row_whichever_pages_are_opened(
    ann: Reader, query: str
) -> None:
    saved = [part(thread, number) for number in range(4) for thread in (1, 2, 3)]
    for place, post in enumerate(saved):
        post |= {"is_read": place % 5 == 0, "tags": ["Birds"] if place % 3 else None}
    # Somebody else goes on in the same conversation, and a first post is not saved.
    saved += [part(1, number, author="bob") for number in (20, 21)]
    saved += [make.post(author="eve"), *(part(4, number) for number in (2, 1))]
    await ann.member.save_all(saved)
    given = dict(parse_qsl(f"is_unread_only=false&hide_archived=false{query}"))
    in_list = await ann.member.crawl(**given, limit="100")

    for limit in (1, 2, 3, 30):
        found = await walked(ann, f"/library?{urlencode(given | {'limit': str(limit)})}")
        assert sorted(post_id for row in found for post_id in row) == sorted(in_list)
        # A row has the place of the post that comes first.
        places = [min(in_list.index(post_id) for post_id in row) for row in found]
        assert places == sorted(places)
        threads = [(row[0][:2], int(row[0]) % 100 >= 20) for row in found if row[0] > "9000"]
        assert len(threads) == len(set(threads))


async def test_a_long_thread_has_so_many_posts_in_a_row(ann: Reader) -> None:
    await ann.member.save_all([part(1, number % 60) for number in range(60)])
    more = [part(1, number) | {"post_id": str(20_000 + number)} for number in range(1, 50)]
    await ann.member.save_all(more)

    found = await walked(ann, ALL)

    assert sorted(map(len, found)) == [*([1] * 9), 100]
    second = await ann.page(older(await ann.page(ALL)))
    assert "The posts of this page belong to threads on pages before it." in second


async def test_a_thread_is_changed_as_one_and_changed_back(ann: Reader, bob: Reader) -> None:
    for reader in (ann, bob):
        await reader.member.save_all([part(1, number, is_read=number == 2) for number in range(4)])
    page = await ann.page(ALL)
    button = re.search(r'form="many" name="read" value="([^"]+)"', page)
    assert button
    assert 'aria-label="Ada L., 1 Jan, thread of 4 posts, unread"' in page

    changed = await ann.person.send("/library/many", ALL, read=button[1], back=ALL)
    assert changed.headers["location"].endswith("#p-9100")
    page = await ann.page(changed.headers["location"])
    assert "Marked 3 posts read." in page
    assert 'class="post read"' in page
    change = re.search(r'name="change" value="(\w+)" data-undo', page)
    assert change
    await ann.person.send("/library/many/undo", ALL, change=change[1], back=ALL)

    assert len(await ann.member.ids()) == 3
    picked = {"p-9100": "9101 9102 9103", "archive": "", "back": ALL, "list": ALL}
    done = await ann.person.send("/library/many", ALL, **picked)
    assert "Archived 4 posts." in await ann.page(done.headers["location"])
    assert len(await bob.member.ids()) == 3
