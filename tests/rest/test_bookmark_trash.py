"""DELETE /v1/bookmarks/{post_id} and POST /v1/bookmarks/{post_id}/restore."""

import re
from typing import Any

import httpx
import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bowerbird.library.imports.intake import Intake
from bowerbird.model.labels import clean_name
from bowerbird.sources import own_json
from tests.support import make, writing
from tests.support.service import Member
from tests.support.writing import DAY

pytestmark = pytest.mark.anyio

PATH = "/v1/bookmarks/1"
UPDATED = re.compile(rb'"updated_at":"[^"]*",')


async def _delete(member: Member, path: str = PATH) -> httpx.Response:
    return await writing.send(member, "DELETE", path)


async def _restore(member: Member, path: str = PATH) -> httpx.Response:
    return await writing.send(member, "POST", f"{path}/restore")


@pytest.mark.both
async def test_a_deleted_bookmark_does_not_appear_anywhere(alice: Member) -> None:
    await alice.save(post_id="1", text="katze", tags=["x"], author="eve")
    await alice.save(post_id="2", text="katze", tags=["x"], author="eve")
    for params in ({}, {"q": "katze"}, {"tag": "x"}, {"author": "eve"}):
        assert await alice.ids(**params) == ["2", "1"]

    await _delete(alice)

    for params in ({}, {"q": "katze"}, {"tag": "x"}, {"author": "eve"}):
        assert await alice.ids(**params) == ["2"]
        assert (await alice.listed(**params))["meta"]["total_count"] == 1
    assert await alice.ids(q="katze", sort_by="relevance") == ["2"]
    assert (await alice.get(PATH)).status_code == 404
    assert (await alice.get("/v1/bookmarks/count")).json()["data"]["total"] == 1
    assert await writing.labels(alice) == {"x": 1}
    assert await writing.recount(alice) == []


@pytest.mark.both
async def test_a_restored_bookmark_is_byte_identical(alice: Member) -> None:
    await alice.save_all(
        [
            make.post(
                post_id="1",
                text='katze \u2028 \U0001f600 \\ " </script>\n\nhund',
                tags=["Stra\u00dfe", "b", "A"],
                is_read=True,
                is_archived=True,
                sort_index=-(2**63),
                imported_at="2020-02-02T02:02:02.020202",
                bookmarked_at="2019-01-01T00:00:00.000001+00:00",
                attachments=[{"type": "video", "url": "u", "unheard": [1, {"of": None}]}],
                article={"title": "T", "plain_text": "P", "unheard": 1.5},
                quoted={"post_id": "9", "text": "q", "unavailable": True},
                metrics={"favorite_count": 2**63 - 1},
                note="quokka",
                highlights=[{"id": "h1", "quote": "katze", "comment": "wombat"}],
            )
        ]
    )
    before = (await alice.get(PATH)).content

    await _delete(alice)
    alice.clock.now += 29 * DAY
    response = await _restore(alice)

    assert response.status_code == 200
    # But for the time of the restore.
    before, restored, shown = (
        UPDATED.sub(b"", body)
        for body in (before, response.content, (await alice.get(PATH)).content)
    )
    assert restored.startswith(before.partition(b',"meta":{"content_state"')[0])
    assert shown == before
    for word in ("katze", "quokka", "wombat"):
        assert await alice.ids(q=word, is_unread_only="false", hide_archived="false") == ["1"]
    assert await writing.labels(alice) == {"A": 1, "b": 1, "Stra\u00dfe": 1}
    assert await writing.recount(alice) == []


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
OPEN = st.dictionaries(TEXTS, st.none() | st.booleans() | TEXTS | st.integers(-(2**63), 2**63 - 1))


@pytest.mark.slow
@pytest.mark.both
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=TEXTS, name=TEXTS, more=OPEN, tags=st.lists(TEXTS.filter(clean_name), max_size=3))
async def test_any_content_survives_deleting_and_restoring(
    alice: Member, text: str, name: str, more: dict[str, Any], tags: list[str]
) -> None:
    extra = {**more, "type": "image", "url": text}
    await alice.save_all(
        [make.post(post_id="1", text=text, name=name, attachments=[extra], tags=tags)]
    )
    before = (await alice.get(PATH)).content

    await _delete(alice)
    response = await _restore(alice)

    assert writing.without_change(response) == msgspec.json.decode(before) | {"meta": {}}
    assert (await alice.get(PATH)).content == before
    assert await writing.recount(alice) == []


@pytest.mark.both
async def test_restoring_recreates_a_label_deleted_in_between(alice: Member) -> None:
    await alice.save(post_id="1", tags=["x"])
    await _delete(alice)
    await writing.send(alice, "DELETE", f"/v1/labels/{await writing.label_id(alice, 'x')}")

    await _restore(alice)

    assert await writing.labels(alice) == {"x": 1}
    assert await writing.tags(alice, "1") == ["x"]


async def test_a_deleted_bookmark_can_be_restored_for_30_days(alice: Member) -> None:
    await alice.save(post_id="1")

    await _delete(alice)
    alice.clock.now += 30 * DAY
    assert (await _restore(alice)).status_code == 200

    await _delete(alice)
    alice.clock.now += 30 * DAY + 1
    assert writing.refused(await _restore(alice)) == (404, "NOT_FOUND")
    assert (await alice.get(PATH)).status_code == 404


async def test_a_bookmark_saved_again_after_deletion_is_not_overwritten(alice: Member) -> None:
    record = await alice.save(post_id="1", is_read=True, tags=["x"])
    await _delete(alice)
    again = own_json.whole_post(make.raw({**record, "is_read": False, "tags": ["y"]}))
    intake = Intake(alice.database, alice.clock)
    await intake.take(await alice.account(), [again], is_saving=True)
    living = await writing.bookmark(alice, "1")

    response = await writing.send(alice, "POST", "/v1/bookmarks/1/restore")

    assert writing.refused(response) == (404, "NOT_FOUND")
    assert await writing.bookmark(alice, "1") == living
    assert await writing.recount(alice) == []
