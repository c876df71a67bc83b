"""/v1/bookmarks/{post_id}/highlights: marking passages, and what becomes of them."""

import asyncio
from typing import Any

import httpx
import pytest

from tests.support import imports, writing
from tests.support.in_turn import in_turn
from tests.support.service import Member

pytestmark = pytest.mark.anyio

TEXT = "Bottle caps 👍 in front, feathers behind. Bottle caps again."
ARTICLE = {"title": "Stages", "plain_text": "A bower is no nest.\n\nNobody sleeps there."}


async def add(member: Member, post_id: str = "1", **body: Any) -> httpx.Response:
    return await writing.send(member, "POST", f"/v1/bookmarks/{post_id}/highlights", body)


async def marked(member: Member, **body: Any) -> dict[str, Any]:
    response = await add(member, **body)
    assert response.status_code == 200, response.text
    made: dict[str, Any] = response.json()["data"]
    return made


async def stored(member: Member, post_id: str = "1") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (await writing.bookmark(member, post_id)).get("highlights", [])
    return found


async def test_a_passage_is_marked_commented_and_removed(alice: Member) -> None:
    await alice.save(post_id="1", text=TEXT, tags=["x"])
    before = await writing.bookmark(alice, "1")

    made = await marked(alice, quote="feathers  behind", comment=" Blue ones ")

    assert made == {
        "id": made["id"],
        "field": "text",
        "quote": "feathers behind",
        "start": TEXT.index("feathers"),
        "end": TEXT.index("feathers") + len("feathers behind"),
        "comment": "Blue ones",
        "created_at": "2026-07-18T08:21:13.841838+00:00",
    }
    assert await writing.bookmark(alice, "1") == {**before, "highlights": [made]}
    path = f"/v1/bookmarks/1/highlights/{made['id']}"
    changed = (await writing.send(alice, "PATCH", path, {"comment": None})).json()["data"]
    assert "comment" not in changed
    assert await stored(alice) == [changed]
    removed = await writing.send(alice, "DELETE", path)
    assert removed.json()["data"] == changed
    assert await writing.bookmark(alice, "1") == before
    assert (await writing.send(alice, "DELETE", path)).status_code == 404
    assert await writing.recount(alice) == []


async def test_offsets_count_code_points(alice: Member) -> None:
    await alice.save(post_id="1", text=TEXT, article=ARTICLE)

    assert (await marked(alice, start=12, end=13))["quote"] == "👍"
    made = await marked(alice, field="article", start=15, end=27)
    assert made["quote"] == ARTICLE["plain_text"][15:27] == "est.\n\nNobody"


async def test_marking_the_same_passage_again_keeps_one_highlight(alice: Member) -> None:
    await alice.save(post_id="1", text=TEXT)
    first = await marked(alice, quote="feathers")

    assert await marked(alice, quote="feathers") == first
    assert await marked(alice, quote="feathers", comment="Yes") == {**first, "comment": "Yes"}
    assert await marked(alice, quote="feathers") == {**first, "comment": "Yes"}
    assert len(await stored(alice)) == 1


async def test_concurrent_highlights_are_all_kept(alice: Member) -> None:
    words = [f"word{n:02}" for n in range(12)]
    await alice.save(post_id="1", text=" ".join(words))

    await asyncio.gather(*(marked(alice, quote=word) for word in words))

    assert sorted(one["quote"] for one in await stored(alice)) == words


INVALID: list[dict[str, Any]] = [
    {},
    {"quote": "  "},
    {"quote": "not in the text"},
    {"quote": "x" * 2_001},
    {"start": 1},
    {"start": 5, "end": 5},
    {"start": 0, "end": 2_001},
    {"start": -1, "end": 3},
    {"start": 500, "end": 510},
    {"quote": "feathers", "comment": "x" * 2_001},
    {"quote": "feathers", "field": "author"},
    {"quote": "feathers", "other": 1},
    {"quote": "feathers\0"},
]


@in_turn("body", INVALID)
async def test_an_invalid_highlight_is_refused(alice: Member, body: dict[str, Any]) -> None:
    await alice.save(post_id="1", text=TEXT)

    response = await add(alice, **body)

    assert (response.status_code, response.json()["code"]) == (400, "INVALID_REQUEST")
    assert await stored(alice) == []


async def test_a_post_has_at_most_100_highlights(alice: Member) -> None:
    text = " ".join(f"word{n:03}" for n in range(101))
    passages = [{"id": f"h{n}", "quote": f"word{n:03}"} for n in range(100)]
    await alice.save(post_id="1", text=text, highlights=passages)

    response = await add(alice, quote="word100")

    assert response.status_code == 400
    assert "100 highlights" in response.json()["error"]
    assert len(await stored(alice)) == 100


async def test_the_passages_of_a_post_have_at_most_50_000_characters(alice: Member) -> None:
    await alice.save(post_id="1", text="a" * 1_999 + "b" + "c" * 60_000)
    for start in range(0, 50_000, 2_000):
        await marked(alice, start=start, end=start + 2_000)

    response = await add(alice, start=55_000, end=55_001)

    assert response.status_code == 400
    assert "50,000 characters" in response.json()["error"]


async def test_a_comment_is_found_by_its_words(alice: Member) -> None:
    await alice.save(post_id="1", text=TEXT)
    made = await marked(alice, quote="feathers", comment="Quokka blue")

    found = (await alice.listed(q="quokka", highlight="true"))["data"]
    assert found[0]["highlight"]["field"] == "highlights.comment"

    await writing.send(alice, "DELETE", f"/v1/bookmarks/1/highlights/{made['id']}")
    assert await alice.ids(q="quokka") == []
    assert await writing.recount(alice) == []


async def test_a_changed_text_moves_its_highlights_or_loses_them(alice: Member) -> None:
    await imports.take(alice, imports.found(text="one two three"))
    kept, lost = await marked(alice, quote="three"), await marked(alice, quote="one two")

    await imports.take(alice, imports.found(text="zero one and two three"))

    assert await stored(alice) == [
        {**kept, "start": 17, "end": 22},
        {**lost, "start": None, "end": None},
    ]
    await imports.take(alice, imports.found(text="back: one two three"))
    assert [(one["start"], one["end"]) for one in await stored(alice)] == [(14, 19), (6, 13)]
    assert await writing.recount(alice) == []


async def test_an_older_export_loses_no_highlight(alice: Member) -> None:
    await alice.save(post_id="1", text=TEXT)
    first = await marked(alice, quote="feathers", comment="Blue")
    exported = await writing.bookmark(alice, "1")
    second = await marked(alice, quote="Bottle caps")

    for posts in ([exported], [{**exported, "highlights": []}], [{**exported, "highlights": None}]):
        saved = await writing.send(alice, "POST", "/v1/bookmarks", {"posts": posts})
        assert saved.status_code == 200, saved.text
        assert await stored(alice) == [first, second]


@in_turn(
    "wrong",
    [
        {"id": "a b", "quote": "x"},
        {"id": "a"},
        {"id": "a", "quote": ""},
        {"id": "a", "quote": "x", "field": "title"},
        {"id": "a", "quote": "x", "start": -1},
        {"id": "a", "quote": "x", "created_at": "yesterday"},
        {"id": "a", "quote": "x" * 2_001},
    ],
)
async def test_a_post_with_an_invalid_highlight_fails(alice: Member, wrong: dict[str, Any]) -> None:
    posts = [{"post_id": "1", "tweet_details": {"text": "x"}, "highlights": [wrong]}]

    saved = await writing.send(alice, "POST", "/v1/bookmarks", {"posts": posts})

    assert saved.status_code == 207
    assert "highlights" in saved.json()["data"]["results"][0]["error"]["message"]
