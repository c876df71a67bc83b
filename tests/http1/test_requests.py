"""How the server reads requests, and what it answers to those that are not HTTP/1.1."""

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bowerbird.http1 import bounds
from tests.support.programs import raw_http
from tests.support.programs.raw_http import Client, RawServer, request

pytestmark = pytest.mark.anyio


async def test_a_connection_serves_one_after_another(server: RawServer, client: Client) -> None:
    for number in range(3):
        answer = await client.ask("/", method="POST", body=b"%d" % number)
        assert (answer.status, answer.body) == (200, b"%d" % number)

    assert "connection" not in answer.headers
    assert answer.headers["date"].endswith(" GMT")
    assert server.bodies == [b"0", b"1", b"2"]


async def test_the_application_gets_query_and_headers(server: RawServer, client: Client) -> None:
    await client.ask("/caf%C3%A9/%2F?q=%C3%A9&r=", "X-Name: \t one 1 \t ", "X-Name: two")

    (scope,) = server.scopes
    assert scope["path"] == "/café//"
    assert scope["raw_path"] == b"/caf%C3%A9/%2F"
    assert scope["query_string"] == b"q=%C3%A9&r="
    assert scope["method"] == "GET"
    assert scope["headers"] == [
        (b"host", b"localhost"),
        (b"x-name", b"one 1"),
        (b"x-name", b"two"),
    ]
    assert scope["client"][0] == "127.0.0.1"


@pytest.mark.parametrize(
    ("target", "path", "query"),
    [
        ("http://other.example:1/a?b", "/a", b"b"),
        ("HTTP://other.example", "/", b""),
        ("http://other.example?b", "/", b"b"),
        ("/a#b?c", "/a", b""),
        ("/%ff", "/\N{REPLACEMENT CHARACTER}", b""),
        ("/%zz", "/%zz", b""),
    ],
)
async def test_other_forms_of_a_url_are_understood(
    server: RawServer, client: Client, target: str, path: str, query: bytes
) -> None:
    assert (await client.ask(target)).status == 200

    assert (server.scopes[0]["path"], server.scopes[0]["query_string"]) == (path, query)


async def test_requests_sent_at_once_are_answered_in_order(client: Client) -> None:
    sent = [b"a" * 10, b"b" * 100_000, b"", b"d"]
    await client.send(b"".join(request("/", method="POST", body=body) for body in sent))

    assert [(await client.answer()).body for _ in sent] == sent


async def test_too_many_requests_sent_at_once_are_refused_after_some(client: Client) -> None:
    await client.send(request("/") * (bounds.MAX_PIPELINED + 5))

    statuses = [(await client.answer()).status for _ in range(bounds.MAX_PIPELINED + 2)]

    assert statuses == [200] * (bounds.MAX_PIPELINED + 1) + [400]
    assert await client.is_closed_by_the_server()


async def test_a_body_larger_than_all_buffers_arrives_whole(client: Client) -> None:
    body = bytes(range(256)) * 20_000

    answer = await client.ask("/", method="POST", body=body)

    assert answer.body == body


async def test_the_client_is_told_to_continue_once_its_body_is_wanted(client: Client) -> None:
    head = request("/", "Expect: 100-continue", "Content-Length: 2", method="POST")
    await client.send(head)

    assert (await client.answer()).status == 100
    await client.send(b"ok")
    assert (await client.answer()).body == b"ok"


async def test_a_client_that_expects_to_continue_is_refused_without_sending(client: Client) -> None:
    await client.send(request("/ignore", "Expect: 100-continue", "Content-Length: 2"))

    answer = await client.answer()

    assert (answer.status, answer.headers["connection"]) == (401, "close")


@pytest.mark.parametrize("body", [b"", b"a body"])
async def test_an_offer_to_upgrade_to_http2_is_ignored(client: Client, body: bytes) -> None:
    offer = ("Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABk")
    first = await client.ask("/", *offer, method="POST", body=body)
    assert (first.status, first.body) == (200, body)
    chunked = request("/", *offer, "Transfer-Encoding: chunked", method="POST")
    await client.send(chunked + b"1\r\na\r\n0\r\n\r\n" + request("/", method="POST", body=b"b"))
    assert [(await client.answer()).body for _ in range(2)] == [b"a", b"b"]


@pytest.mark.parametrize(
    ("sent", "named"),
    [
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "This port speaks HTTP/1.1 and not HTTP/2."),
        (b"GET /\r\n\r\n", "HTTP/1.1"),
        (b"GET / HTTP/1.1\r\n\r\n", "Host"),
        (b"GET / HTTP/3.0\r\n\r\n", "version"),
        (b"\x16\x03\x01\x02\x00\x01", "method"),
        (b"GET nowhere HTTP/1.1\r\n\r\n", "url"),
        (b"GET ftp://a/b HTTP/1.1\r\nHost: a\r\n\r\n", "path"),
        (b"CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n", "path"),
        (b"GET /\xff HTTP/1.1\r\n\r\n", "url"),
        (b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n", "Content-Length"),
        (
            b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: " + b"9" * 40 + b"\r\n\r\n",
            "Content-Length",
        ),
        (
            b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
            "Content-Length",
        ),
        (
            request("/", "Content-Length: 1", "Transfer-Encoding: chunked", method="POST"),
            "Transfer-Encoding",
        ),
        (b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n", "Transfer-Encoding"),
        (b"GET / HTTP/1.1\r\nA : b\r\n\r\n", "header"),
        (b"GET / HTTP/1.1\r\nA: \x00\r\n\r\n", "header"),
        (b"GET / HTTP/1.1\nA: b\n\n", "CRLF"),
        (b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\n\r\n", "64 KiB"),
        (b"GET / HTTP/1.1\r\nHost: a\r\nA: " + b"a" * 70_000 + b"\r\n\r\n", "64 KiB"),
        (b"GET / HTTP/1.1\r\nA: " + b"a" * 700_000, "64 KiB"),
        (b"GET / HTTP/1.1\r\nHost: a\r\n" + b"A: b\r\n" * 300, "200 headers"),
        (request("/", "Transfer-Encoding: gzip, chunked", method="POST"), "Transfer-Encoding"),
        (b"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", "Transfer-Encoding"),
    ],
)
async def test_what_is_not_a_request_is_refused_with_a_sentence_and_closed(
    server: RawServer, client: Client, sent: bytes, named: str
) -> None:
    await client.send(sent)

    answer = await client.answer()

    assert answer.status == 400
    assert answer.json["status"] is False
    assert answer.json["code"] == "INVALID_REQUEST"
    assert named in answer.json["error"]
    assert answer.headers["content-type"].startswith("application/json")
    assert answer.headers["x-request-id"]
    assert answer.headers["connection"] == "close"
    assert await client.is_closed_by_the_server()
    assert server.bodies == []


@pytest.mark.parametrize(
    "sent",
    [
        request("/v1/sandbox/views", "Content-Length: m"),
        request("/v1/sandbox/views?q", *["A: b"] * 300),
        request("http://localhost/v1/sandbox", "Host: another.example"),
        request("/v1/sandbox/views", method="BREW"),
        b"GET /v1/sandbox/" + b"a" * 70_000,
    ],
    ids=["length", "headers", "hosts", "method", "url"],
)
async def test_a_refusal_has_the_mark_of_the_sandbox_if_the_request_was_sent_there(
    client: Client, sent: bytes
) -> None:
    await client.send(sent)

    answer = await client.answer()

    assert answer.json["meta"] == {"sandbox": True}
    assert answer.headers["x-service-environment"] == "sandbox"
    assert answer.headers["access-control-allow-origin"] == "*"


async def test_an_unknown_method_after_another_request_has_its_own_path(client: Client) -> None:
    first, second = request("/v1/sandbox/views"), request("/v1/bookmarks", method="BREW")
    await client.send(first + second)

    assert (await client.answer()).status == 200
    assert "meta" not in (await client.answer()).json


@pytest.mark.parametrize("path", ["/v1/bookmarks", "/v1/sandboxes"])
async def test_no_other_refusal_has_the_mark_of_the_sandbox(client: Client, path: str) -> None:
    answer = await client.ask(path, "Content-Length: m")

    assert "meta" not in answer.json
    assert "x-service-environment" not in answer.headers
    # A page of another origin can read the sentence.
    assert answer.headers["access-control-allow-origin"] == "*"


@pytest.mark.parametrize(
    "chunks", [b"1;" + b"x" * 600_000 + b"\r\na\r\n0\r\n\r\n", b"2\r\nab\r\n" * 1_000]
)
async def test_a_body_of_hardly_anything_but_frames_is_refused(
    server: RawServer, client: Client, chunks: bytes
) -> None:
    await client.send(request("/", "Transfer-Encoding: chunked", method="POST") + chunks)
    assert "not content" in (await client.answer()).json["error"]
    assert server.bodies == []


async def test_a_few_small_chunks_are_read(client: Client) -> None:
    head = request("/", "Transfer-Encoding: chunked", method="POST")
    chunks = b"2\r\nab\r\n" * 50 + b"1000\r\n" + b"x" * 4_096 + b"\r\n"
    await client.send(head + chunks + b"0\r\n\r\n")

    assert (await client.answer()).body == b"ab" * 50 + b"x" * 4_096


@given(
    bodies=st.lists(st.binary(max_size=30), min_size=1, max_size=4),
    cuts=st.lists(st.floats(0, 1), max_size=8),
)
@settings(max_examples=30, deadline=None)
async def test_requests_are_the_same_however_their_bytes_are_split(
    bodies: list[bytes], cuts: list[float]
) -> None:
    sent = b"".join(request("/", method="POST", body=body) for body in bodies)
    ends = [*sorted(int(cut * len(sent)) for cut in cuts), len(sent)]

    async with raw_http.serving(stop_timeout_s=0) as server:
        client = await server.connect()
        for start, end in zip([0, *ends], ends, strict=False):
            await client.send(sent[start:end])
            await asyncio.sleep(0)
        answers = [(await client.answer()).body for _ in bodies]

    assert answers == bodies


@pytest.mark.parametrize("method", ["BREW", "get", "PROPFIND-X"])
async def test_an_unknown_method_is_told_the_known_ones(client: Client, method: str) -> None:
    answer = await client.ask("/v1/bookmarks", method=method)

    assert answer.status == 405
    assert answer.headers["allow"] == "GET, HEAD, POST, PATCH, DELETE, OPTIONS"
    assert b'"METHOD_NOT_ALLOWED"' in answer.body
