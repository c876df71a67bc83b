"""Clients that are silent or slow are closed, each after its own time-out."""

import asyncio
import contextlib

import msgspec
import pytest

from tests.support.programs import raw_http
from tests.support.programs.raw_http import LIMITS, DeafClient, request
from tests.support.waiting import until

pytestmark = pytest.mark.anyio


async def test_a_connection_without_a_request_is_closed() -> None:
    async with raw_http.serving(msgspec.structs.replace(LIMITS, header_timeout_s=2)) as server:
        client = await server.connect()

        assert await client.is_closed_by_the_server()


async def test_a_connection_is_closed_some_time_after_its_last_request() -> None:
    async with raw_http.serving(msgspec.structs.replace(LIMITS, idle_timeout_s=0.1)) as server:
        client = await server.connect()
        assert (await client.ask("/")).status == 200

        assert await client.is_closed_by_the_server()


@pytest.mark.parametrize("sent", [b"G", b"GET / HTTP/1.1\r\nHost: a", b"\r\n"])
async def test_headers_that_do_not_end_are_refused(sent: bytes) -> None:
    async with raw_http.serving(msgspec.structs.replace(LIMITS, header_timeout_s=2)) as server:
        client = await server.connect()
        await client.send(sent)

        answer = await client.answer()

        assert answer.status == 400
        assert "headers took longer than 2 seconds" in answer.json["error"]
        assert await client.is_closed_by_the_server()


async def test_headers_that_come_byte_by_byte_are_refused() -> None:
    async with raw_http.serving(msgspec.structs.replace(LIMITS, header_timeout_s=0.3)) as server:
        client = await server.connect()
        asking = asyncio.create_task(_send_slowly(client, b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 99))

        answer = await client.answer()

        assert "headers took longer" in answer.json["error"]
        asking.cancel()
        await asyncio.wait((asking,))


async def _send_slowly(client: raw_http.Client, data: bytes) -> None:
    for byte in data:
        client.writer.write(bytes((byte,)))
        await asyncio.sleep(0.02)


@pytest.mark.parametrize(
    "head",
    [
        request("/", "Content-Length: 100", method="POST"),
        request("/", "Transfer-Encoding: chunked", method="POST"),
    ],
)
async def test_a_body_that_does_not_end_is_refused(head: bytes) -> None:
    async with raw_http.serving(msgspec.structs.replace(LIMITS, body_timeout_s=0.1)) as server:
        client = await server.connect()
        await client.send(head + b"1\r\n")

        answer = await client.answer()

        assert "body took longer than 0.1 seconds" in answer.json["error"]
        assert answer.headers["connection"] == "close"
        assert server.bodies == []


async def test_a_request_that_takes_the_server_long_is_not_cut_off() -> None:
    # Enough for the headers on a busy machine.
    quick = msgspec.structs.replace(
        LIMITS, header_timeout_s=2, body_timeout_s=2, response_timeout_s=2, idle_timeout_s=2
    )
    async with raw_http.serving(quick) as server:
        client = await server.connect()
        await client.send(request("/hold", method="POST", body=b"sent"))
        await server.is_held.acquire()
        # Another connection is closed by the same sweep that would close this one.
        assert await (await server.connect()).is_closed_by_the_server()
        server.is_released.set()

        assert (await client.answer()).body == b"held"


@pytest.mark.parametrize("path", ["/large", "/endless"])
async def test_a_client_that_does_not_read_is_closed(path: str) -> None:
    async with raw_http.serving(msgspec.structs.replace(LIMITS, response_timeout_s=0.1)) as server:
        with contextlib.closing(DeafClient()) as client:
            await client.ask(server.port, path)

            assert await until(client.is_reset)


async def test_a_client_that_reads_at_all_gets_the_whole_answer() -> None:
    async with raw_http.serving(msgspec.structs.replace(LIMITS, response_timeout_s=30)) as server:
        client = await server.connect()

        assert len((await client.ask("/large")).body) == 20_000_000
