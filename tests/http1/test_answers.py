"""How answers are framed, and what happens to those that go wrong."""

import asyncio

import pytest

from tests.support.programs.raw_http import Client, DeafClient, RawServer, request
from tests.support.waiting import PATIENCE_S

pytestmark = pytest.mark.anyio


async def test_a_stream_is_sent_in_chunks(client: Client) -> None:
    answer = await client.ask("/stream")

    assert answer.headers["transfer-encoding"] == "chunked"
    assert answer.body == b"one two"
    assert (await client.ask("/")).status == 200


async def test_a_stream_to_an_old_client_ends_with_the_connection(client: Client) -> None:
    await client.send(b"GET /stream HTTP/1.0\r\n\r\n")

    answer = await client.answer()

    assert answer.headers["connection"] == "close"
    assert answer.body == b"one two"


async def test_head_has_the_headers_and_no_body(client: Client) -> None:
    answer = await client.ask("/stream", method="HEAD")

    assert answer.status == 200
    assert (await client.ask("/", method="POST", body=b"next")).body == b"next"


async def test_an_answer_without_a_body_has_no_length(client: Client) -> None:
    answer = await client.ask("/not-modified")

    assert "content-length" not in answer.headers
    assert (await client.ask("/")).status == 200


async def test_connection_close_is_obeyed(client: Client) -> None:
    answer = await client.ask("/", "Connection: close")

    assert answer.headers["connection"] == "close"
    assert await client.is_closed_by_the_server()


async def test_a_fault_is_answered_with_a_reference(client: Client) -> None:
    answer = await client.ask("/fail")

    assert (answer.status, answer.json["code"]) == (500, "INTERNAL_ERROR")
    assert (await client.ask("/")).status == 200


async def test_half_an_answer_does_not_look_whole(client: Client) -> None:
    await client.send(request("/break-off"))

    received = await client.reader.read()

    assert b"half" in received
    assert not received.endswith(b"0\r\n\r\n")


async def test_a_line_break_in_a_header_never_reaches_the_client(client: Client) -> None:
    answer = await client.ask("/line-break")

    assert answer.status == 500
    assert "set-cookie" not in answer.headers


async def test_a_refusal_reaches_a_client_that_is_still_sending(client: Client) -> None:
    body = b"x" * 5_000_000
    client.writer.write(request("/ignore", method="POST", body=body))

    answer = await client.answer()

    assert (answer.status, answer.headers["connection"]) == (401, "close")


async def test_the_application_is_told_of_a_lost_client(server: RawServer, client: Client) -> None:
    await client.send(request("/wait", method="POST", body=b"x"))
    await server.is_held.acquire()

    client.leave()

    await asyncio.wait_for(server.has_left.wait(), PATIENCE_S)


async def test_a_client_that_closes_its_side_gets_the_answer_to_its_write(
    server: RawServer, client: Client
) -> None:
    await client.send(request("/hold", method="POST", body=b"x"))
    client.writer.write_eof()
    await server.is_held.acquire()
    server.is_released.set()

    assert (await client.answer()).body == b"held"
    assert await client.is_closed_by_the_server()


async def test_answers_stay_in_order_when_one_is_slow(server: RawServer, client: Client) -> None:
    sent = request("/large-then-wait") + request("/hold") + request("/", method="POST", body=b"c")
    await client.send(sent)

    large = await client.answer()
    server.is_released.set()
    held, last = await client.answer(), await client.answer()

    assert (len(large.body), held.body, last.body) == (20_000_000, b"held", b"c")


async def test_a_client_that_stops_reading_and_leaves_causes_no_error(
    server: RawServer, caplog: pytest.LogCaptureFixture
) -> None:
    deaf = DeafClient()
    await deaf.ask(server.port, "/endless-unless-gone")
    await server.is_held.acquire()

    deaf.close()

    await asyncio.wait_for(server.has_left.wait(), PATIENCE_S)
    assert (await (await server.connect()).ask("/")).status == 200
    assert caplog.records == []
