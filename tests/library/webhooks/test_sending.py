"""Messages go to https and public addresses only; answers are bounded and redirects refused."""

import asyncio
import socket
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bowerbird.library.webhooks.sending import Attempt, Sender
from bowerbird.outgoing import RESOLVERS_OF_ACCOUNT
from tests.support.hosts.image_hosts import ImageHosts, image_hosts
from tests.support.waiting import PATIENCE_S

pytestmark = pytest.mark.anyio

HOST = "hooks.example.com"
URL = f"https://{HOST}/b"


@pytest.fixture
async def hosts(tmp_path: Path) -> AsyncIterator[ImageHosts]:
    async with image_hosts(tmp_path, [HOST]) as played:
        yield played


async def send(hosts: ImageHosts, url: str = URL, *, timeout_s: float = 60.0) -> Attempt:
    async with Sender(resolve=hosts.resolve, connect=hosts.connect, timeout_s=timeout_s) as sender:
        return await sender.send(url, {"webhook-id": "msg_1"}, b"")


async def test_a_message_goes_over_tls_to_the_address_that_was_checked(hosts: ImageHosts) -> None:
    hosts.put(URL, b"thank you")

    sent = await send(hosts)

    assert (sent.status, sent.answer, sent.problem) == (200, "thank you", "")
    assert hosts.requests == [f"{HOST}/b"]
    assert hosts.heads[0]["webhook-id"] == "msg_1"


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "10.1.2.3", "169.254.169.254", "::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1"],
)
async def test_a_name_that_leads_to_a_private_address_is_refused(
    hosts: ImageHosts, address: str
) -> None:
    hosts.names[HOST] = ["151.101.1.140", address]

    sent = await send(hosts)

    assert sent.problem == "The address is not on the public internet."
    assert hosts.connected_to == []


async def test_name_servers_that_do_not_answer_hold_up_no_request(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answers = threading.Event()

    def wait(*_: object, **__: object) -> list[object]:
        answers.wait(PATIENCE_S)
        raise socket.gaierror

    monkeypatch.setattr(socket, "getaddrinfo", wait)
    async with Sender(timeout_s=0.05) as sender:
        sent = await asyncio.gather(
            *(sender.send(f"https://{number}.{HOST}/b", {}, b"") for number in range(40))
        )

    assert {one.problem for one in sent} == {"No complete answer within 0.05 seconds."}
    # Requests decode their bodies and rank posts on these threads.
    await asyncio.wait_for(asyncio.to_thread(lambda: None), PATIENCE_S / 2)
    answers.set()


async def test_an_account_leaves_others_most_of_the_lookups_of_names(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answers, asked = threading.Event(), list[str]()

    def wait(name: str, *_: object, **__: object) -> list[object]:
        asked.append(name)
        if name.endswith(HOST):
            answers.wait(PATIENCE_S)
        raise socket.gaierror

    monkeypatch.setattr(socket, "getaddrinfo", wait)
    for _ in range(2):
        async with Sender(timeout_s=0.05).asked_by(1) as sender:
            await asyncio.gather(
                *(sender.send(f"https://{number}.{HOST}/b", {}, b"") for number in range(70))
            )
    assert len(asked) == RESOLVERS_OF_ACCOUNT

    async with Sender().asked_by(2) as sender:
        sent = await sender.send("https://another.example/b", {}, b"")
    assert (asked[-1], sent.problem) == ("another.example", "The connection failed.")
    answers.set()
    async with Sender().asked_by(1) as sender:
        await sender.send("https://another.example/b", {}, b"")
    assert len(asked) == RESOLVERS_OF_ACCOUNT + 2


async def test_a_redirect_is_not_followed(hosts: ImageHosts) -> None:
    hosts.redirect(URL, "https://hooks.example.com/elsewhere")

    sent = await send(hosts)

    assert sent.problem == "The answer was the redirect 302, which is not followed."
    assert hosts.requests == [f"{HOST}/b"]


async def test_no_more_than_64_kib_of_an_answer_are_read_and_1_000_characters_kept(
    hosts: ImageHosts,
) -> None:
    hosts.endless.add(f"{HOST}/b")

    sent = await send(hosts)

    assert sent.problem == ""
    assert len(sent.answer) <= 1_000


async def test_an_answer_that_never_ends_has_failed(hosts: ImageHosts) -> None:
    hosts.dripping.add(f"{HOST}/b")

    sent = await send(hosts, timeout_s=2.0)

    assert sent.problem == "No complete answer within 2 seconds."


@pytest.mark.parametrize("url", ["http://hooks.example.com/", "https://127.0.0.1/"])
async def test_an_address_that_is_not_allowed_any_more_is_sent_nothing(
    hosts: ImageHosts, url: str
) -> None:
    sent = await send(hosts, url)

    assert sent.problem == "The address is not allowed any more."
    assert hosts.resolved == []


async def test_a_host_that_does_not_answer_has_failed(hosts: ImageHosts) -> None:
    hosts.port = 1

    assert (await send(hosts)).problem == "The connection failed."
