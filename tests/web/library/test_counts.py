"""Every number beside a link is the number of posts in the list that the link opens."""

import re
from collections.abc import Iterator
from html import unescape

import pytest

from tests.support import writing
from tests.support.digesting import MONDAY, instant
from tests.web.digests.test_digest_pages import made
from tests.web.house import House, Reader

pytestmark = pytest.mark.anyio

SAVED = "2026-07-15T12:00:00+00:00"
BEFORE = "2020-02-03T12:00:00+00:00"
STATES: list[dict[str, bool]] = [
    {},
    {"is_read": True},
    {"is_archived": True},
    {"is_read": True, "is_archived": True},
]


@pytest.fixture(autouse=True)
def today(house: House) -> None:
    house.clock.now = instant("2026-07-18T12:00:00+00:00")


async def fill(reader: Reader) -> None:
    """Posts in every state with every label, by two authors, then and now; one in the trash."""
    post_id = (await reader.member.save(text="gone"))["post_id"]
    await reader.change("/library", trash=post_id)
    for number, state in enumerate(STATES * 3):
        await reader.member.save(
            text=f"nest {'egg' if number > 7 else ''} number {number}, seen by @ines",
            tags=["Birds", "Größe & mehr"] if number % 3 else ["Birds"],
            author="ines" if number % 2 else "tom",
            name="Ines" if number % 2 else "Tom",
            bookmarked_at=BEFORE if number < 4 else SAVED,
            **state,
        )


def numbers(page: str) -> Iterator[tuple[str, int]]:
    """The links of a page that have a number, or have one beside them."""
    links = r'<a [^>]*?href="(/(?:library|views/|trash)[^"]*)"[^>]*>(.*?)</a>'
    beside = (
        r'(?:<span class="(?:soft num|count num)">([\d,]+)|</th><td class="r">([\d,]+)'
        r"| \(([\d,]+)\))?"
    )
    for url, inner, *after in re.findall(links + beside, page, re.DOTALL):
        within = re.findall(r'class="(?:count|num soft|push)"[^>]*>([\d,]+)', inner)
        said = re.findall(r"^(?:All )?([\d,]+) (?:of the|read or archived)", inner)
        titled = re.findall(r"<title>[^<]*: ([\d,]+) saved", inner)
        found = [*within, *said, *titled, *(text for text in after if text)]
        if found:
            [number] = found
            yield unescape(url), int(number.replace(",", ""))


def total(page: str) -> int:
    """The number in the heading of a list."""
    found = re.search(r'<div class="found".*?>([\d,]+|No) (?:posts?|unread|archived)<', page)
    assert found, page
    return int(found[1].replace(",", "")) if found[1] != "No" else 0


async def assert_agree(reader: Reader, path: str, least: int) -> None:
    # A page does not wait long for the counts of views.
    for _ in range(1_000):
        found = list(numbers(await reader.page(path)))
        if len(found) >= least:
            break
    assert len(found) >= least, found
    for url, number in found:
        assert total(await reader.page(url)) == number, (path, url)


@pytest.mark.both
async def test_the_numbers_of_the_sidebar_and_the_labels_agree_with_their_lists(
    ann: Reader,
) -> None:
    await fill(ann)
    for name, query in (("Unread nests", {"q": "nest", "is_unread_only": True}), ("All", {})):
        view = {
            "name": name,
            "base_query": {"hide_archived": False, **query},
            "triage_buckets": [{"name": "Birds", "query": {"tag": "Birds"}}],
        }
        created = await writing.send(ann.member, "POST", "/v1/views", view)
        slug = created.json()["data"]["slug"]

    # Four states, two views and two labels in the sidebar of each.
    await assert_agree(ann, "/library", 8)
    await assert_agree(ann, "/labels", 10)
    await assert_agree(ann, "/views", 10)
    await assert_agree(ann, f"/views/{slug}", 9)
    # Five states above the list; and the panels of the filters.
    await assert_agree(ann, "/library?is_unread_only=false", 13)
    for kind, least in (("type", 1), ("author", 1), ("label", 2)):
        path = f"/library/panels/{kind}"
        await assert_agree(ann, path, least)
        await assert_agree(ann, f"{path}?is_unread_only=false&author=tom&tag=birds&q=egg", 1)


@pytest.mark.both
async def test_the_numbers_of_the_statistics_agree_with_their_lists(ann: Reader) -> None:
    await fill(ann)

    # A bar, a row of the table, two authors and two labels.
    for period in ("24-months", "year", "all"):
        await assert_agree(ann, f"/statistics?period={period}", 6)


async def test_the_numbers_of_the_statistics_have_no_links_on_the_free_plan(free: Reader) -> None:
    await fill(free)

    # The plan has no filters, and a search would find other posts too.
    page = await free.page("/statistics?period=all")
    assert not list(numbers(page.partition("<main")[2]))


@pytest.mark.both
async def test_the_numbers_of_a_digest_agree_with_their_lists(ann: Reader) -> None:
    await fill(ann)
    await made(ann, MONDAY)
    listed = await ann.page("/digests")
    [url] = set(re.findall(r'href="(/digests/[^"#]+)"', listed))

    await assert_agree(ann, unescape(url), 3)


@pytest.mark.both
async def test_the_numbers_of_suggestions_agree_with_their_lists(ann: Reader) -> None:
    await fill(ann)

    dated = "q=egg&tag=Birds&bookmarked_to=2021-01-01"
    for query in (dated, "tag=Brids", "q=egg&media_type=video", "q=number+3"):
        await assert_agree(ann, f"/library?{query}", 6)


SEARCHED = {
    "": "Search 3 unread posts",
    "?is_unread_only=false&hide_archived=false": "Search 12 posts",
    "?is_unread_only=false": "Search 6 posts that are not archived",
    "?is_unread_only=false&is_archived_only=true": "Search 6 archived posts",
    "?tag=Birds": "Search these posts",
}


async def test_the_search_box_counts_the_posts_that_it_searches(ann: Reader) -> None:
    await fill(ann)

    for query, words in SEARCHED.items():
        page = await ann.page(f"/library{query}")
        assert f'placeholder="{words}"' in page
        fields = re.findall(r'<form method="get" class="find.*?<div', page, re.DOTALL)[0]
        kept = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]+)"', fields)
        sent = "&".join(
            f"{name}={value}" for name, value in [*kept, ("search", "nest"), ("by", "words")]
        )
        count = re.search(r"\d+", words)
        found = await ann.page(f"/library?{sent}")
        assert total(found) == (int(count[0]) if count else 3), query
