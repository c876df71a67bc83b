"""One bookmark: GET, PATCH, its note and its highlights; and POST /v1/bookmarks/update."""

import asyncio
from typing import Any

import httpx
import pytest

from tests.support import imports, writing
from tests.support.in_turn import in_turn
from tests.support.service import Member

pytestmark = pytest.mark.anyio


async def test_shows_the_bookmark_as_the_list_does(alice: Member) -> None:
    record = await alice.save(text="näh\n👩‍👩‍👧", tags=["b", "a"], sort_index=2**62 + 1)
    (listed,) = (await alice.listed())["data"]

    response = await alice.get(f"/v1/bookmarks/{record['post_id']}")

    assert response.json() == {"status": True, "data": listed, "meta": {"content_state": "whole"}}
    unknown = await alice.get("/v1/bookmarks/4711")
    assert unknown.json()["error"] == "No post '4711' on this account."


async def test_every_id_of_digits_is_an_id_of_its_own(alice: Member) -> None:
    for post_id in ("42", "042", "9" * 40):
        await alice.save(post_id=post_id, is_read=True, is_archived=True)

        data = (await alice.get(f"/v1/bookmarks/{post_id}")).json()["data"]

        assert (data["post_id"], data["is_read"], data["is_archived"]) == (post_id, True, True)


async def test_a_change_without_a_flag_is_refused(alice: Member) -> None:
    body = {"is_read": None}

    one = await writing.send(alice, "PATCH", "/v1/bookmarks/1", body)
    many = await writing.send(alice, "POST", "/v1/bookmarks/update", {"tweet_ids": ["1"], **body})

    for response in (one, many):
        assert writing.refused(response) == (400, "INVALID_REQUEST")
        assert writing.sentence(response).startswith("is_read: is required")


async def _note(member: Member, post_id: str, note: Any) -> dict[str, Any]:
    response = await writing.send(member, "PATCH", f"/v1/bookmarks/{post_id}", {"note": note})
    assert response.status_code == 200, response.text
    changed: dict[str, Any] = response.json()["data"]
    return changed


@pytest.mark.both
async def test_a_note_is_added_changed_and_removed(alice: Member) -> None:
    await alice.save(post_id="1", tags=["x"])
    before = await writing.bookmark(alice, "1")

    assert await _note(alice, "1", "  *First* \n") == {**before, "note": "*First*"}
    assert await writing.bookmark(alice, "1") == {**before, "note": "*First*"}
    assert await _note(alice, "1", "Second") == {**before, "note": "Second"}
    assert await _note(alice, "1", "") == before
    await _note(alice, "1", "Third")
    assert await _note(alice, "1", None) == before
    assert await writing.recount(alice) == []


@pytest.mark.both
async def test_a_changed_note_is_found_at_once_by_its_words(alice: Member) -> None:
    await alice.save(post_id="1")
    await _note(alice, "1", "About quokkas")
    assert await alice.ids(q="quokkas") == ["1"]

    found = (await alice.listed(q="quokkas", highlight="true"))["data"]
    assert found[0]["highlight"] == {"field": "note", "html": "About <mark>quokkas</mark>"}

    await _note(alice, "1", "About wombats")
    assert await alice.ids(q="quokkas") == []
    assert await alice.ids(q="wombats") == ["1"]

    await _note(alice, "1", None)
    assert await alice.ids(q="wombats") == []
    assert await writing.recount(alice) == []


@pytest.mark.both
async def test_a_changed_note_makes_the_post_wait_for_its_vector(alice: Member) -> None:
    await alice.save(post_id="1")
    await alice.save(post_id="2")
    assert await alice.embed() == 2

    await _note(alice, "1", "Small marsupials")
    pending = (await alice.listed(vector_search_term="marsupials"))["meta"]["vector_pending"]
    assert pending == 1
    assert await alice.embed() == 1

    # A change that leaves the text as it is keeps the vector.
    await _note(alice, "1", " Small marsupials ")
    assert await alice.embed() == 0
    assert await writing.recount(alice) == []


async def test_the_longest_note_is_kept_and_indexed(alice: Member) -> None:
    await alice.save(post_id="1")
    longest = "鳥" * 19_990 + " quokka 🐦"

    assert (await _note(alice, "1", longest))["note"] == longest
    assert await writing.recount(alice) == []


async def test_the_note_of_an_attachment_is_not_a_note_of_the_account(alice: Member) -> None:
    await alice.save(post_id="1", article={"title": "A", "note": "of a stranger"})
    await alice.save(post_id="2", attachments=[{"type": "image", "note": "of a stranger"}])
    await alice.save(post_id="3", note="mine", article={"title": "A", "note": "of a stranger"})

    assert await alice.ids(has_note="true") == ["3"]
    assert sorted(await alice.ids(has_note="false")) == ["1", "2"]
    assert await alice.ids(q="has:note") == ["3"]


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
    {"start": 1},
    {"start": 5, "end": 5},
    {"start": 0, "end": 2_001},
    {"start": -1, "end": 3},
    {"start": 500, "end": 510},
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
