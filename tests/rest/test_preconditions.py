"""If-Match and If-Unmodified-Since: a change that somebody else has overtaken is refused."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any, Final

import httpx
import pytest

from bowerbird.storage.database import Transaction
from bowerbird.storage.libraries import LibraryStore
from tests.support import writing
from tests.support.published import SPEC
from tests.support.service import Member
from tests.support.waiting import until
from tests.support.writing import SECOND

pytestmark = pytest.mark.anyio

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


@pytest.mark.both
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
    for wrong in ("yesterday", "Mon, 05 Jan 2026 00:00:00 +" + "9" * 19):
        answer = await change(alice, {"note": "x"}, if_unmodified_since=wrong)
        assert writing.refused(answer) == (400, "INVALID_REQUEST")
    # With both, only the ETag counts.
    answer = await change(alice, {}, if_unmodified_since=read, if_match=await etag(alice))
    assert writing.refused(answer) == (400, "INVALID_REQUEST")
    both = {"if_unmodified_since": read, "if_match": await etag(alice)}
    assert (await change(alice, {"note": "y"}, **both)).status_code == 200


@pytest.mark.both
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


async def _post(member: Member) -> str:
    await member.save(post_id="1", text="A bower is not a nest")
    return POST


async def _highlight(member: Member) -> str:
    path = f"{await _post(member)}/highlights"
    made = await writing.send(member, "POST", path, {"quote": "bower"})
    return f"{path}/{made.json()['data']['id']}"


async def _label(member: Member) -> str:
    await member.save(post_id="1", tags=["a"])
    return f"/v1/labels/{await writing.label_id(member, 'a')}"


async def _rule(member: Member) -> str:
    rule = {"name": "a", "when": "arrives", "actions": [{"do": "star"}]}
    return (await writing.send(member, "POST", "/v1/rules", rule)).headers["location"]


async def _share(member: Member) -> str:
    made = await writing.send(member, "POST", "/v1/shares", {"list": "unread", "audience": "feed"})
    return made.headers["location"]


async def _webhook(member: Member) -> str:
    url = "https://hooks.example.com/b"
    return (await writing.send(member, "POST", "/v1/webhooks", {"url": url})).headers["location"]


async def _preferences(_: Member) -> str:
    return "/v1/digests/preferences"


CHANGED: Final[dict[str, tuple[Callable[[Member], Awaitable[str]], Any, Any]]] = {
    "/v1/bookmarks/{post_id}": (_post, {"note": "a"}, {"note": "b"}),
    "/v1/bookmarks/{post_id}/highlights/{highlight_id}": (
        *(_highlight, {"comment": "a"}, {"comment": "b"}),
    ),
    "/v1/labels/{label_id}": (_label, {"color": "moss"}, {"label_name": "b"}),
    "/v1/views/{slug}": (writing.view, {"name": "a"}, {"name": "b"}),
    "/v1/rules/{rule_id}": (_rule, {"name": "b"}, {"is_on": False}),
    "/v1/shares/{share_id}": (_share, {"title": "a"}, {"is_on": False}),
    "/v1/webhooks/{webhook_id}": (_webhook, {"tag": "a"}, {"is_active": False}),
    "/v1/digests/preferences": (_preferences, {"hour": 5}, {"hour": 6}),
}
"""By path of a PATCH: what creates such a resource, and two changes of it."""


def described() -> dict[str, dict[str, Any]]:
    paths = json.loads(SPEC.read_text())["paths"]
    return {path: one for path, one in paths.items() if {"patch", "put"} & one.keys()}


def test_every_change_of_a_resource_heeds_conditions() -> None:
    assert described().keys() == CHANGED.keys()
    for path, operations in described().items():
        for method in operations.keys() & {"patch", "put", "delete"}:
            named = {one["name"] for one in operations[method]["parameters"]}
            assert {"If-Match", "If-Unmodified-Since"} <= named, (method, path)
            assert "412" in operations[method]["responses"], (method, path)


@pytest.mark.both
@pytest.mark.parametrize("path", CHANGED)
async def test_a_change_that_somebody_has_overtaken_is_refused(alice: Member, path: str) -> None:
    create, one, other = CHANGED[path]
    target = await create(alice)
    # A highlight is a part of its post.
    read = target.partition("/highlights/")[0]
    shown = await alice.client.get(read)
    old, date = shown.headers["etag"], shown.headers["last-modified"]
    cached = await alice.client.get(read, headers={"If-None-Match": old})
    assert cached.status_code == 304
    # The count of a label or a view is no part of its tag.
    await alice.save(post_id="2", tags=["a"])
    alice.clock.now += 2 * SECOND

    first = await change(alice, one, target, if_match=old, if_unmodified_since=date)
    assert first.status_code == 200, first.text
    now = (await alice.client.get(read)).json()
    has_delete = "delete" in described()[path]
    for condition in ({"if_match": old}, {"if_unmodified_since": date}):
        answer = await change(alice, other, target, **condition)
        assert writing.refused(answer) == FAILED, condition
        if has_delete:
            answer = await change(alice, None, target, "DELETE", **condition)
            assert writing.refused(answer) == FAILED, condition
    assert (await alice.client.get(read)).json() == now

    current = await alice.client.get(read)
    seen = current.headers["last-modified"]
    answer = await change(alice, other, target, if_unmodified_since=seen)
    assert answer.status_code == 200, answer.text
    if has_delete:
        tag = await etag(alice, read)
        assert (await change(alice, None, target, "DELETE", if_match=tag)).status_code == 200


@pytest.mark.both
@pytest.mark.parametrize("database", ["postgres"], indirect=True)
@pytest.mark.parametrize(
    ("create", "method", "rest", "body"),
    [
        (_webhook, "PATCH", "", {"tag": "a"}),
        (_webhook, "POST", "/rotate", None),
        (_webhook, "DELETE", "", None),
        (_share, "PATCH", "", {"title": "a"}),
        (_share, "DELETE", "", None),
    ],
)
async def test_an_unconditional_write_waits_for_a_conditional_one_of_another_node(
    alice: Member, create: Callable[[Member], Awaitable[str]], method: str, rest: str, body: Any
) -> None:
    path = await create(alice)

    async def conditional(transaction: Transaction) -> None:
        await LibraryStore(alice.database).lock(transaction, alice.account_id)
        # On Citus, the row and its lock are on another server.
        [(of_all,)] = await transaction.rows("SELECT CAST(to_regclass('citus_locks') AS text)", {})
        waiting = f"SELECT count(*) FROM {of_all or 'pg_locks'} WHERE NOT granted"  # noqa: S608 - one of two names
        other = asyncio.create_task(change(alice, body, path + rest, method))
        others.append(other)

        async def has_gone_on() -> bool:
            return other.done() or (await transaction.rows(waiting, {}))[0][0] > 0

        await until(has_gone_on)
        was_done.append(other.done())
        # As a conditional write of another node does after it has compared the resource.
        if "shares" in path:
            statement = "DELETE FROM share WHERE account_id = :account_id"
        else:
            statement = "DELETE FROM webhook WHERE account_id = :account_id"
        await transaction.run(statement, {"account_id": alice.account_id})

    was_done: list[bool] = []
    others: list[asyncio.Task[httpx.Response]] = []
    await alice.database.write(conditional)

    assert was_done == [False]
    # What it changes is read after the other write.
    assert writing.refused(await others[0]) == (404, "NOT_FOUND")
