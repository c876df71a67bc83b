"""Request bodies: JSON, plain or gzipped, with limits on size and depth."""

import asyncio
import gzip
import json
import threading
import zlib
from collections.abc import AsyncIterator
from typing import Any, Final

import httpx
import pytest

from bowerbird.errors import Refusal
from bowerbird.requests import decoding, limits
from bowerbird.wire import bodies
from tests.support import make, writing
from tests.support.in_turn import in_turn
from tests.support.programs.loop_time import least_loop_time
from tests.support.service import Member

pytestmark = pytest.mark.anyio

ADD: Final = "/v1/labels/add"
MIB: Final = 1024 * 1024
GOOD: Final = b'{"tweet_ids":["1"],"label_name":"x"}'


async def _send(
    member: Member, content: Any, method: str = "POST", path: str = ADD, encoding: str = ""
) -> httpx.Response:
    headers = {"Content-Encoding": encoding} if encoding else {}
    return await member.client.request(method, path, content=content, headers=headers)


NOT_JSON: Final = [
    *(b"{", b"}", b"[1,]", b"{'a':1}", b"nul", b"NaN", b"Infinity", b"{}{}", b"tweet_ids=1"),
    *(b'"x', b'{"a"}', b'{"a":01}', b"\xef\xbb\xbf{}", b"\xff", b'{"label_name":"\xff"}'),
    *(b'{"label_name":"\xed\xa0\x80"}', b'{"a":"\x00"}', b"\x00", b'{"a":1e999}', b"<x/>"),
    b'{"a":' + b"1" * 5_000 + b"}",
]


async def test_invalid_json_is_rejected(alice: Member) -> None:
    for content in NOT_JSON:
        response = await _send(alice, content)
        assert writing.refused(response) == (400, "INVALID_REQUEST"), content
        assert writing.sentence(response).startswith("body: is not JSON ("), content
        assert len(writing.sentence(response)) < 300


async def test_a_large_invalid_body_is_rejected_by_its_first_mistake(alice: Member) -> None:
    for value, sentence in (
        (b"1e999", "tweet_ids: must be an array of 1 to 1,000 items."),
        (b"7", "tweet_ids: must be an array of 1 to 1,000 items, got the number 7."),
        (b"{}", "tweet_ids: must be an array of 1 to 1,000 items, got an object."),
        (b"[%b1]" % (b"7," * 5_000), "tweet_ids[0]: must be a string"),
    ):
        padding = b'"%b"' % (b"x" * 10_000)
        content = b'{"tweet_ids":%b,"label_name":"\xff","padding":%b}' % (value, padding)
        response = await _send(alice, content)
        assert writing.refused(response) == (400, "INVALID_REQUEST")
        assert writing.sentence(response).startswith(sentence)


async def test_an_empty_body_is_read_as_an_empty_object(alice: Member) -> None:
    for content in (b"", b"  \n"):
        response = await _send(alice, content)
        assert writing.sentence(response).startswith("tweet_ids: ")


async def test_the_content_type_does_not_matter(alice: Member) -> None:
    await alice.save(post_id="1")

    for kind in ("application/json", "text/plain", "application/x-www-form-urlencoded", "", "?"):
        headers = {"Content-Type": kind}
        response = await alice.client.post(ADD, content=GOOD, headers=headers)
        assert response.status_code == 200


# Depth


def _nested(depth: int, inner: str = "1") -> bytes:
    """An object nested to the given depth, counting itself as the first level."""
    arrays = "[" * (depth - 1) + inner + "]" * (depth - 1)
    return f'{{"label_name":"x","tweet_ids":["1"],"extra":{arrays}}}'.encode()


async def test_64_levels_are_accepted_and_65_are_rejected(alice: Member) -> None:
    await alice.save(post_id="1")

    for inner in ("1", "", '"x"'):
        assert (await _send(alice, _nested(64, inner))).status_code == 200
        response = await _send(alice, _nested(65, inner))
        assert writing.refused(response) == (400, "INVALID_REQUEST")
        assert writing.sentence(response) == "body: is nested more than 64 levels deep."


async def test_extreme_depth_is_rejected_without_an_internal_error(alice: Member) -> None:
    deep = 500_000
    for content in (
        b"[" * deep,
        b"[" * deep + b"]" * deep,
        b'{"a":' * 100_000,
        b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
        b"[" * 900 + b"]" * 900,
    ):
        response = await _send(alice, content)
        assert writing.refused(response) == (400, "INVALID_REQUEST")


# Values


async def test_100_000_values_are_accepted_and_more_are_rejected(alice: Member) -> None:
    await alice.save(post_id="1")
    # The object, its two fields, the id and the list.
    most = limits.JSON_VALUES_MAX - 5

    for count, encoding in ((most, ""), (most, "gzip")):
        body = _wide(count)
        content = gzip.compress(body) if encoding else body
        assert (await _send(alice, content, encoding=encoding)).status_code == 200
        body = _wide(count + 1)
        content = gzip.compress(body) if encoding else body
        response = await _send(alice, content, encoding=encoding)
        assert writing.refused(response) == (400, "INVALID_REQUEST")
        sentence = "body: has more than 100,000 values; split the request."
        assert writing.sentence(response) == sentence


async def test_many_numbers_that_are_slow_to_decode_are_rejected(alice: Member) -> None:
    body = b'{"label_name": "x", "tweet_ids": ["1"], "extra": [' + b"1e308," * 9_000 + b"1]}"

    response = await _send(alice, body)

    assert writing.refused(response) == (400, "INVALID_REQUEST")
    assert "numbers with a long exponent" in writing.sentence(response)


def _wide(count: int) -> bytes:
    body = {"label_name": "x", "tweet_ids": ["1"], "extra": [1] * count}
    return json.dumps(body, separators=(",", ":")).encode()


async def test_a_forbidden_character_behind_many_values_has_no_place(alice: Member) -> None:
    for count, name in ((4_000, "extra[4000]"), (40_000, "body")):
        extra = b'[""],' * count + rb'"\u0000"'
        body = b'{"label_name":"x","tweet_ids":["1"],"extra":[%b]}' % extra
        response = await _send(alice, body)
        assert writing.refused(response) == (400, "INVALID_REQUEST")
        sentence = f"{name}: contains U+0000, which no database can store."
        assert writing.sentence(response) == sentence


# Threads


async def test_a_large_body_does_not_occupy_the_event_loop(alice: Member) -> None:
    """Reading one took 100 milliseconds of it. The rest of the request takes three."""
    packed = gzip.compress(b'{"extra":[%b1]}' % (b'["\\u0000"],' * 33_000))
    key = {"Content-Encoding": "gzip", "Idempotency-Key": "k"}

    async def send() -> None:
        response = await alice.client.post(ADD, content=packed, headers=key)
        assert response.status_code == 400

    assert await least_loop_time(send) < 0.02


async def test_an_account_takes_one_place_and_the_others_are_free() -> None:
    first, second = threading.Event(), threading.Event()
    order: list[str] = []

    def work(name: str, gate: threading.Event) -> None:
        gate.wait()
        order.append(name)

    async def run(account_id: int, name: str, gate: threading.Event) -> None:
        await bodies.off_loop(bodies.MAX_BYTES, account_id, lambda: work(name, gate))

    busy = [asyncio.create_task(run(1, "busy", first)) for _ in range(1 + bodies.MAX_WAITING)]
    await asyncio.sleep(0)
    with pytest.raises(Refusal, match="Too many requests of this account") as refused:
        await run(1, "refused", first)
    other = asyncio.create_task(run(2, "other", second))
    second.set()
    await other
    first.set()
    await asyncio.gather(*busy)

    assert refused.value.status == 503
    assert order == ["other", *["busy"] * len(busy)]


async def test_40_large_bodies_of_an_account_are_accepted_at_the_same_time(alice: Member) -> None:
    async def save(number: int) -> int:
        body = {"posts": [make.post(text=f"{number} {'owl ' * 400}") for _ in range(12)]}
        content = json.dumps(body).encode()
        assert len(content) > decoding.LARGE_BYTES
        key = {"Idempotency-Key": f"save-{number}"}
        return (await alice.client.post("/v1/bookmarks", content=content, headers=key)).status_code

    statuses = await asyncio.gather(*map(save, range(40)))

    assert statuses == [200] * 40


async def test_a_request_that_had_its_turn_is_not_refused_and_waits_for_no_later_one() -> None:
    gate = threading.Event()
    order: list[str] = []

    async def run(name: str, *, is_continuing: bool = False) -> None:
        def work() -> None:
            gate.wait()
            order.append(name)

        await bodies.off_loop(bodies.MAX_BYTES, 1, work, is_continuing=is_continuing)

    first = asyncio.create_task(run("first"))
    await asyncio.sleep(0)
    later = [asyncio.create_task(run("later")) for _ in range(bodies.MAX_WAITING)]
    await asyncio.sleep(0)
    second_step = asyncio.create_task(run("second step", is_continuing=True))
    await asyncio.sleep(0)
    gate.set()
    await asyncio.gather(first, *later, second_step)

    assert order[:2] == ["first", "second step"]


async def test_a_body_whose_client_left_keeps_its_place_until_it_is_read() -> None:
    gate, is_read = threading.Event(), threading.Event()
    left = asyncio.create_task(bodies.off_loop(bodies.MAX_BYTES, 1, gate.wait))
    await asyncio.sleep(0)
    waiting = asyncio.create_task(bodies.off_loop(bodies.MAX_BYTES, 1, is_read.set))
    await asyncio.sleep(0)

    left.cancel()
    await asyncio.wait([left])
    await bodies.off_loop(bodies.MAX_BYTES, 2, int)
    assert not is_read.is_set()

    gate.set()
    await waiting


# Size


async def test_one_mebibyte_is_accepted_and_one_byte_more_is_413(alice: Member) -> None:
    await alice.save(post_id="1")
    padding = b" " * (MIB - len(GOOD))

    assert (await _send(alice, GOOD + padding)).status_code == 200
    response = await _send(alice, GOOD + padding + b" ")
    assert writing.refused(response) == (413, "PAYLOAD_TOO_LARGE")


async def test_a_body_without_content_length_is_limited_too(alice: Member) -> None:
    await alice.save(post_id="1")

    async def pieces(content: bytes) -> AsyncIterator[bytes]:
        for start in range(0, len(content), 10_000):
            yield content[start : start + 10_000]

    assert (await _send(alice, pieces(GOOD))).status_code == 200
    response = await _send(alice, pieces(GOOD + b" " * MIB))
    assert writing.refused(response) == (413, "PAYLOAD_TOO_LARGE")


# gzip


async def test_a_gzipped_body_is_accepted(alice: Member) -> None:
    await alice.save(post_id="1")

    for encoding in ("gzip", "GZIP", " gzip "):
        response = await _send(alice, gzip.compress(GOOD), encoding=encoding)
        assert response.status_code == 200


async def test_the_size_limit_applies_to_the_decompressed_body(alice: Member) -> None:
    await alice.save(post_id="1")
    padding = b" " * (MIB - len(GOOD))

    whole = await _send(alice, gzip.compress(GOOD + padding), encoding="gzip")
    larger = await _send(alice, gzip.compress(GOOD + padding + b" "), encoding="gzip")

    assert whole.status_code == 200
    assert writing.refused(larger) == (413, "PAYLOAD_TOO_LARGE")


async def test_invalid_or_truncated_gzip_is_rejected(alice: Member) -> None:
    await alice.save(post_id="1")
    packed = gzip.compress(GOOD)

    for content in (
        GOOD,
        b"",
        packed[:-1],
        packed[:-8],
        packed[:10],
        packed + b"x",
        packed + gzip.compress(b" "),
        zlib.compress(GOOD),
        packed[:-8] + b"\x00" * 8,
    ):
        response = await _send(alice, content, encoding="gzip")
        assert writing.refused(response) == (400, "INVALID_REQUEST")
        assert writing.sentence(response).startswith("body: ")
    assert await writing.labels(alice) == {}


async def test_other_content_encodings_are_rejected(alice: Member) -> None:
    for encoding in ("br", "zstd", "deflate", "gzip, gzip", "gzip;q=1"):
        response = await _send(alice, GOOD, encoding=encoding)
        assert writing.refused(response) == (400, "INVALID_REQUEST")
        assert writing.sentence(response).startswith("Content-Encoding: ")
    assert "'" not in writing.sentence(response)


# Characters that no database can store. "@" marks where the test inserts one.

STRINGS: Final = [
    ("POST", "/v1/labels/add", '{"tweet_ids":["1"],"label_name":"a@"}'),
    ("POST", "/v1/labels/add", '{"tweet_ids":["1","1@"],"label_name":"a"}'),
    ("POST", "/v1/labels/add", '{"tweet_ids":["1"],"label_name":"a","@":1}'),
    ("POST", "/v1/labels/add", '"@"'),
    ("PATCH", "/v1/labels/1", '{"metadata":{"deep":[{"note":"@"}]}}'),
    ("PATCH", "/v1/labels/1", '{"metadata":{"@":1}}'),
    ("PATCH", "/v1/bookmarks/1", '{"is_read":"@"}'),
    ("POST", "/v1/views", '{"name":"v","base_query":{"q":"@ a"}}'),
    ("POST", "/v1/views", '{"name":"v","triage_buckets":[{"name":"a","query":{"q":"@"}}]}'),
]


@in_turn("escape", [r"\u0000", r"\ud800", r"\udfff", r"\uDC00\uD800"])
async def test_an_unstorable_character_in_any_string_is_400(alice: Member, escape: str) -> None:
    await alice.save(post_id="1", tags=["x"])
    await writing.view(alice, "v")
    before = await writing.version(alice)

    for method, path, body in STRINGS:
        content = body.replace("@", escape).encode()
        response = await _send(alice, content, method, path)
        assert writing.refused(response) == (400, "INVALID_REQUEST"), content
        assert response.json()["error"].isprintable()
    assert await writing.version(alice) == before


async def test_an_escaped_backslash_before_u0000_is_accepted(alice: Member) -> None:
    await alice.save(post_id="1")

    response = await _send(alice, rb'{"tweet_ids":["1"],"label_name":"\\u0000"}')

    assert response.status_code == 200
    assert await writing.labels(alice) == {r"\u0000": 1}


async def test_a_surrogate_pair_is_accepted_as_one_character(alice: Member) -> None:
    await alice.save(post_id="1")

    response = await _send(alice, rb'{"tweet_ids":["1"],"label_name":"\ud83d\ude00"}')

    assert response.status_code == 200
    assert await writing.labels(alice) == {"\U0001f600": 1}
