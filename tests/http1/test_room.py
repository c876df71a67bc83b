"""How many connections are served, and what happens to those above the bound."""

import resource

import msgspec
import pytest

from bowerbird.http1 import bounds
from bowerbird.settings import Settings
from tests.support.programs import raw_http
from tests.support.programs.raw_http import LIMITS, Client, DeafClient, RawServer, request
from tests.support.waiting import until

pytestmark = pytest.mark.anyio

FEW = msgspec.structs.replace(LIMITS, max_connections=4)


async def connect(server: RawServer, count: int) -> list[Client]:
    return [await server.connect() for _ in range(count)]


async def test_silent_connections_give_way_to_new_ones() -> None:
    async with raw_http.serving(FEW) as server:
        silent = await connect(server, 200)

        assert (await (await server.connect()).ask("/")).status == 200
        assert await silent[0].is_closed_by_the_server()


async def test_the_connection_that_has_waited_longest_gives_way() -> None:
    async with raw_http.serving(FEW) as server:
        clients = await connect(server, 4)
        for client in clients:
            assert (await client.ask("/")).status == 200
        assert (await clients[0].ask("/")).status == 200

        assert (await (await server.connect()).ask("/")).status == 200

        assert await clients[1].is_closed_by_the_server()
        for client in (clients[0], *clients[2:]):
            assert (await client.ask("/")).status == 200


async def test_half_sent_requests_give_way_too() -> None:
    async with raw_http.serving(FEW) as server:
        for client in await connect(server, 4):
            await client.send(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhalf")

        assert (await (await server.connect()).ask("/")).status == 200


async def test_a_request_that_is_being_answered_never_gives_way() -> None:
    async with raw_http.serving(FEW) as server:
        busy = await connect(server, 4)
        for client in busy:
            await client.send(request("/hold"))
            await server.is_held.acquire()

        refused = await (await server.connect()).ask("/")
        assert (refused.status, refused.json["code"]) == (503, "SERVICE_UNAVAILABLE")
        assert refused.headers["retry-after"] == "1"
        server.is_released.set()

        assert [(await client.answer()).body for client in busy] == [b"held"] * 4


@pytest.mark.parametrize("path", ["/healthz", "/livez", "/readyz"])
async def test_health_checks_are_answered_when_all_connections_are_busy(path: str) -> None:
    async with raw_http.serving(FEW, stop_timeout_s=0) as server:
        for client in await connect(server, 4):
            await client.send(request("/hold"))
            await server.is_held.acquire()
        await connect(server, bounds.RESERVED_CONNECTIONS * 2)

        assert (await (await server.connect()).ask(path)).status == 200


async def test_a_stop_closes_idle_connections_and_finishes_requests() -> None:
    async with raw_http.serving() as server:
        idle, busy = await connect(server, 2)
        await busy.send(request("/hold"))
        await server.is_held.acquire()

        server.stopping.set()
        assert await idle.is_closed_by_the_server()
        server.is_released.set()

        answer = await busy.answer()
        assert (answer.body, answer.headers["connection"]) == (b"held", "close")


async def test_answers_that_nobody_reads_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "MAX_ALL_UNSENT_BYTES", 30_000_000)
    async with raw_http.serving(stop_timeout_s=0) as server:
        clients = [DeafClient() for _ in range(4)]
        for client in clients:
            await client.ask(server.port, "/large")

        async def is_one_closed() -> bool:
            return any([await client.is_reset() for client in clients])

        assert await until(is_one_closed)

        assert not all([await client.is_reset() for client in clients])
        for client in clients:
            client.close()


def test_the_limit_of_open_files_is_raised_or_bounds_the_connections() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (1024, hard))
        assert bounds.of(Settings(max_connections=2000)).max_connections == 2000
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] >= 2000
        impossible = bounds.of(Settings(max_connections=hard + 1))
        assert impossible.max_connections < hard
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
