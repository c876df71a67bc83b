"""The note of a bookmark: changed with PATCH, and found by words and by meaning."""

from typing import Any

import pytest

from tests.support import writing
from tests.support.in_turn import in_turn
from tests.support.service import Member

pytestmark = pytest.mark.anyio


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


async def test_flags_and_a_note_change_together(alice: Member) -> None:
    await alice.save(post_id="1")

    body = {"note": "Both", "is_read": True}
    changed = (await writing.send(alice, "PATCH", "/v1/bookmarks/1", body)).json()["data"]

    assert (changed["note"], changed["is_read"]) == ("Both", True)


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


@in_turn("note", ["x" * 20_001, 5, ["x"], "a\0b"])
async def test_an_invalid_note_is_refused(alice: Member, note: Any) -> None:
    await alice.save(post_id="1", note="Kept")

    response = await writing.send(alice, "PATCH", "/v1/bookmarks/1", {"note": note})

    assert (response.status_code, response.json()["code"]) == (400, "INVALID_REQUEST")
    assert "note" in response.json()["error"]
    assert (await writing.bookmark(alice, "1"))["note"] == "Kept"


@pytest.mark.both
async def test_the_longest_note_is_kept_and_indexed(alice: Member) -> None:
    await alice.save(post_id="1")
    longest = "鳥" * 19_990 + " quokka 🐦"

    assert (await _note(alice, "1", longest))["note"] == longest
    assert await writing.recount(alice) == []


@pytest.mark.both
async def test_the_note_of_an_attachment_is_not_a_note_of_the_account(alice: Member) -> None:
    await alice.save(post_id="1", article={"title": "A", "note": "of a stranger"})
    await alice.save(post_id="2", attachments=[{"type": "image", "note": "of a stranger"}])
    await alice.save(post_id="3", note="mine", article={"title": "A", "note": "of a stranger"})

    assert await alice.ids(has_note="true") == ["3"]
    assert sorted(await alice.ids(has_note="false")) == ["1", "2"]
    assert await alice.ids(q="has:note") == ["3"]
