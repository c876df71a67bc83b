"""The sample library: what it contains, when it is loaded, and that every process has the same."""

import asyncio
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from bowerbird import app
from bowerbird.sandbox.fixtures import Fixtures
from bowerbird.settings import Settings
from bowerbird.storage.database import Database
from bowerbird.storage.sqlite.database import SqliteDatabase
from tests.support import trying
from tests.support.service import SetClock
from tests.support.trying import EVERYTHING, Visitor

pytestmark = pytest.mark.anyio


def _texts(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for item in value.values() for text in _texts(item)]
    if isinstance(value, list):
        return [text for item in value for text in _texts(item)]
    return [value] if isinstance(value, str) else []


def test_every_url_is_under_example_com_or_is_the_post_itself() -> None:
    for post in trying.posts():
        for text in _texts(post):
            if text.startswith("http"):
                host = urlsplit(text).hostname or ""
                is_ours = text.startswith("http://localhost:8080/static/demo-")
                assert host == "x.com" or host.endswith(".example.com") or is_ours, text


async def test_the_service_has_the_pictures_of_the_posts(visitor: Visitor) -> None:
    (post,) = (await visitor.read("/bookmarks", limit=1, media_type="gif", **EVERYTHING))["data"]
    (attached,) = post["tweet_details"]["attachments"]
    for address in (post["author_details"]["profile_image"], attached["preview_image"]):
        picture = await visitor.client.get(urlsplit(address).path)
        assert (picture.status_code, picture.headers["content-type"]) == (200, "image/svg+xml")


async def test_the_list_returns_the_posts_of_the_file(visitor: Visitor) -> None:
    response = await visitor.read("/bookmarks", limit=100, **EVERYTHING)
    shown = {bookmark["post_id"]: bookmark for bookmark in response["data"]}

    for post in trying.posts():
        # Of the sandbox's own clock.
        del shown[post["post_id"]]["updated_at"]
        tags = sorted(post["tags"] or [], key=str.casefold) or None
        assert shown.pop(post["post_id"]) == {**post, "tags": tags}
    assert shown == {}


async def test_labels_have_metadata_and_every_bucket_has_posts(visitor: Visitor) -> None:
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
