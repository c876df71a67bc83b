"""What an import does to the state of a post at its source, and to the owner's note."""

from typing import Any

import msgspec
import pytest

from bowerbird.library.imports.intake import ItemResult
from bowerbird.model.arrival import Completeness
from bowerbird.sources import own_json
from bowerbird.sources.found import FoundPost
from tests.support import make
from tests.support.imports import found, result, stored, take
from tests.support.service import Member

pytestmark = pytest.mark.anyio
STUB = Completeness.STUB
GONE_AT, REMOVED_AT = "2026-07-01T00:00:00.000000+00:00", "2026-07-02T00:00:00.000000+00:00"
STATE = {"gone_at": GONE_AT, "gone_reason": "Deleted", "removed_at": REMOVED_AT, "note": "Mine."}


WHOLE = make.post(post_id="1", text="words", sort_index=5)


def own(**fields: Any) -> FoundPost:
    """A record of a file in the format of the API."""
    record = {**WHOLE, **fields}
    post = own_json.found_post(own_json.read(make.raw(record)).incoming, 1)
    return msgspec.structs.replace(post, is_whole=True)


async def test_a_record_of_the_api_without_a_state_keeps_the_stored_one(alice: Member) -> None:
    await take(alice, own(**STATE))

    await take(alice, own(author_username="other"))

    after = await stored(alice)
    assert after["author_username"] == "other"
    assert {name: after[name] for name in STATE} == STATE


async def test_a_record_of_the_api_that_lacks_only_the_state_changes_nothing(alice: Member) -> None:
    await take(alice, own(**STATE))

    assert await result(alice, own()) is ItemResult.UNCHANGED


async def test_null_removes_the_state_of_a_post(alice: Member) -> None:
    await take(alice, own(**STATE))

    await take(alice, own(gone_at=None, removed_at=None, note=None))

    assert not STATE.keys() & (await stored(alice)).keys()


@pytest.mark.both
async def test_a_note_of_another_program_is_added_to_the_stored_note(alice: Member) -> None:
    first = msgspec.structs.replace(found(STUB), note="From Dewey.")
    second = msgspec.structs.replace(found(STUB), note="From Raindrop.")
    for post in (first, second, first, found()):
        await take(alice, post)

    assert (await stored(alice))["note"] == "From Dewey.\n\nFrom Raindrop."
    assert await result(alice, second) is ItemResult.UNCHANGED


async def test_a_long_note_is_cut(alice: Member) -> None:
    post = msgspec.structs.replace(found(), note="x" * 20_001)

    await take(alice, post)

    assert (await stored(alice))["note"] == "x" * 20_000
    assert await result(alice, post) is ItemResult.UNCHANGED


async def test_the_repost_and_the_versions_of_a_post_are_kept(alice: Member) -> None:
    post = msgspec.structs.replace(found(), via_repost="77", versions=("5", "1"))
    await take(alice, post)

    await take(alice, found(text="seen again without them"))

    meta = (await stored(alice))["tweet_details"]["meta"]
    assert (meta["via_repost_id"], meta["version_ids"]) == ("77", ["5", "1"])


async def test_saving_a_part_of_a_post_changes_the_note_that_it_has(alice: Member) -> None:
    await take(alice, own(**STATE))

    for fields in ({"note": "Another one."}, {}):
        post = {"post_id": "1", "tweet_details": {"text": "words"}, **fields}
        response = await alice.client.post("/v1/bookmarks", json={"posts": [post]})
        assert response.status_code == 200, response.text

    after = await stored(alice)
    assert {name: after[name] for name in STATE} == {**STATE, "note": "Another one."}


async def test_a_reason_without_a_time_is_not_kept(alice: Member) -> None:
    post = own(gone_reason="Deleted")

    await take(alice, post)

    assert "gone_reason" not in await stored(alice)
    assert await result(alice, post) is ItemResult.UNCHANGED
