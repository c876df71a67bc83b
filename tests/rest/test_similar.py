"""GET /v1/bookmarks/{post_id}/similar."""

import pytest

from tests.support import make, writing
from tests.support.service import Member

pytestmark = pytest.mark.anyio

BIRDS = "Bowerbirds collect blue things."
TEXTS = (BIRDS, "Crows hide shiny objects in the garden.", "The bank raised its rates.")


async def _filled(member: Member) -> list[str]:
    posts = [make.post(text=text) for text in TEXTS]
    await member.save_all(posts)
    await member.embed()
    return [post["post_id"] for post in posts]


async def _similar(member: Member, post_id: str, **params: object) -> list[str]:
    response = await member.get(f"/v1/bookmarks/{post_id}/similar", **params)
    assert response.status_code == 200, response.text
    return [bookmark["post_id"] for bookmark in response.json()["data"]]


@pytest.mark.both
async def test_the_nearest_posts_come_first_without_the_post_itself(alice: Member) -> None:
    birds, crows, bank = await _filled(alice)

    assert await _similar(alice, birds) == [crows, bank]
    assert await _similar(alice, birds, limit=1) == [crows]


async def test_meta_has_the_fields_of_a_list(alice: Member) -> None:
    birds, _, _ = await _filled(alice)

    meta = (await alice.get(f"/v1/bookmarks/{birds}/similar", limit=1)).json()["meta"]

    assert meta == {"next_cursor": None, "limit": 1, "total_count": 2, "count": 1}


@pytest.mark.both
async def test_read_posts_are_shown_and_archived_ones_hidden(alice: Member) -> None:
    birds, crows, bank = await _filled(alice)
    await writing.send(alice, "PATCH", f"/v1/bookmarks/{crows}", {"is_read": True})
    await writing.send(alice, "PATCH", f"/v1/bookmarks/{bank}", {"is_archived": True})

    assert await _similar(alice, birds) == [crows]
    assert await _similar(alice, birds, is_unread_only="true") == []
    assert await _similar(alice, birds, hide_archived="false") == [crows, bank]


async def test_a_post_without_a_vector_has_no_similar_posts_yet(alice: Member) -> None:
    await _filled(alice)
    new = await alice.save(text=BIRDS)

    response = await alice.get(f"/v1/bookmarks/{new['post_id']}/similar")

    assert response.json()["data"] == []
    assert response.json()["meta"]["vector_pending"] == 1
    await alice.embed()
    assert len(await _similar(alice, new["post_id"])) == 3


async def test_similar_posts_need_a_paid_plan_and_vectors(alice: Member, free: Member) -> None:
    for member in (alice, free):
        await member.save(post_id="5")
        response = await member.get("/v1/bookmarks/5/similar", limit=0)
        assert writing.refused(response) == (402, "VECTOR_SEARCH_NOT_ALLOWED")
