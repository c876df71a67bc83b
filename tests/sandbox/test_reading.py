"""The sandbox: its library, what it lists, and its page."""

import asyncio
import json
import re
import shlex
from itertools import product
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from bowerbird import app
from bowerbird.openapi.sandbox_routes import SIMULATED
from bowerbird.sandbox.fixtures import Fixtures
from bowerbird.sandbox.router import LIMITS, MAX_ANSWER_BYTES, MAX_CONCURRENT, MAX_TOUCHED
from bowerbird.settings import Settings
from bowerbird.storage.database import Database
from bowerbird.storage.sqlite.database import SqliteDatabase
from tests.support.in_turn import in_turn
from tests.support.programs import trying
from tests.support.programs.trying import EVERYTHING, Visitor
from tests.support.service import Service, SetClock

pytestmark = pytest.mark.anyio


READ = ("/bookmarks", "/labels", "/views", "/views/birds", "/views/birds/bookmarks")


@in_turn(("path", "encoding"), product(READ, ("identity", "gzip", "zstd")))
async def test_a_response_has_the_sandbox_mark_in_every_encoding_and_from_the_cache(
    visitor: Visitor, path: str, encoding: str
) -> None:
    request = httpx.Request("GET", f"http://test/v1/sandbox{path}")
    request.headers["Accept-Encoding"] = encoding

    first, second = [(await visitor.client.send(request)) for _ in range(2)]

    assert first.json()["meta"]["sandbox"] is True
    assert first.content == second.content


@in_turn("path", READ)
async def test_an_unchanged_response_is_304_of_the_sandbox(visitor: Visitor, path: str) -> None:
    tag = (await visitor.get(path)).headers["etag"]

    again = await visitor.client.get(f"/v1/sandbox{path}", headers={"If-None-Match": tag})

    assert again.status_code == 304
    assert again.content == b""
    assert again.headers["etag"] == tag
    assert again.headers["x-service-environment"] == "sandbox"


async def test_an_etag_of_the_sandbox_is_not_valid_in_the_api(cast: Service) -> None:
    tag = (await cast.nobody.get("/v1/sandbox/bookmarks")).headers["etag"]

    real = await cast.alice.client.get("/v1/bookmarks", headers={"If-None-Match": tag})

    assert real.status_code == 200
    assert real.headers["etag"] != tag
    assert real.json()["data"] == []


async def test_search_by_meaning_ranks_the_sample_posts(visitor: Visitor) -> None:
    found = (await visitor.get("/bookmarks", vector_search_term="birds in the reeds")).json()
    again = (await visitor.get("/bookmarks", vector_search_term="birds in the reeds")).json()

    scores = [post["score"] for post in found["data"]]
    assert found == again
    assert scores == sorted(scores, reverse=True)
    assert 0 < len(scores) < 69, "posts that share nothing with the term are left out"
    assert "birds" in found["data"][0]["tags"]
    nothing = (await visitor.get("/bookmarks", vector_search_term="xqzj wvkk")).json()
    assert nothing["data"] == []


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


PAGE = (Path(__file__).parents[2] / "docs" / "sandbox.md").read_text(encoding="utf-8")

ORIGIN = "http://localhost:8080"

EXCHANGES = re.findall(r"^\$ curl -s (.+)\n(.+)$", PAGE, re.MULTILINE)


@in_turn(("command", "shown"), EXCHANGES)
async def test_a_request_returns_what_is_said(visitor: Visitor, command: str, shown: str) -> None:
    url, *options = shlex.split(command)
    arguments = dict(zip(options[::2], options[1::2], strict=True))
    name, _, value = arguments.get("-H", "").partition(": ")

    response = await visitor.client.request(
        "POST" if "-d" in arguments else "GET",
        url.removeprefix(ORIGIN),
        content=arguments.get("-d"),
        headers={name: value} if name else {},
    )

    assert response.json() == json.loads(shown)


def test_the_page_has_requests() -> None:
    assert len(EXCHANGES) >= 3


def test_the_documented_numbers_are_correct() -> None:
    assert f"a library of {len(trying.posts())} posts" in PAGE
    assert f"handles up to {MAX_CONCURRENT} concurrent requests" in PAGE
    assert f"at most {MAX_TOUCHED:,} posts in all" in PAGE
    assert f"at most {MAX_ANSWER_BYTES // 1024 // 1024} MiB" in PAGE
    assert (LIMITS.body_s, LIMITS.response_s) == (10, 30)
    assert len(trying.labels()) == 10
    for value, code in SIMULATED.items():
        assert re.search(rf"`{value}` \| \d+ `{code}`", PAGE)
