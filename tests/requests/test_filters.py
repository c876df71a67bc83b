"""Every filter that is declared works everywhere: in SQL, plans, counts, views, exports, tools."""

from typing import Any

import pytest

from bowerbird.model.posts.filters import BookmarkFilter
from bowerbird.requests.fields import gates_of
from bowerbird.requests.filters import (
    MEANING,
    BookmarkFilters,
    BookmarkQuery,
    FlagFilters,
    WordFilters,
    readers,
)
from bowerbird.requests.schemas import structs_in
from bowerbird.toolserver.tools import bookmarks as bookmark_tools
from bowerbird.toolserver.tools import exports as export_tools
from bowerbird.toolserver.tools import searching
from bowerbird.toolserver.tools import views as view_tools
from tests.support import make, writing
from tests.support.exporting import exported
from tests.support.in_turn import in_turn
from tests.support.service import Member, Service

pytestmark = pytest.mark.anyio

FILTERS = readers(BookmarkQuery)
# The filters that every plan includes.
FREE = {"is_unread_only", "hide_archived", "is_archived_only", "q"}
# One value per filter that some posts of the library below match, and others do not.
SAMPLES: dict[str, str] = {
    "is_unread_only": "true",
    "hide_archived": "true",
    "is_archived_only": "true",
    "media_type": "image",
    "author": "mia",
    "tag": "Kitchen",
    "label": "kitchen,Oven",
    "label_match": "all",
    "language": "de,en",
    "network": "Mastodon",
    "unlabelled": "true",
    "has_note": "true",
    "has": "photos",
    "is_gone": "true",
    "is_reply": "false",
    "is_thread": "true",
    "is_duplicate": "true",
    "min_words": "4",
    "max_words": "3",
    "min_likes": "5",
    "linked_site": "https://www.example.com/",
    "posted_from": "2026-03-01",
    "posted_to": "2026-03-01",
    "bookmarked_from": "2026-05-01",
    "bookmarked_to": "2026-05-01",
    "updated_since": "2026-07-18T08:21:14Z",
    "q": "bread",
    MEANING: "baking at home",
}
# What some filters need besides.
FURTHER: dict[str, dict[str, str]] = {"label_match": {"label": "Kitchen,Oven"}}
# Neither read nor archived bookmarks are hidden, unless the filter itself hides them.
EVERYTHING = {"is_unread_only": "false", "hide_archived": "false"}
POSTS = 12


async def fill(member: Member) -> None:
    if (await member.account()).total:
        return
    posts = [
        make.post(
            text=f"{'bread' if n % 2 else 'cake'} number {n}{' indeed' if n % 4 == 3 else ''}",
            author="mia" if n % 3 else "ada",
            attachments=attached(n),
            tags=[["Kitchen", "Oven"], ["Kitchen"], None][n % 3],
            note="mine" if n % 4 == 1 else None,
            gone_at="2026-07-01T00:00:00+00:00" if n % 4 == 1 else None,
            meta={
                "language": ["de-AT", "en", "fr", "qme"][n % 4],
                "tweet_reply_to_tweet_id": "1" if n % 3 else None,
                "tweet_is_thread": n % 4 == 1,
            },
            metrics={"favorite_count": n},
            **({"source": "mastodon"} if n % 4 == 2 else {}),
            is_read=n % 5 == 0,
            is_archived=n % 6 == 0,
            posted_at=f"2026-0{1 + n % 5}-10T00:00:00+00:00",
            bookmarked_at=f"2026-0{3 + n % 4}-10T00:00:00+00:00",
        )
        for n in range(POSTS)
    ]
    await member.save_all(posts[::2])
    member.clock.now += writing.SECOND
    await member.save_all(posts[1::2])
    await member.embed()


def attached(n: int) -> list[dict[str, str]]:
    if n % 4:
        return [{"type": "image"}]
    # Two of them have the same one.
    return [{"type": "link", "url": f"https://{'example.com' if n else 'other.org'}/nests"}]


def query_of(kind: type[FlagFilters], name: str) -> FlagFilters:
    return kind(**asked_with(name))


def asked_with(name: str) -> dict[str, str]:
    return {**EVERYTHING, **FURTHER.get(name, {}), name: SAMPLES[name]}


def test_every_filter_has_a_sample() -> None:
    assert SAMPLES.keys() == FILTERS.keys()


def test_every_filter_sets_a_field_of_its_own() -> None:
    fields = [reader.sets for reader in FILTERS.values()]

    # The posts of an export are chosen by their ids, not by a filter. Only lists have imports, and
    # only /highlights has what is annotated.
    others = ("post_ids", "import_run", "annotated")
    assert sorted([*fields, *others]) == sorted(BookmarkFilter.__struct_fields__)


@pytest.mark.parametrize("name", FILTERS)
def test_every_filter_needs_a_paid_plan_or_is_known_to_be_free(name: str) -> None:
    assert (name in gates_of(BookmarkQuery)) is not (name in FREE)


@pytest.mark.parametrize(
    ("takes", "declares"),
    [
        (searching.LIST.takes, WordFilters),
        (bookmark_tools.COUNT.takes, WordFilters),
        (export_tools.CREATE.takes, WordFilters),
        # Its query is searched by word or by meaning.
        (searching.SEARCH.takes, BookmarkFilters),
    ],
)
def test_every_tool_has_every_filter(takes: type[FlagFilters], declares: type[FlagFilters]) -> None:
    assert readers(takes) == readers(declares)
    # Search by meaning is a tool of its own.
    assert readers(WordFilters).keys() == FILTERS.keys() - {MEANING}
    assert readers(BookmarkFilters).keys() == FILTERS.keys() - {MEANING, "q"}


@pytest.mark.parametrize("tool", [view_tools.CREATE, view_tools.UPDATE], ids=lambda tool: tool.name)
def test_the_tools_of_views_have_every_filter(tool: Any) -> None:
    kinds = structs_in(tool.takes, "base_query")
    assert [readers(kind).keys() for kind in kinds] == [FILTERS.keys()]


@in_turn("name", FILTERS)
async def test_every_filter_changes_count_and_list_alike(alice: Member, name: str) -> None:
    await fill(alice)
    asked = asked_with(name)

    found = await alice.crawl(**asked, limit=2)

    assert len(set(found)) == len(found)
    page = await alice.listed(**asked, limit=2)
    counted = (await alice.get("/v1/bookmarks/count", **asked)).json()["data"]["count"]
    view = await writing.view(alice, base_query=asked)
    shown = (await alice.get(view)).json()["data"]["count"]
    assert page["meta"]["total_count"] == counted == shown == len(found)
    assert 0 < len(found) < POSTS


@in_turn("name", FILTERS)
async def test_every_filter_narrows_exports_and_lists_alike(cast: Service, name: str) -> None:
    # An account may start 20 exports a day.
    member = (cast.alice, cast.bob)[[*FILTERS].index(name) % 2]
    await fill(member)
    asked = asked_with(name)

    posts = await exported(cast, member, **asked)

    assert {post["post_id"] for post in posts} == set(await member.crawl(**asked, limit=5))


@in_turn("name", FILTERS)
async def test_every_filter_of_a_free_account_is_refused_or_free(free: Member, name: str) -> None:
    response = await free.get("/v1/bookmarks", **{name: SAMPLES[name]})

    assert response.status_code == (200 if name in FREE else 402)
