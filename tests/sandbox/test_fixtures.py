"""The sample library: what it contains, when it is loaded, and that every process has the same."""

import asyncio
import unicodedata
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from bowerbird import app
from bowerbird.model.media import BITS
from bowerbird.sandbox.fixtures import Fixtures
from bowerbird.settings import Settings
from bowerbird.storage.database import Database
from bowerbird.storage.sqlite.database import SqliteDatabase
from tests.support import trying
from tests.support.service import SetClock
from tests.support.trying import EVERYTHING, Visitor

pytestmark = pytest.mark.anyio

SCRIPTS = (
    *("LATIN", "CYRILLIC", "GREEK", "CJK", "HIRAGANA", "KATAKANA", "HANGUL"),
    *("ARABIC", "HEBREW", "DEVANAGARI", "THAI"),
)


def _texts(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for item in value.values() for text in _texts(item)]
    if isinstance(value, list):
        return [text for item in value for text in _texts(item)]
    return [value] if isinstance(value, str) else []


def test_every_script_occurs_in_some_post() -> None:
    texts = "".join(post["tweet_details"]["text"] for post in trying.posts())
    names = {unicodedata.name(c, "") for c in texts if c.isalpha()}

    assert [s for s in SCRIPTS if not any(name.startswith(s) for name in names)] == []


async def test_every_media_type_has_posts(visitor: Visitor) -> None:
    found = {kind: await visitor.ids(media_type=kind, **EVERYTHING) for kind in BITS}

    assert [kind for kind, ids in found.items() if not ids] == []


def test_every_reply_in_a_thread_follows_a_post_of_the_same_thread() -> None:
    by_id = {post["post_id"]: post for post in trying.posts()}
    parts = [p for p in by_id.values() if p["tweet_details"]["meta"]["is_sub_tweet_of_thread"]]
    assert len(parts) >= 6

    for part in parts:
        meta = part["tweet_details"]["meta"]
        previous = by_id[meta["tweet_reply_to_tweet_id"]]
        conversation = previous["tweet_details"]["meta"]["tweet_conversation_id"]
        assert meta["tweet_conversation_id"] == conversation
        assert conversation in by_id
        assert meta["tweet_reply_to_user_id"] == previous["author_id"] == part["author_id"]


def test_one_quoted_post_is_unavailable_and_others_exist() -> None:
    quotes = [p["tweet_details"]["quoted_tweet"] for p in trying.posts()]
    quotes = [quote for quote in quotes if quote]

    assert [set(q) for q in quotes if q.get("unavailable")] == [{"post_id", "link", "unavailable"}]
    assert sum("text" in quote for quote in quotes) >= 4


def test_every_url_is_under_example_com_or_is_the_post_itself() -> None:
    for post in trying.posts():
        for text in _texts(post):
            if text.startswith("http"):
                host = urlsplit(text).hostname or ""
                assert host == "x.com" or host.endswith(".example.com"), text


def test_posts_have_different_texts_and_span_more_than_a_year() -> None:
    posts = trying.posts()
    dates = sorted(post["tweet_details"]["posted_at"] for post in posts)

    assert 55 <= len(posts) <= 75
    assert len({post["tweet_details"]["text"] for post in posts}) == len(posts)
    assert int(dates[-1][:4]) - int(dates[0][:4]) >= 1
    assert all(post["tweet_details"]["posted_at"] < post["bookmarked_at"] for post in posts)


async def test_the_list_returns_the_posts_of_the_file_unchanged(visitor: Visitor) -> None:
    response = await visitor.read("/bookmarks", limit=100, **EVERYTHING)
    shown = {bookmark["post_id"]: bookmark for bookmark in response["data"]}

    for post in trying.posts():
        tags = sorted(post["tags"] or [], key=str.casefold) or None
        assert shown.pop(post["post_id"]) == {**post, "tags": tags}
    assert shown == {}


async def test_labels_have_metadata_and_every_bucket_of_the_three_views_has_posts(
    visitor: Visitor,
) -> None:
    labels = (await visitor.read("/labels"))["data"]
    views = (await visitor.read("/views"))["data"]

    assert 8 <= len(labels) <= 10
    assert all(label["count"] and label["metadata"] for label in labels)
    assert len(views) == 3
    for view in views:
        path = f"/views/{view['slug']}/bookmarks"
        whole = await visitor.crawl(path)
        assert len(whole) == view["count"]
        for bucket in view["triage_buckets"]:
            part = await visitor.crawl(path, bucket=bucket["slug"])
            assert 0 < len(part) < len(whole), bucket


async def test_concurrent_first_requests_load_the_library_once(visitor: Visitor) -> None:
    responses = await asyncio.gather(*(visitor.get("/labels") for _ in range(20)))

    assert {response.content for response in responses} == {responses[0].content}
    assert responses[0].status_code == 200


async def test_every_process_has_the_same_library(
    visitor: Visitor, closed_database: SqliteDatabase
) -> None:
    first = await visitor.get("/bookmarks", limit=7)
    other = trying.visitor(closed_database)

    again = await other.get("/bookmarks", limit=7)
    cursor = first.json()["meta"]["next_cursor"]
    further = await other.ids(limit=7, cursor=cursor)

    assert again.content == first.content
    assert again.headers["etag"] == first.headers["etag"]
    assert further == await visitor.ids(limit=7, cursor=cursor)
    await other.client.aclose()


async def test_the_library_is_loaded_on_first_use() -> None:
    fixtures = Fixtures()

    assert list(await fixtures.database.rows("SELECT name FROM sqlite_schema", {})) == []
    assert (await fixtures.account()).total == len(trying.posts())
    await fixtures.database.close()


async def test_the_sandbox_can_be_disabled(sqlite: Database) -> None:
    built = app.build(Settings(sandbox="off"), sqlite, SetClock())
    transport = httpx.ASGITransport(built.asgi)

    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        response = await client.get("/v1/sandbox/bookmarks")

    assert response.status_code == 401
    assert "x-service-environment" not in response.headers
