"""Reading from the sandbox: the responses of the API, without a key."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from tests.support import trying
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


async def test_a_bookmark_can_be_read_by_its_id(visitor: Visitor) -> None:
    post = trying.posts()[0]

    response = await visitor.read(f"/bookmarks/{post['post_id']}")

    assert response["data"]["tweet_details"] == post["tweet_details"]
    assert response["meta"] == {"sandbox": True}


MATCHES: dict[tuple[str, str], Callable[[dict[str, Any]], Any]] = {
    ("tag", "Birds"): lambda post: "birds" in (post["tags"] or []),
    ("tag", "東京"): lambda post: "東京" in (post["tags"] or []),
    ("author", "@page_split"): lambda post: post["author_username"] == "page_split",
    ("author", "林知雨"): lambda post: post["author_username"] == "zhiyu_reads",
    ("media_type", "article"): lambda post: post["tweet_details"]["article"],
    ("posted_from", "2026-06-01"): lambda post: _posted_at(post) > "2026-06-01T00:00:00",
    ("q", "sourdough"): lambda post: "sourdough" in _text(post),
    ("q", "梅"): lambda post: "梅" in _text(post),
    ("q", "θάλασσα"): lambda post: "θάλασσα" in _text(post),
    ("q", "ספר"): lambda post: "ספר" in _text(post).replace(",", " ").split(),
}


def _text(post: dict[str, Any]) -> str:
    return str(post["tweet_details"]["text"])


def _posted_at(post: dict[str, Any]) -> str:
    return str(post["tweet_details"]["posted_at"])


@pytest.mark.parametrize(("name", "value"), MATCHES)
async def test_filters_and_keyword_search_find_the_matching_posts(
    visitor: Visitor, name: str, value: str
) -> None:
    expected = {post["post_id"] for post in trying.posts() if MATCHES[name, value](post)}

    found = await visitor.crawl(**{name: value}, **EVERYTHING)

    assert set(found) == expected
    assert len(found) == len(expected) > 0


async def test_the_list_can_be_sorted(visitor: Visitor) -> None:
    shown = await visitor.read("/bookmarks", sort_by="favorite_count", limit=100, **EVERYTHING)

    counts = [
        post["tweet_details"]["meta"]["non_real_time_engagement_metrics"]["favorite_count"]
        for post in shown["data"]
    ]
    assert counts == sorted(counts, reverse=True)


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("/bookmarks?limit=0", 400, "INVALID_REQUEST"),
        ("/bookmarks?cursor=x", 400, "INVALID_REQUEST"),
        ("/bookmarks?media_type=smell", 400, "INVALID_REQUEST"),
        ("/bookmarks/1", 404, "NOT_FOUND"),
        ("/views/none", 404, "NOT_FOUND"),
        ("/views/birds/bookmarks?bucket=none", 400, "INVALID_REQUEST"),
    ],
)
async def test_an_invalid_request_gets_the_error_of_the_api(
    visitor: Visitor, path: str, status: int, code: str
) -> None:
    response = await visitor.get(path)

    assert response.status_code == status
    assert response.json()["code"] == code
    assert response.json()["meta"] == {"sandbox": True}


@pytest.mark.parametrize("path", READ)
@pytest.mark.parametrize("encoding", ["identity", "gzip", "zstd"])
async def test_a_response_has_the_sandbox_mark_in_every_encoding_and_from_the_cache(
    visitor: Visitor, path: str, encoding: str
) -> None:
    request = httpx.Request("GET", f"http://test/v1/sandbox{path}")
    request.headers["Accept-Encoding"] = encoding

    first, second = [(await visitor.client.send(request)) for _ in range(2)]

    assert first.json()["meta"]["sandbox"] is True
    assert first.content == second.content


@pytest.mark.parametrize("path", READ)
async def test_an_unchanged_response_is_304_with_the_environment_header(
    visitor: Visitor, path: str
) -> None:
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


@pytest.mark.parametrize("path", [*READ, "/bookmarks/1", "/nothing"])
async def test_head_returns_the_headers_of_get(visitor: Visitor, path: str) -> None:
    got = await visitor.get(path)
    head = await visitor.client.head(f"/v1/sandbox{path}")

    assert head.content == b""
    assert head.status_code == got.status_code
    assert head.headers.get("etag") == got.headers.get("etag")


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


async def test_search_by_meaning_pages_counts_and_exports_alike(visitor: Visitor) -> None:
    asked = {"vector_search_term": "bread and butter", "is_unread_only": "false"}
    asked["hide_archived"] = "false"
    whole = (await visitor.get("/bookmarks", **asked, limit=100)).json()
    first = (await visitor.get("/bookmarks", **asked, limit=1)).json()
    second = (
        await visitor.get("/bookmarks", **asked, limit=1, cursor=first["meta"]["next_cursor"])
    ).json()
    with_words = await visitor.get("/bookmarks", **asked, q="bread")
    export = (await visitor.post("/exports/json", asked)).json()

    ids = [post["post_id"] for post in whole["data"]]
    assert len(ids) > 1
    assert [first["data"][0]["post_id"], second["data"][0]["post_id"]] == ids[:2]
    assert with_words.status_code == 200
    assert export["data"]["progress"]["total"] == whole["meta"]["total_count"] == len(ids)
