"""Reading from the sandbox: the responses of the API, without a key."""

from itertools import product

import httpx
import pytest

from tests.support import trying
from tests.support.in_turn import in_turn
from tests.support.service import Service
from tests.support.trying import EVERYTHING, Visitor

pytestmark = pytest.mark.anyio

READ = ("/bookmarks", "/labels", "/views", "/views/birds", "/views/birds/bookmarks")


async def test_the_default_list_returns_twenty_unread_posts(visitor: Visitor) -> None:
    response = await visitor.read("/bookmarks")
    unread = [p for p in trying.posts() if not p["is_read"] and not p["is_archived"]]

    assert len(response["data"]) == 20
    assert response["meta"]["total_count"] == len(unread) > 40
    assert response["meta"]["sandbox"] is True


async def test_paging_returns_every_post_once_newest_first(visitor: Visitor) -> None:
    posts = sorted(trying.posts(), key=lambda post: -post["sort_index"])

    assert await visitor.crawl(limit=7, **EVERYTHING) == [post["post_id"] for post in posts]


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
