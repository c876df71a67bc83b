"""Requests that two programs could read differently are refused, never guessed at."""

import asyncio

import pytest

from tests.support.programs.raw_http import Client, RawServer, request

pytestmark = pytest.mark.anyio

CHUNKED = request("/", "Transfer-Encoding: chunked", method="POST")


async def refused(server: RawServer, sent: bytes) -> str:
    """The sentence that refuses what was sent. Sent at once, and again byte by byte."""
    sentences = []
    for pieces in ([sent], [bytes((byte,)) for byte in sent]):
        client = await server.connect()
        for piece in pieces:
            client.writer.write(piece)
            await asyncio.sleep(0)
        answer = await client.answer()
        assert (answer.status, answer.json["code"]) == (400, "INVALID_REQUEST")
        assert await client.is_closed_by_the_server()
        sentences.append(answer.json["error"])
    assert sentences[0] == sentences[1]
    assert server.bodies == []
    return str(sentences[0])


@pytest.mark.parametrize(
    "line",
    [
        *(b"GET / RTSP/1.0", b"OPTIONS / RTSP/1.0", b"SOURCE / ICE/1.0", b"GET / ICE/1.0"),
        *(b"GET  / HTTP/1.1", b"GET /  HTTP/1.1", b"GET / HTTP/1.1 ", b"GET / a HTTP/1.1"),
        *(b"GET /\tHTTP/1.1", b"GET\t/ HTTP/1.1", b" GET / HTTP/1.1", b"GET / http/1.1"),
        *(b"GET / HTTP/01.1", b"GET / HTTP/1.10", b"GET / HTTP/1.1\r"),
    ],
)
async def test_a_request_line_is_three_words_apart(server: RawServer, line: bytes) -> None:
    await refused(server, line + b"\r\nHost: a\r\n\r\n")


async def test_the_line_of_a_second_request_is_checked(server: RawServer, client: Client) -> None:
    second = b"GET  / HTTP/1.1\r\nHost: a\r\n\r\n"
    # What the first request contains does not count as the line of the second.
    for first in (
        request("/", method="POST", body=b"\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"),
        request("/"),
        CHUNKED + b"1\r\na\r\n0\r\n\r\n",
    ):
        client = await server.connect()
        await client.send(first + second)

        assert [(await client.answer()).status for _ in range(2)] == [200, 400]
        assert await client.is_closed_by_the_server()


async def test_empty_lines_before_a_request_are_skipped(client: Client) -> None:
    for blank in (b"\r\n", b"\r\n\r\n", b"\r\n" * 50):
        await client.send(blank + request("/"))
        assert (await client.answer()).status == 200


async def test_empty_lines_without_end_are_refused(client: Client) -> None:
    await client.send(b"\r\n" * 40_000)

    assert "64 KiB" in (await client.answer()).json["error"]


@pytest.mark.parametrize("version", ["1.0", "1.1"])
@pytest.mark.parametrize(
    "host",
    ["a, b", "a,b", "a/b?c", "u@x", "a b", "a:b", "a:1:2", "[::1", "a\\b", "a#b", "http://a", "é"],
)
async def test_an_invalid_host_is_refused(server: RawServer, host: str, version: str) -> None:
    sentence = await refused(server, f"GET / HTTP/{version}\r\nHost: {host}\r\n\r\n".encode())

    assert "Host" in sentence


@pytest.mark.parametrize(
    "host",
    ["", "a", "A.example:8080", "a_b", "127.0.0.1:1", "[::1]:8080", "[fe80::1]", "xn--a-ca.", "a:"],
)
async def test_a_valid_host_is_accepted(client: Client, host: str) -> None:
    await client.send(f"GET / HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())

    assert (await client.answer()).status == 200


async def test_two_hosts_are_refused_in_every_version(server: RawServer) -> None:
    for version in (b"1.0", b"1.1"):
        sent = b"GET / HTTP/%b\r\nHost: a\r\nHost: a\r\n\r\n" % version
        assert "Host" in await refused(server, sent)


async def test_an_old_client_needs_no_host(client: Client) -> None:
    await client.send(b"GET / HTTP/1.0\r\n\r\n")

    assert (await client.answer()).status == 200


@pytest.mark.parametrize("target", ["http://u@x/", "http://a b/", "http://a,b/", "http:///"])
async def test_an_invalid_authority_in_a_url_is_refused(server: RawServer, target: str) -> None:
    await refused(server, f"GET {target} HTTP/1.1\r\nHost: a\r\n\r\n".encode())


async def test_the_host_of_a_url_replaces_the_header(server: RawServer, client: Client) -> None:
    assert (await client.ask("http://other.example:1/a")).status == 200

    assert server.scopes[0]["headers"] == [(b"host", b"other.example:1")]


async def test_an_old_client_is_never_told_to_continue(client: Client) -> None:
    head = b"POST / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"
    await client.send(head)
    await client.send(b"ok")

    answer = await client.answer()

    assert (answer.status, answer.body) == (200, b"ok")


@pytest.mark.parametrize(
    "chunks",
    [
        b"0" * 39 + b"1\r\na\r\n0\r\n\r\n",
        b"1\r\na\r\n" + b"0" * 40 + b"\r\n\r\n",
        b"F" * 40 + b"\r\n",
        b"100000000\r\n",
        b"0x1\r\na\r\n",
        b"+1\r\na\r\n",
        b"-1\r\na\r\n",
        b" 1\r\na\r\n",
        b"1 \r\na\r\n",
        b"1_0\r\n",
        b"\r\n",
        b";a\r\n",
        b"1\na\r\n",
        b"1\r\na\n0\r\n\r\n",
        b"1\r\nab0\r\n\r\n",
        b"1\r\nab\r\n0\r\n\r\n",
        b"1;a\x00\r\na\r\n",
        b"1;a\rb\r\na\r\n",
        b"1;a\nb\r\na\r\n",
        b"0\r\nA : b\r\n\r\n",
        b"0\r\nA: b\r\n c\r\n\r\n",
        b"0\r\nA: b\n\r\n",
        b"0\r\nA: \x00\r\n\r\n",
        b"0\r\nno colon\r\n\r\n",
        b"0\r\n\n",
    ],
)
async def test_a_chunk_that_is_not_exact_is_refused(server: RawServer, chunks: bytes) -> None:
    assert "chunk" in await refused(server, CHUNKED + chunks)


@pytest.mark.parametrize(
    "chunks",
    [
        b"1;" + b"x" * 8_000 + b"\r\na\r\n0\r\n\r\n",
        b"1;x\r\na\r\n" + b"0\r\n" + b"A: b\r\n" * 5_000 + b"\r\n",
        b"0\r\nA: " + b"b" * 20_000 + b"\r\n\r\n",
    ],
    ids=["extension", "many fields", "long field"],
)
async def test_much_that_is_not_content_is_refused(
    server: RawServer, client: Client, chunks: bytes
) -> None:
    await client.send(CHUNKED + chunks)

    assert "not content" in (await client.answer()).json["error"]
    assert server.bodies == []


async def test_chunks_may_have_extensions_and_fields_after_them(client: Client) -> None:
    body = b'0a;a=b;c="d e"\r\n0123456789\r\n0B\r\nabcdefghijk\r\n00;x\r\nA: b\r\nC:\td\r\n\r\n'
    sent = CHUNKED + body + CHUNKED + b"0\r\n\r\n" + request("/", method="POST", body=b"next")
    for pieces in ([sent], [bytes((byte,)) for byte in sent]):
        for piece in pieces:
            client.writer.write(piece)
            await asyncio.sleep(0)

        answers = [(await client.answer()).body for _ in range(3)]

        assert answers == [b"0123456789abcdefghijk", b"", b"next"]


@pytest.mark.parametrize(
    "lines",
    [
        "Transfer-Encoding: chunked, chunked",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
        *("Transfer-Encoding: identity", "Transfer-Encoding: xchunked"),
        *("Transfer-Encoding: chunked;a=b", 'Transfer-Encoding: "chunked"'),
        *("Transfer-Encoding: \x0bchunked", "Transfer-Encoding:", "Transfer-Encoding : chunked"),
        *("Transfer-Encoding\t: chunked", "Transfer-Encoding: chunked\r\nContent-Length: 1"),
        *("Content-Length: 1\r\nTransfer-Encoding: chunked", "X: a\r\n Transfer-Encoding: chunked"),
        *("Content-Length: 1\r\nContent-Length: 1", "Content-Length: +1", "Content-Length: 0x1"),
        *("Content-Length: 1 1", "Content-Length: 1,1", "Content-Length:", "Content-Length: 1_0"),
        *("Content-Length : 1", "X: a\nContent-Length: 1", "X: a\rContent-Length: 1", "X\r\n: a"),
    ],
)
async def test_an_unclear_length_is_refused(server: RawServer, lines: str) -> None:
    await refused(server, request("/", *lines.split("\r\n"), method="POST"))


async def test_what_follows_the_last_request_of_a_connection_is_not_read(
    server: RawServer, client: Client
) -> None:
    for last in (
        request("/", "Connection: close", method="POST", body=b"a"),
        b"POST / HTTP/1.0\r\nContent-Length: 1\r\n\r\na",
    ):
        client = await server.connect()
        await client.send(last + request("/", method="POST", body=b"b"))

        assert (await client.answer()).body == b"a"
        assert await client.is_closed_by_the_server()
    assert server.bodies == [b"a", b"a"]


async def test_requests_sent_at_once_are_answered_after_a_half_close(client: Client) -> None:
    await client.send(request("/stream") + request("/") + request("/stream"))
    client.writer.write_eof()

    assert [(await client.answer()).body for _ in range(3)] == [b"one two", b"", b"one two"]
    assert await client.is_closed_by_the_server()


@pytest.mark.parametrize("count", [1, 2, 3])
async def test_slow_reads_sent_at_once_are_answered_after_a_half_close(
    server: RawServer, client: Client, count: int
) -> None:
    await client.send(request("/") * (count - 1) + request("/hold"))
    client.writer.write_eof()
    for _ in range(count - 1):
        assert (await client.answer()).status == 200
    await server.is_held.acquire()
    server.is_released.set()

    assert (await client.answer()).body == b"held"
    assert await client.is_closed_by_the_server()
