"""Bytes and characters that no text can have get an answer wherever a body may have them."""

import json
import re
from collections.abc import Iterator
from typing import Any, Final

import pytest

from bowerbird.openapi.operations import PATH_EXAMPLES
from tests.support import ingesting
from tests.support.offenders import Offenders
from tests.support.programs import examples
from tests.support.published import document
from tests.support.service import Service

pytestmark = pytest.mark.anyio


@pytest.fixture
def cast_settings() -> dict[str, Any]:
    return {"sandbox": "on"}


# Bytes that are not UTF-8, half of a surrogate pair, and U+0000.
FRAGMENTS: Final = (b"\xff", rb"\ud800", rb"\u0000", b"\\u0000\xff")
JSON: Final = {"Content-Type": "application/json"}
# They would be answers that never looked at the body.
UNREAD: Final = (401, 413, 415, 429)
OPENING: Final = re.compile(rb'(?<=[\[{,: ])"')
CALL: Final = {
    "jsonrpc": "2.0",
    "id": "1",
    "method": "tools/call",
    "params": {"name": "search_bookmarks", "arguments": {"query": "owl"}},
}


def spoiled(example: Any) -> Iterator[bytes]:
    """An empty body, and the example with each fragment in each of its names and values."""
    yield b""
    body = json.dumps(example).encode()
    for place in OPENING.finditer(body):
        for fragment in FRAGMENTS:
            yield body[: place.end()] + fragment + body[place.end() :]
    for fragment in FRAGMENTS:
        yield b'{"%b":1}' % fragment
        yield b'"%b"' % fragment


def writes() -> Iterator[tuple[str, str, Any]]:
    """Each operation that takes a body, with the example of its body."""
    for path, item in document()["paths"].items():
        for method, operation in item.items():
            if "requestBody" in operation:
                example = operation["requestBody"]["content"]["application/json"]["example"]
                yield method, path, example


async def test_every_operation_of_the_api_and_the_sandbox_answers_them(cast: Service) -> None:
    await cast.alice.save_all(examples.POSTS)
    offenders = Offenders()

    for method, path, example in writes():
        place = path.format(**PATH_EXAMPLES)
        for body in spoiled(example):
            response = await cast.alice.client.request(method, place, content=body)
            with offenders.check(f"{method} {path} {body!r}"):
                assert response.status_code < 500, response.text
                assert response.status_code not in UNREAD, response.text
    assert not offenders


async def test_every_operation_of_a_device_answers_them(cast: Service) -> None:
    laptop = await ingesting.device(cast, cast.alice)
    run_id = (await laptop.start())["run_id"]
    payload = {"data": {"text": "owl"}}
    page = {"seq": 0, "format": "x.graphql", "op": "Bookmarks", "payload": payload}
    event = {"type": "added", "post_id": "1", "at": "2026-09-01T10:00:00Z", "payload": payload}
    offenders = Offenders()

    for path, example in (
        ("runs", {"source": "x", "kind": "full"}),
        (f"runs/{run_id}/pages", page),
        (f"runs/{run_id}/pages", {**page, "payload": json.dumps(payload)}),
        ("events", [event]),
        ("bookmarks", {"urls": ["https://x.com/ada/status/20"], "labels": ["birds"]}),
        (f"runs/{run_id}/finish", {"reason": "end"}),
    ):
        for body in spoiled(example):
            cast.alice.clock.now += ingesting.MINUTE
            seq = b'"seq": %d' % (cast.alice.clock.now // ingesting.MINUTE % 1_000_000)
            sent = body.replace(b'"seq": 0', seq)
            response = await laptop.client.post(f"/ingest/v1/{path}", content=sent)
            with offenders.check(f"{path} {body!r}"):
                assert response.status_code < 500, response.text
                assert response.status_code not in UNREAD, response.text
    assert not offenders


async def test_the_tool_server_answers_them(cast: Service) -> None:
    offenders = Offenders()

    for example in (CALL, [CALL]):
        for body in spoiled(example):
            response = await cast.alice.client.post("/mcp", content=body, headers=JSON)
            with offenders.check(repr(body)):
                assert response.status_code < 500, response.text
                assert response.status_code not in UNREAD, response.text
                assert "Internal error" not in response.text
    assert not offenders


async def test_a_connect_code_with_them_is_refused(cast: Service) -> None:
    offenders = Offenders()

    for body in spoiled({"code": "K7QM-2XRD", "name": "laptop"}):
        response = await cast.nobody.post("/connect/redeem", content=body)
        with offenders.check(repr(body)):
            assert 400 <= response.status_code < 500, response.text
    assert not offenders
