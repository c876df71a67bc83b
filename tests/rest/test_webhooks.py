"""/v1/webhooks: adding, changing, testing and removing webhooks, and their messages."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from bowerbird.library.webhooks import webhooks
from bowerbird.model.events import KIND
from bowerbird.storage.upkeep.jobs import JobStore
from tests.support import service, waiting, working, writing
from tests.support.hosts.hooks import Post, Receiver
from tests.support.service import Member, Service

pytestmark = pytest.mark.anyio

URL = "https://hooks.example.com/b"


@pytest.fixture
def served(cast: Service, receiver: Receiver, tmp_path: Path) -> Service:
    hosts = receiver.host
    return service.with_cast(cast.database, data_dir=tmp_path, webhooks_private_hosts=hosts)


@pytest.fixture
def post(served: Service, receiver: Receiver, tmp_path: Path) -> Post:
    return Post(served.alice, receiver, tmp_path)


async def create(member: Member, key: str | None = None, **fields: Any) -> Any:
    return await writing.send(member, "POST", "/v1/webhooks", {"url": URL, **fields}, key)


async def test_a_webhook_is_created_shown_changed_and_deleted(alice: Member) -> None:
    chosen = ["post.created", "post.read", "post.created"]
    created = await create(alice, events=chosen, tag=" Birds ", q="bower*")
    added = created.json()["data"]
    path = f"/v1/webhooks/{added['id']}"

    assert created.status_code == 201
    assert created.headers["location"] == path
    assert added.pop("secret").startswith("whsec_")
    assert added == {
        "id": added["id"],
        "url": URL,
        "events": ["post.created", "post.read"],
        "tag": "Birds",
        "q": "bower*",
        "state": "active",
        "problem": None,
        "failing_since": None,
        "next_try_at": None,
        "last_delivered_at": None,
        "former_secret_until": None,
        "created_at": "2026-07-18T08:21:13.841838+00:00",
        "updated_at": "2026-07-18T08:21:13.841838+00:00",
    }
    assert (await alice.get(path)).json()["data"] == added
    assert (await alice.get("/v1/webhooks")).json()["data"] == [added]

    change: dict[str, Any] = {"events": [], "tag": None, "is_active": False, "url": f"{URL}?x=1"}
    changed = (await writing.send(alice, "PATCH", path, change)).json()["data"]
    assert changed == {**added, "events": [], "tag": None, "state": "paused", "url": f"{URL}?x=1"}

    assert (await writing.send(alice, "DELETE", path)).status_code == 200
    assert (await alice.get(path)).status_code == 404
    assert (await writing.send(alice, "DELETE", path)).status_code == 404


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("http://hooks.example.com/b", "must begin with https://"),
        ("ftp://hooks.example.com/b", "must be an address such as"),
        ("hooks.example.com", "must be an address such as"),
        ("https:///b", "must be an address such as"),
        ("https://me:secret@hooks.example.com/", "must have no password and no fragment"),
        ("https://hooks.example.com/#x", "must have no password and no fragment"),
        ("https://hooks.example.com:22/", "must have the port 443 or one from 1,024"),
        ("https://127.0.0.1/", "must be on the public internet"),
        ("https://[::1]/", "must be on the public internet"),
        ("https://10.0.0.8:8443/", "must be on the public internet"),
        ("https://169.254.169.254/latest", "must be on the public internet"),
        ("https://hooks.example.com/\nHost: x", "must be an address such as"),
        ("https://hooks.example.com:99999/", "must be an address such as"),
    ],
)
async def test_only_https_and_public_addresses_are_accepted(
    alice: Member, url: str, problem: str
) -> None:
    refused = await create(alice, url=url)
    added = (await create(alice)).json()["data"]
    path = f"/v1/webhooks/{added['id']}"
    changed = await writing.send(alice, "PATCH", path, {"url": url})

    for answer in (refused, changed):
        assert answer.status_code == 400
        assert answer.json()["error"].startswith(f"url: {problem}")


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({"url": ""}, "url"),
        ({"events": ["post.listed"]}, "events"),
        # It would never be sent anything.
        ({"events": ["digest.created"], "tag": "Birds"}, "tag"),
        ({"events": ["digest.created"], "q": "bower*"}, "q: has no meaning"),
    ],
)
async def test_a_wrong_field_is_named(alice: Member, fields: dict[str, Any], name: str) -> None:
    refused = await create(alice, **fields)

    assert refused.status_code == 400
    assert name in refused.json()["error"]


async def test_an_account_can_have_at_most_ten(alice: Member) -> None:
    for _ in range(10):
        assert (await create(alice)).status_code == 201

    refused = await create(alice)

    assert refused.status_code == 400
    assert refused.json()["error"] == "url: an account can have at most 10 webhooks."


async def test_a_retry_creates_no_second_webhook_and_repeats_no_secret(alice: Member) -> None:
    first = await create(alice, key="add")
    again = await create(alice, key="add")
    path = f"/v1/webhooks/{first.json()['data']['id']}/rotate"
    rotated = await writing.send(alice, "POST", path, None, "rotate")
    rotated_again = await writing.send(alice, "POST", path, None, "rotate")

    assert again.status_code == 201
    assert again.headers["idempotency-replayed"] == "true"
    assert again.json()["data"]["id"] == first.json()["data"]["id"]
    assert "secret" not in again.json()["data"]
    assert rotated.json()["data"]["secret"].startswith("whsec_")
    assert "secret" not in rotated_again.json()["data"]
    stored = await alice.database.rows(
        "SELECT body FROM idempotency WHERE account_id = :account_id",
        {"account_id": alice.account_id},
    )
    assert not any(b"whsec_" in bytes(row[0]) for row in stored)


async def test_a_test_message_is_sent_while_the_request_waits(post: Post) -> None:
    webhook = await post.add()
    path = f"/v1/webhooks/{webhook['id']}/test"
    post.receiver.answer("200 OK", b"thank you")
    worker = working.worker(post.member.database, post.jobs.kind.run, kinds=[post.jobs.kind])

    async with working.at_work(worker):
        sent = await writing.send(post.member, "POST", path)

    message = sent.json()["data"]
    assert sent.status_code == 200
    assert (message["type"], message["state"]) == ("webhook.test", "delivered")
    assert (message["status"], message["answer"], message["tries"]) == (200, "thank you", 1)
    (received,) = post.receiver.received
    assert received.is_signed_with(webhook["secret"])
    assert received.message["data"] == {"webhook_id": webhook["id"]}
    shown = (await post.member.get(sent.headers["location"])).json()["data"]
    assert shown == {**message, "message": received.message}


async def test_a_test_without_a_worker_is_sent_later(
    post: Post, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webhooks, "WAIT_S", 0.0)
    webhook = await post.add()
    path = f"/v1/webhooks/{webhook['id']}"
    await writing.send(post.member, "PATCH", path, {"is_active": False})

    accepted = await writing.send(post.member, "POST", f"{path}/test")
    assert accepted.status_code == 202
    assert accepted.json()["data"]["state"] == "waiting"
    assert list(await post.delivering.waiting_accounts(0)) == [post.member.account_id]
    await post.deliver()

    shown = (await post.member.get(accepted.headers["location"])).json()["data"]
    assert shown["state"] == "delivered"
    assert await post.delivering.waiting_accounts(0) == []


async def test_only_some_messages_can_wait(post: Post, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhooks, "WAIT_S", 0.0)
    path = f"/v1/webhooks/{(await post.add())['id']}/test"
    for _ in range(20):
        assert (await writing.send(post.member, "POST", path)).status_code == 202

    refused = await writing.send(post.member, "POST", path)

    assert refused.status_code == 429
    assert refused.headers["retry-after"] == "10"


async def test_a_message_is_sent_again_with_the_same_id(post: Post) -> None:
    webhook = await post.add()
    await post.member.save()
    await post.deliver()
    (message,) = await post.messages(webhook)
    path = f"/v1/webhooks/{webhook['id']}/deliveries/{message['id']}/send_again"

    sending = asyncio.create_task(writing.send(post.member, "POST", path))
    await waiting.until(lambda: _has_waiting(post))
    await post.deliver()
    sent = await sending

    assert sent.json()["data"]["tries"] == 2
    first, second = post.receiver.received
    assert first.headers["webhook-id"] == second.headers["webhook-id"]
    assert first.message == second.message
    unknown = await writing.send(post.member, "POST", path.replace(message["id"], "msg_none"))
    assert unknown.status_code == 404


async def _has_waiting(post: Post) -> bool:
    return bool(await post.delivering.waiting_accounts(0))


async def test_a_message_that_is_tried_again_is_tried_now(post: Post) -> None:
    webhook = await post.add()
    post.receiver.answer("500 Internal Server Error")
    await post.member.save()
    await post.deliver()
    (message,) = await post.messages(webhook)
    post.receiver.answer("200 OK")
    path = f"/v1/webhooks/{webhook['id']}/deliveries/{message['id']}/send_again"

    assert (await writing.send(post.member, "POST", path)).status_code == 200
    jobs = await JobStore(post.member.database).of_kind(post.member.account_id, KIND, 10)
    await post.deliver()

    assert len(jobs) == 1
    assert [one["state"] for one in await post.messages(webhook)] == ["delivered"]
    assert len(post.receiver.received) == 2


async def test_a_sweep_starts_a_job_for_each_account_with_something_to_send(
    post: Post, served: Service
) -> None:
    await post.add()
    saved = await post.member.save()
    await served.bob.save()
    worker = working.worker(post.member.database, post.jobs.kind.run, kinds=[post.jobs.kind])

    async def is_sent() -> bool:
        return post.receiver.posts() == [saved["post_id"]]

    async with working.at_work(worker):
        await post.jobs.sweep()
        await waiting.until(is_sent)

    jobs = JobStore(post.member.database)
    assert await jobs.of_kind(served.bob.account_id, KIND, 10) == []


async def test_secrets_are_encrypted_in_the_database(alice: Member) -> None:
    secret = (await create(alice)).json()["data"]["secret"]

    rows = await alice.database.rows(
        "SELECT sealed FROM webhook WHERE account_id = :account_id",
        {"account_id": alice.account_id},
    )

    assert secret.removeprefix("whsec_").encode() not in bytes(rows[0][0])
