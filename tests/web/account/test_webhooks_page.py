"""The page for webhooks: add, test, pause and remove them, and look at what was sent."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.hosts.hooks import Post, Receiver
from tests.support.visiting import form_token
from tests.web.house import House, Reader, signed_in, text_of

pytestmark = pytest.mark.anyio


@pytest.fixture
def house_settings(receiver: Receiver) -> dict[str, Any]:
    return {"webhooks_private_hosts": receiver.host}


@pytest.fixture
async def reader(house: House) -> AsyncIterator[Reader]:
    person = await signed_in(house, "nora@example.com")
    yield person
    await person.member.client.aclose()


@pytest.fixture
def post(reader: Reader, receiver: Receiver, tmp_path: Path) -> Post:
    return Post(reader.member, receiver, tmp_path)


async def added(reader: Reader, post: Post, **fields: str) -> httpx.Response:
    chosen = fields or {"saved": "on"}
    page = await reader.person.send("/webhooks", "/webhooks", url=post.receiver.url(), **chosen)
    assert page.status_code == 200, text_of(page)
    return page


def secret_in(page: httpx.Response) -> str:
    [secret] = re.findall(r"<code>(whsec_[^<]+)</code>", page.text)
    return str(secret)


def ids_in(page: httpx.Response) -> list[str]:
    return re.findall(r'name="webhook" value="([0-9a-f]+)"', page.text)


def id_in(page: httpx.Response) -> str:
    return ids_in(page)[0]


@asynccontextmanager
async def delivering(post: Post) -> AsyncIterator[None]:
    """Delivers again and again, as a worker does."""

    async def deliver() -> None:
        while True:
            await post.deliver()
            await asyncio.sleep(0.01)

    running = asyncio.create_task(deliver())
    try:
        yield
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def test_a_page_with_a_secret_makes_no_second_one_when_it_is_loaded_again(
    reader: Reader, post: Post
) -> None:
    person = reader.person
    url = post.receiver.url()
    token = form_token((await person.open("/webhooks")).text)
    page = await person.post("/webhooks", csrf=token, url=url, saved="on")
    webhook = id_in(await person.open("/webhooks"))
    again = await person.post("/webhooks", csrf=token, url=url, saved="on")
    rotated = await person.post("/webhooks/secret", csrf=token, webhook=webhook)
    rotated_again = await person.post("/webhooks/secret", csrf=token, webhook=webhook)

    assert secret_in(page) != secret_in(rotated)
    for answer in (again, rotated_again):
        assert answer.headers["location"] == "/webhooks?said=sent-before"
    assert len(set(ids_in(await person.open("/webhooks")))) == 1


async def test_a_form_that_was_refused_may_be_sent_again(reader: Reader, post: Post) -> None:
    person = reader.person
    token = form_token((await person.open("/webhooks")).text)

    for _ in range(2):
        refused = await person.post("/webhooks", csrf=token, url="ftp://example.org", saved="on")
        assert refused.status_code == 400
    accepted = await person.post("/webhooks", csrf=token, url=post.receiver.url(), saved="on")

    assert secret_in(accepted)


async def test_a_webhook_is_added_and_its_secret_is_shown_once(reader: Reader, post: Post) -> None:
    page = await added(reader, post, saved="on", read="on", tag="Birds", q="bower*")
    secret = secret_in(page)
    shown = await reader.person.open("/webhooks")

    assert secret not in shown.text
    assert post.receiver.url() in shown.text
    words = text_of(shown)
    assert "Saved, read or archived. Only with the label Birds . Only what matches bower*" in words
    [webhook] = (await post.member.get("/v1/webhooks")).json()["data"]
    assert webhook["events"] == [
        *("post.created", "post.read", "post.unread", "post.archived", "post.unarchived"),
    ]


async def test_a_test_is_sent_and_can_be_looked_at(reader: Reader, post: Post) -> None:
    page = await added(reader, post)
    post.receiver.answer("200 OK", b"thank you")
    async with delivering(post):
        sent = await reader.person.send("/webhooks/test", "/webhooks", webhook=id_in(page))
    shown = await reader.person.open(sent.headers["location"])
    [path] = re.findall(r'href="(/webhooks/[^"]+)"', shown.text)
    message = await reader.person.open(path)

    assert sent.headers["location"] == "/webhooks?said=webhook-delivered"
    assert post.receiver.received[0].is_signed_with(secret_in(page))
    assert "Webhook test" in text_of(shown)
    assert "thank you" in text_of(message)
    assert '"type": "webhook.test"' in text_of(message)


async def test_a_failed_message_is_sent_again_by_hand(reader: Reader, post: Post) -> None:
    page = await added(reader, post)
    webhook_id = id_in(page)
    post.receiver.answer("404 Not Found")
    async with delivering(post):
        failed = await reader.person.send("/webhooks/test", "/webhooks", webhook=webhook_id)
        shown = await reader.person.open("/webhooks")
        [message] = set(re.findall(r'name="message" value="([^"]+)"', shown.text))
        post.receiver.answer("200 OK")
        fields = {"webhook": webhook_id, "message": message}
        again = await reader.person.send("/webhooks/again", "/webhooks", **fields)

    assert failed.headers["location"] == "/webhooks?said=webhook-failed"
    assert again.headers["location"] == "/webhooks?said=webhook-delivered"
    ids = {one.headers["webhook-id"] for one in post.receiver.received}
    assert len(post.receiver.received) == 2
    assert ids == {message}


async def test_a_webhook_that_fails_says_since_when_and_why(reader: Reader, post: Post) -> None:
    await added(reader, post)
    post.receiver.answer("500 Internal Server Error")
    await post.member.save()
    await post.deliver()

    words = text_of(await reader.person.open("/webhooks"))

    assert "failing since" in words
    assert "The answer was 500. Tried again" in words


async def test_a_webhook_is_paused_resumed_and_removed(reader: Reader, post: Post) -> None:
    webhook_id = id_in(await added(reader, post))

    paused = await reader.person.send("/webhooks/pause", "/webhooks", webhook=webhook_id)
    assert "paused" in text_of(await reader.person.open("/webhooks"))
    resumed = await reader.person.send("/webhooks/resume", "/webhooks", webhook=webhook_id)
    assert "working" in text_of(await reader.person.open("/webhooks"))
    removed = await reader.person.send("/webhooks/remove", "/webhooks", webhook=webhook_id)
    again = await reader.person.send("/webhooks/remove", "/webhooks", webhook=webhook_id)

    assert [one.headers["location"].partition("=")[2] for one in (paused, resumed, removed)] == [
        *("webhook-paused", "webhook-resumed", "webhook-removed"),
    ]
    assert again.status_code == 404
    assert post.receiver.url() not in (await reader.person.open("/webhooks")).text
    activity = text_of(await reader.person.open("/activity"))
    assert f"Added the webhook {post.receiver.host}" in activity
    assert f"Removed the webhook {post.receiver.host}" in activity
