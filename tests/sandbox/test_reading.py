"""Reading the sandbox: the API's own answers, without a key."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from tests.support import trying
from tests.support.service import Service
from tests.support.trying import EVERYTHING, Visitor

pytestmark = pytest.mark.anyio

READ = ("/bookmarks", "/labels", "/views", "/views/birds", "/views/birds/bookmarks")


async def test_the_default_list_has_several_pages_of_twenty(visitor: Visitor) -> None:
    answer = await visitor.read("/bookmarks")
    fresh = [p for p in trying.posts() if not p["is_read"] and not p["is_archived"]]

    assert len(answer["data"]) == 20
    assert answer["meta"]["total_count"] == len(fresh) > 40
    assert answer["meta"]["sandbox"] is True


async def test_pages_show_every_post_once_newest_first(visitor: Visitor) -> None:
    posts = sorted(trying.posts(), key=lambda post: -post["sort_index"])

    assert await visitor.crawl(limit=7, **EVERYTHING) == [post["post_id"] for post in posts]


async def test_a_bookmark_is_read_by_its_id(visitor: Visitor) -> None:
    post = trying.posts()[0]

    answer = await visitor.read(f"/bookmarks/{post['post_id']}")

    assert answer["data"]["tweet_details"] == post["tweet_details"]
    assert answer["meta"] == {"sandbox": True}


FOUND: dict[tuple[str, str], Callable[[dict[str, Any]], Any]] = {
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


@pytest.mark.parametrize(("name", "value"), FOUND)
async def test_filters_and_words_find_what_they_find_in_the_api(
    visitor: Visitor, name: str, value: str
) -> None:
    meant = {post["post_id"] for post in trying.posts() if FOUND[name, value](post)}

    found = await visitor.crawl(**{name: value}, **EVERYTHING)

    assert set(found) == meant
    assert len(found) == len(meant) > 0


async def test_it_sorts(visitor: Visitor) -> None:
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
        ("/bookmarks?vector_search_term=wings", 402, "VECTOR_SEARCH_NOT_ALLOWED"),
        ("/bookmarks/1", 404, "NOT_FOUND"),
        ("/views/none", 404, "NOT_FOUND"),
        ("/views/birds/bookmarks?bucket=none", 400, "INVALID_REQUEST"),
    ],
)
async def test_what_the_api_refuses_is_refused(
    visitor: Visitor, path: str, status: int, code: str
) -> None:
    response = await visitor.get(path)

    assert response.status_code == status
    assert response.json()["code"] == code
    assert response.json()["meta"] == {"sandbox": True}


@pytest.mark.parametrize("path", READ)
@pytest.mark.parametrize("encoding", ["identity", "gzip", "zstd"])
async def test_an_answer_is_marked_in_every_encoding_and_from_the_cache(
    visitor: Visitor, path: str, encoding: str
) -> None:
    asked = httpx.Request("GET", f"http://test/v1/sandbox{path}")
    asked.headers["Accept-Encoding"] = encoding

    first, second = [(await visitor.client.send(asked)) for _ in range(2)]

    assert first.json()["meta"]["sandbox"] is True
    assert first.content == second.content


@pytest.mark.parametrize("path", READ)
async def test_an_unchanged_answer_is_304_and_says_where_it_is_from(
    visitor: Visitor, path: str
) -> None:
    tag = (await visitor.get(path)).headers["etag"]

    again = await visitor.client.get(f"/v1/sandbox{path}", headers={"If-None-Match": tag})

    assert again.status_code == 304
    assert again.content == b""
    assert again.headers["etag"] == tag
    assert again.headers["x-service-environment"] == "sandbox"


async def test_a_tag_of_the_sandbox_is_none_of_the_api(cast: Service) -> None:
    tag = (await cast.nobody.get("/v1/sandbox/bookmarks")).headers["etag"]

    real = await cast.alice.client.get("/v1/bookmarks", headers={"If-None-Match": tag})

    assert real.status_code == 200
    assert real.headers["etag"] != tag
    assert real.json()["data"] == []


@pytest.mark.parametrize("path", [*READ, "/bookmarks/1", "/nothing"])
async def test_head_answers_as_get_without_a_body(visitor: Visitor, path: str) -> None:
    got = await visitor.get(path)
    head = await visitor.client.head(f"/v1/sandbox{path}")

    assert head.content == b""
    assert head.status_code == got.status_code
    assert head.headers.get("etag") == got.headers.get("etag")


async def test_search_by_meaning_is_refused_because_the_sandbox_has_no_vectors(
    visitor: Visitor,
) -> None:
    sentence = "The sandbox does not support search by meaning. q searches by word."

    answers = [
        await visitor.get("/bookmarks", vector_search_term="wings"),
        await visitor.get("/bookmarks", vector_search_term="wings", q="bird"),
        await visitor.post("/exports/json", {"vector_search_term": "wings"}),
    ]

    for response in answers:
        assert response.status_code == 402
        assert response.json()["code"] == "VECTOR_SEARCH_NOT_ALLOWED"
        assert response.json()["error"] == sentence
