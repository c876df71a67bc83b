"""Responses as event streams, and batches of messages."""

import asyncio
import json
from typing import Any

import httpx
import pytest
from mcp.shared.message import ServerMessageMetadata

from bowerbird.toolserver.protocol.event_streams import MAX_WAITING_BYTES, Channel, answered
from bowerbird.wire.responses.replies import Reply
from tests.support.in_turn import in_turn
from tests.support.service import Member, Service
from tests.support.toolcalls import headers_of, message
from tests.support.waiting import PATIENCE_S

pytestmark = pytest.mark.anyio

BATCHES = "2025-03-26"
STREAM = "application/json, text/event-stream"
COUNT = {"name": "count_bookmarks", "arguments": {}}


def request(number: int, method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


async def posted(member: Member, body: Any, version: str | None) -> httpx.Response:
    headers = {} if version is None else {"MCP-Protocol-Version": version}
    return await member.client.post("/mcp", json=body, headers=headers)


def events_of(response: httpx.Response) -> list[dict[str, Any]]:
    return [
        json.loads(line.removeprefix("data: "))
        for line in response.text.splitlines()
        if line.startswith("data: ")
    ]


async def waiting_call(
    member: Member, accept: str, *, asks_for_progress: bool = True
) -> httpx.Response:
    """A call that takes three seconds, because nothing works on the export."""
    created = await member.client.post("/v1/exports/csv", json={})
    arguments = {"job_id": created.json()["data"]["job_id"], "wait_s": 3}
    sent = message("tools/call", {"name": "get_export", "arguments": arguments})
    if asks_for_progress:
        sent["params"]["_meta"]["progressToken"] = "mine"
    headers = {**headers_of(sent), "Accept": accept}
    return await member.client.post("/mcp", json=sent, headers=headers)


async def test_a_long_call_reports_its_progress_before_its_result(service: Service) -> None:
    await service.alice.save()

    streamed, plain, silent = await asyncio.gather(
        waiting_call(service.alice, STREAM),
        waiting_call(service.alice, "application/json"),
        waiting_call(service.alice, STREAM, asks_for_progress=False),
    )

    assert streamed.status_code == 200
    assert streamed.headers["content-type"] == "text/event-stream"
    progress, result = events_of(streamed)
    assert progress == {
        "jsonrpc": "2.0",
        "method": "notifications/progress",
        "params": {
            "progressToken": "mine",
            "progress": 2,
            "total": 3,
            "message": "get_export has waited 2 of at most 3 seconds.",
        },
    }
    assert result["result"]["structuredContent"]["status"] == "pending"
    for answer in (plain, silent):
        assert answer.headers["content-type"] == "application/json"
        assert answer.json()["result"]["structuredContent"]["status"] == "pending"


async def test_a_fast_call_is_answered_with_json(service: Service) -> None:
    sent = message("tools/call", COUNT)
    sent["params"]["_meta"]["progressToken"] = 1

    answer = await service.alice.client.post("/mcp", json=sent, headers=headers_of(sent))

    assert answer.headers["content-type"] == "application/json"


@pytest.mark.parametrize("is_writing", [False, True])
async def test_only_a_reading_call_ends_when_its_client_leaves(*, is_writing: bool) -> None:
    channel = Channel(1, ServerMessageMetadata(), accepts_stream=True)
    is_left, is_finished = asyncio.Event(), asyncio.Event()

    async def work() -> Reply:
        await channel.notify("notifications/message", {})
        await is_left.wait()
        is_finished.set()
        return Reply(200, [], b"{}")

    reply = await answered(channel, work(), lambda: not is_writing)
    assert reply.stream is not None
    reading = asyncio.ensure_future(anext(reply.stream))
    assert b"notifications/message" in await reading
    waiting = asyncio.ensure_future(anext(reply.stream))
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.wait((waiting,))
    is_left.set()

    if is_writing:
        await asyncio.wait_for(is_finished.wait(), PATIENCE_S)
    else:
        await asyncio.sleep(0.1)
        assert not is_finished.is_set()


async def stuck_stream(channel: Channel, notified: Any) -> list[bytes]:
    """The events of a stream whose client reads nothing until all notifications were sent."""

    async def work() -> Reply:
        await channel.notify("notifications/message", {})
        for notification in notified:
            await notification
        return Reply(200, [], b"{}")

    reply = await answered(channel, work(), lambda: True)
    assert reply.stream is not None
    # The work ends before the client reads the first event.
    await asyncio.sleep(0)
    return [event async for event in reply.stream]


async def test_progress_that_waits_is_bounded_and_ends_with_the_latest() -> None:
    params = {"_meta": {"progressToken": "t" * 200}}
    channel = Channel(1, ServerMessageMetadata(), params, accepts_stream=True)

    _, *waiting, latest, result = await stuck_stream(
        channel, (channel.progress(n, message="m" * 1000) for n in range(1000))
    )

    assert b'"progress":999' in latest
    assert 0 < sum(map(len, waiting)) <= MAX_WAITING_BYTES
    assert b"{}" in result


async def test_a_client_that_reads_again_gets_later_notifications() -> None:
    params = {"_meta": {"progressToken": 1}}
    channel = Channel(1, ServerMessageMetadata(), params, accepts_stream=True)
    for number in range(1000):
        await channel.progress(number)
    while channel.notifications.take() is not None:
        pass

    await channel.progress(1000)

    event = channel.notifications.take()
    assert event is not None
    assert b'"progress":1000' in event


async def test_notifications_that_wait_are_bounded_in_bytes() -> None:
    channel = Channel(1, ServerMessageMetadata(), accepts_stream=True)
    large = {"data": "x" * 10_000}

    _, *waiting, result = await stuck_stream(
        channel, (channel.notify("notifications/message", large) for _ in range(1000))
    )

    assert 0 < sum(map(len, waiting)) <= MAX_WAITING_BYTES
    assert b"{}" in result


@in_turn("token", ["t" * 201, 2**63, -(2**63) - 1, 10**300])
async def test_a_long_progress_token_is_refused(service: Service, token: str | int) -> None:
    sent = message("tools/call", COUNT)
    sent["params"]["_meta"]["progressToken"] = token

    answer = await service.alice.client.post("/mcp", json=sent, headers=headers_of(sent))

    assert answer.status_code == 400
    assert answer.json()["error"] == {
        "code": -32602,
        "message": "_meta.progressToken must be a string of at most 200 characters, "
        "or a whole number of at most 64 bits.",
    }
    assert answer.json()["id"] == sent["id"]


@in_turn("token", ["t" * 200, "", 0, 2**63 - 1, -(2**63)])
async def test_other_progress_tokens_are_accepted(service: Service, token: str | int) -> None:
    sent = message("tools/call", COUNT)
    sent["params"]["_meta"]["progressToken"] = token

    answer = await service.alice.client.post("/mcp", json=sent, headers=headers_of(sent))

    assert answer.json()["result"]["isError"] is False


@in_turn("version", [BATCHES, None])
async def test_a_batch_gets_one_response_per_request(service: Service, version: str | None) -> None:
    batch = [
        request(1, "tools/call", **COUNT),
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        request(2, "sing"),
        request(3, "initialize"),
        5,
        request(4, "ping"),
    ]

    answer = await posted(service.alice, batch, version)

    assert answer.status_code == 200
    first, second, third, fourth, fifth = answer.json()
    assert (first["id"], first["result"]["structuredContent"]["count"]) == (1, 0)
    assert (second["id"], second["error"]["code"]) == (2, -32601)
    assert (third["id"], third["error"]["message"]) == (3, "initialize must not be in a batch.")
    assert (fourth["id"], fourth["error"]["code"]) == (None, -32600)
    assert fifth == {"jsonrpc": "2.0", "id": 4, "result": {}}


async def test_a_batch_runs_a_few_requests_and_names_the_others(service: Service) -> None:
    note = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    methods = ["ping", "tools/call", "tools/call", "tools/call", "tools/list", "ping", "ping"]
    batch = [
        request(number, method, **(COUNT if method == "tools/call" else {}))
        for number, method in enumerate(methods, start=1)
    ]

    answer = await posted(service.alice, [*batch[:5], note, 5, *batch[5:]], BATCHES)

    responses = {one["id"]: one for one in answer.json()}
    assert [number for number, one in responses.items() if "result" in one] == [1, 2, 3, 5, 6]
    assert responses[None]["error"]["code"] == -32600
    for number in (4, 7):
        assert responses[number]["error"] == {
            "code": -32600,
            "message": "Only 5 requests of a batch run, 2 of them tools/call. Send this one alone.",
        }


async def test_a_batch_of_notifications_has_no_response(service: Service) -> None:
    note = {"jsonrpc": "2.0", "method": "notifications/initialized"}

    answer = await posted(service.alice, [note, note], BATCHES)

    assert (answer.status_code, answer.content) == (202, b"")


@in_turn("version", ["2024-11-05", "2025-06-18", "2025-11-25", "2026-07-28"])
async def test_other_revisions_have_no_batches(service: Service, version: str) -> None:
    answer = await posted(service.alice, [request(1, "ping")], version)

    assert answer.status_code == 400
    assert answer.json()["error"] == {
        "code": -32600,
        "message": "Only revision 2025-03-26 has batches. Send the messages one by one.",
    }
