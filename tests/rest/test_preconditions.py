"""If-Match and If-Unmodified-Since: a change that somebody else has overtaken is refused."""

import asyncio
from typing import Any

import httpx
import pytest

from tests.support import writing
from tests.support.service import Member, Service
from tests.support.writing import SECOND

pytestmark = [pytest.mark.anyio, pytest.mark.both]

POST = "/v1/bookmarks/1"
FAILED = (412, "PRECONDITION_FAILED")


async def etag(member: Member, path: str = POST, **headers: str) -> str:
    response = await member.client.get(path, headers=headers)
    assert response.status_code == 200
    return response.headers["etag"]


async def change(
    member: Member, body: Any, path: str = POST, method: str = "PATCH", **headers: str
) -> httpx.Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return await member.client.request(method, path, json=body, headers=named)


async def test_a_change_of_the_post_that_was_read_is_made(alice: Member) -> None:
    await alice.save(post_id="1")

    for encoding in ("identity", "gzip", "zstd"):
        tag = await etag(alice, **{"Accept-Encoding": encoding})
        answer = await change(alice, {"note": encoding}, if_match=f'"other", {tag}')
        assert answer.status_code == 200, answer.text
        assert (await writing.bookmark(alice, "1"))["note"] == encoding
    assert (await change(alice, {"is_read": True}, if_match="*")).status_code == 200


@pytest.mark.parametrize("what", ["flag", "label", "note", "import", "rename"])
async def test_every_change_of_the_post_is_noticed(alice: Member, what: str) -> None:
    post = await alice.save(post_id="1", tags=["a"])
    tag = await etag(alice)
    if what == "flag":
        await writing.send(alice, "PATCH", POST, {"is_read": True})
    elif what == "label":
        await writing.add(alice, "b", "1")
    elif what == "note":
        await writing.send(alice, "PATCH", POST, {"note": "x"})
    elif what == "import":
        await alice.change(post, tweet_details={**post["tweet_details"], "text": "other"})
    else:
        label = await writing.label_id(alice, "a")
        await writing.send(alice, "PATCH", f"/v1/labels/{label}", {"label_name": "c"})
    before = await writing.bookmark(alice, "1")

    answer = await change(alice, {"is_archived": True}, if_match=tag)

    assert writing.refused(answer) == FAILED
    assert "Nothing was changed" in writing.sentence(answer)
    assert writing.refused(await change(alice, None, method="DELETE", if_match=tag)) == FAILED
    assert await writing.bookmark(alice, "1") == before
    answer = await change(alice, None, method="DELETE", if_match=await etag(alice))
    assert answer.status_code == 200


async def test_changes_of_other_posts_do_not_matter(alice: Member) -> None:
    await alice.save(post_id="1")
    tag = await etag(alice)
    await alice.save(post_id="2", tags=["a"])
    await writing.view(alice)

    cached = await alice.client.get(POST, headers={"If-None-Match": tag})
    answer = await change(alice, {"is_read": True}, if_match=tag)

    assert cached.status_code == 304
    assert answer.status_code == 200
    assert (await alice.client.get(POST, headers={"If-None-Match": tag})).status_code == 200


async def test_weak_and_unknown_tags_never_match(alice: Member) -> None:
    await alice.save(post_id="1")
    tag = await etag(alice)

    for sent in (f"W/{tag}", '""', "", "x", f'"x{tag[1:]}'):
        answer = await change(alice, {"is_read": True}, if_match=sent)
        assert writing.refused(answer) == FAILED, sent


async def test_only_one_of_two_concurrent_changes_is_made(alice: Member) -> None:
    await alice.save(post_id="1")
    tag = await etag(alice)

    answers = await asyncio.gather(
        *(change(alice, {"note": str(n)}, if_match=tag) for n in range(8))
    )

    assert sorted(answer.status_code for answer in answers) == [200, *[412] * 7]


async def test_a_change_is_refused_if_the_post_was_changed_later(alice: Member) -> None:
    await alice.save(post_id="1")
    read = (await writing.bookmark(alice, "1"))["updated_at"]
    alice.clock.now += 2 * SECOND
    await writing.send(alice, "PATCH", POST, {"is_read": True})
    now = (await writing.bookmark(alice, "1"))["updated_at"]

    for old in (read, "Sat, 18 Jul 2026 08:21:14 GMT"):
        answer = await change(alice, {"note": "x"}, if_unmodified_since=old)
        assert writing.refused(answer) == FAILED, old
    assert now in writing.sentence(answer)
    for current in ("Sat, 18 Jul 2026 08:21:15 GMT", now):
        answer = await change(alice, {"note": None}, if_unmodified_since=current)
        assert answer.status_code == 200, answer.text
    answer = await change(alice, {"note": "x"}, if_unmodified_since="yesterday")
    assert writing.refused(answer) == (400, "INVALID_REQUEST")
    # With both, only the ETag counts.
    answer = await change(alice, {}, if_unmodified_since=read, if_match=await etag(alice))
    assert writing.refused(answer) == (400, "INVALID_REQUEST")
    both = {"if_unmodified_since": read, "if_match": await etag(alice)}
    assert (await change(alice, {"note": "y"}, **both)).status_code == 200


async def test_a_view_has_a_tag_that_its_count_does_not_change(alice: Member) -> None:
    path = await writing.view(alice, "Mine")
    tag = await etag(alice, path)
    await alice.save(post_id="1")

    assert (await change(alice, {"name": "New"}, path, if_match=tag)).status_code == 200
    for method, body in (("PATCH", {"name": "Old"}), ("DELETE", None)):
        answer = await change(alice, body, path, method, if_match=tag)
        assert writing.refused(answer) == FAILED
    current = await etag(alice, path)
    assert (await change(alice, None, path, "DELETE", if_match=current)).status_code == 200


async def test_a_refused_condition_does_not_use_up_an_idempotency_key(alice: Member) -> None:
    await alice.save(post_id="1")
    old = await etag(alice)
    await writing.send(alice, "PATCH", POST, {"is_read": True})
    key = {"idempotency_key": "again"}

    assert writing.refused(await change(alice, {"note": "x"}, if_match=old, **key)) == FAILED
    now = await etag(alice)
    first = await change(alice, {"note": "x"}, if_match=now, **key)
    again = await change(alice, {"note": "x"}, if_match=now, **key)

    assert first.status_code == again.status_code == 200
    assert again.headers["idempotency-replayed"] == "true"


async def test_nothing_is_said_about_posts_of_others(cast: Service) -> None:
    await cast.alice.save(post_id="1")
    tag = await etag(cast.alice)

    for sent in (tag, '"x"', "*"):
        answer = await change(cast.bob, {"is_read": True}, if_match=sent)
        assert writing.refused(answer) == (404, "NOT_FOUND")


async def test_the_free_plan_can_use_conditions(free: Member) -> None:
    await free.save(post_id="1")
    tag = await etag(free)

    assert (await change(free, {"is_read": True}, if_match=tag)).status_code == 200
    assert writing.refused(await change(free, {"is_read": False}, if_match=tag)) == FAILED
