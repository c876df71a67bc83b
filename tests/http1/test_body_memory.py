"""Whose bodies are refused when all together take too much memory."""

import asyncio

import pytest

from bowerbird.http1 import bounds
from tests.support.programs import raw_http
from tests.support.programs.raw_http import Answer, Client, RawServer, request
from tests.support.waiting import until

pytestmark = pytest.mark.anyio


async def hold(server: RawServer, size: int, *lines: str) -> Client:
    """Sends all of a body but its last byte; returns when the application has it."""
    client = await server.connect()
    arrived = server.received_bytes + size
    before = len(server.scopes)
    await client.send(request("/", *lines, f"Content-Length: {size + 1}", method="POST"))

    async def is_asked_for() -> bool:
        return len(server.scopes) > before

    async def has_arrived() -> bool:
        return server.received_bytes >= arrived

    # The application has asked for the body, so it is known whose it is.
    assert await until(is_asked_for)
    await client.send(b"x" * size)
    assert await until(has_arrived)
    return client


async def finish(client: Client) -> Answer:
    client.writer.write(b"x")
    return await client.answer()


async def test_strangers_cannot_take_the_memory_of_known_callers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bounds, "MAX_ALL_BODY_BYTES", 600_000)
    monkeypatch.setattr(bounds, "MAX_STRANGERS_BODY_BYTES", 300_000)
    async with raw_http.serving(stop_timeout_s=0) as server:
        known = await hold(server, 200_000, "X-Account: 1")
        # A key that nobody has verified is worth nothing.
        strangers = [await hold(server, 90_000, "Authorization: Bearer x") for _ in range(9)]
        large = await hold(server, 300_000, "X-Account: 2")

        assert (await finish(known)).status == 200
        assert (await finish(large)).status == 200
        answers = [await finish(stranger) for stranger in strangers]

        assert {answer.status for answer in answers[:6]} == {503}
        assert {answer.headers["retry-after"] for answer in answers[:6]} == {"5"}
        assert answers[8].status == 200


async def test_known_callers_cannot_take_the_memory_of_strangers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bounds, "MAX_ALL_BODY_BYTES", 300_000)
    async with raw_http.serving(stop_timeout_s=0) as server:
        stranger = await hold(server, 90_000)
        for _ in range(9):
            await hold(server, 90_000, "X-Account: 1")

        assert (await finish(stranger)).status == 200


@pytest.mark.parametrize(
    ("bound", "line"),
    [
        ("MAX_STRANGERS_BODY_BYTES", "X-Forwarded-For: 192.0.2.{}"),
        ("MAX_STRANGERS_BODY_BYTES", "X-Forwarded-For: 2001:db8:0:{}::1"),
        ("MAX_ALL_BODY_BYTES", "X-Account: {}"),
    ],
    ids=["address", "network", "account"],
)
async def test_whoever_holds_the_most_is_refused_and_not_the_largest_body(
    monkeypatch: pytest.MonkeyPatch, bound: str, line: str
) -> None:
    monkeypatch.setattr(bounds, bound, 500_000)
    async with raw_http.serving(stop_timeout_s=0) as server:
        many = [await hold(server, 90_000, line.format(1)) for _ in range(3)]
        largest = await hold(server, 150_000, line.format(2))
        # Now all together take too much.
        last = await hold(server, 100_000, line.format(3))

        statuses = [(await finish(client)).status for client in (*many, largest, last)]

        # The oldest of those that hold the most.
        assert statuses == [503, 200, 200, 200, 200]


async def test_what_the_application_has_written_to_a_file_is_not_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bounds, "MAX_ALL_BODY_BYTES", 12_000_000)
    body = b"x" * 10_000_000
    async with raw_http.serving(stop_timeout_s=0) as server:
        clients = [await server.connect() for _ in range(6)]

        answers = await asyncio.gather(
            *[client.ask("/drop", "X-Account: 1", method="POST", body=body) for client in clients]
        )

    assert [answer.body for answer in answers] == [b"10000000"] * 6


async def test_what_the_application_may_keep_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "MAX_STRANGERS_BODY_BYTES", 2_000_000)
    async with raw_http.serving(stop_timeout_s=0) as server:
        clients = [await hold(server, 900_000) for _ in range(3)]

        assert [(await finish(client)).status for client in clients] == [503, 200, 200]


async def test_memory_is_free_again_after_answers_refusals_and_lost_connections(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bounds, "MAX_STRANGERS_BODY_BYTES", 400_000)
    async with raw_http.serving(stop_timeout_s=0) as server:
        for _ in range(5):
            assert (await finish(await hold(server, 300_000))).status == 200
            refused = await hold(server, 250_000)
            other = await hold(server, 250_000)
            assert [(await finish(client)).status for client in (refused, other)] == [503, 200]
            (await hold(server, 10_000)).leave()


async def test_the_body_of_a_request_that_waits_its_turn_counts_as_one_of_a_stranger(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bounds, "MAX_STRANGERS_BODY_BYTES", 1_000)
    async with raw_http.serving(stop_timeout_s=0) as server:
        client = await server.connect()
        second = request("/", "X-Account: 1", "Content-Length: 9000", method="POST")
        await client.send(request("/hold") + second + b"x" * 2_000)
        await server.is_held.acquire()
        server.is_released.set()

        assert [(await client.answer()).status for _ in range(2)] == [200, 503]
