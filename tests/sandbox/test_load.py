"""The limits of the sandbox: concurrent requests, slow clients, and large batches."""

import asyncio
from typing import Any
from urllib.parse import urlsplit

import pytest
from structlog.testing import capture_logs

from bowerbird.sandbox import router
from bowerbird.sandbox.router import MAX_ANSWER_BYTES, MAX_CONCURRENT, MAX_TOUCHED, SandboxLimits
from bowerbird.settings import Settings
from bowerbird.wire.pipeline import Pipeline
from tests.support.programs import trying
from tests.support.programs.trying import Visitor
from tests.support.service import Service
from tests.support.waiting import PATIENCE_S
from tests.support.writing import SECOND

pytestmark = pytest.mark.anyio


def _scope(path: str) -> dict[str, Any]:
    return {
        "type": "http",
        "method": "POST",
        "path": path,
        "query_string": b"",
        "headers": [(b"content-type", b"application/json")],
    }


class Stalled:
    """A request whose body arrives only when `end` is called."""

    def __init__(self, asgi: Any, path: str = "/v1/sandbox/labels/add") -> None:
        self._body_arrives = asyncio.Event()
        self.is_waiting = asyncio.Event()
        self.status = 0
        self.task = asyncio.create_task(asgi(_scope(path), self._receive, self._send))

    async def _receive(self) -> dict[str, Any]:
        self.is_waiting.set()
        await self._body_arrives.wait()
        return {"type": "http.request", "body": b"{}", "more_body": False}

    async def _send(self, message: Any) -> None:
        self.status = message.get("status", self.status)

    async def end(self) -> int:
        self._body_arrives.set()
        await self.task
        return self.status


async def _stalled(asgi: Any, count: int) -> list[Stalled]:
    requests = [Stalled(asgi) for _ in range(count)]
    for request in requests:
        # Refused requests end without waiting for their body.
        waiting = asyncio.create_task(request.is_waiting.wait())
        await asyncio.wait((waiting, request.task), return_when=asyncio.FIRST_COMPLETED)
        assert waiting.done(), request.status
    return requests


async def _unread(asgi: Any, count: int) -> list["Unread"]:
    requests = [Unread(asgi, "/v1/sandbox/bookmarks", from_body=True) for _ in range(count)]
    for request in requests:
        await request.is_waiting.wait()
    return requests


async def _cancelled(requests: list["Unread"]) -> None:
    for request in requests:
        request.task.cancel()
    await asyncio.gather(*(request.task for request in requests), return_exceptions=True)


async def test_too_many_concurrent_requests_get_429_with_retry_after(visitor: Visitor) -> None:
    await visitor.get("/labels")
    unread = await _unread(visitor.app.asgi, MAX_CONCURRENT)

    responses = [await visitor.get("/bookmarks"), await visitor.post("/labels/add", {})]

    for response in responses:
        assert response.status_code == 429
        assert response.json()["code"] == "RATE_LIMITED"
        assert response.json()["meta"] == {"sandbox": True}
        assert int(response.headers["retry-after"]) >= 1
        assert "Simulated" not in response.json()["error"]
    await _cancelled(unread)
    assert (await visitor.get("/bookmarks")).status_code == 200


async def test_slow_bodies_do_not_close_the_sandbox(visitor: Visitor) -> None:
    stalled = await _stalled(visitor.app.asgi, 2 * MAX_CONCURRENT)

    assert (await visitor.get("/bookmarks")).status_code == 200
    assert (await visitor.post("/labels/add", {})).status_code == 400
    assert [await request.end() for request in stalled] == [400] * len(stalled)


async def test_a_request_whose_body_arrives_at_a_full_sandbox_gets_429(visitor: Visitor) -> None:
    (stalled,) = await _stalled(visitor.app.asgi, 1)
    unread = await _unread(visitor.app.asgi, MAX_CONCURRENT)

    assert await stalled.end() == 429
    await _cancelled(unread)
    assert (await visitor.post("/labels/add", {})).status_code == 400


async def test_a_full_sandbox_does_not_affect_the_api(cast: Service) -> None:
    unread = await _unread(cast.app.asgi, MAX_CONCURRENT)

    assert (await cast.alice.get("/v1/labels")).status_code == 200
    await _cancelled(unread)


async def test_a_body_that_never_arrives_gets_400_and_makes_room(visitor: Visitor) -> None:
    sandbox = _sandbox(visitor, SandboxLimits(body_s=0.05, response_s=5))

    request = Stalled(sandbox)
    await request.task

    assert request.status == 400
    assert (await Stalled(sandbox, "/v1/sandbox/labels").end()) == 405


def _sandbox(visitor: Visitor, limits: SandboxLimits) -> Pipeline:
    return router.build(
        Settings(), visitor.clock, visitor.app.calls, visitor.app.metrics, limits=limits
    )


class Unread:
    """A request whose client never reads the response, or reads only its headers."""

    def __init__(self, asgi: Any, path: str, query: bytes = b"", *, from_body: bool) -> None:
        self._from_body = from_body
        self.is_waiting = asyncio.Event()
        self.messages: list[Any] = []
        scope = {**_scope(path), "method": "GET", "query_string": query}
        self.task = asyncio.create_task(asgi(scope, self._receive, self._send))

    async def _receive(self) -> dict[str, Any]:
        await asyncio.Event().wait()
        raise AssertionError

    async def _send(self, message: Any) -> None:
        self.messages.append(message)
        if not self._from_body or message["type"] == "http.response.body":
            self.is_waiting.set()
            await asyncio.Event().wait()

    @property
    def status(self) -> int:
        return int(self.messages[0]["status"])


async def _file_url(visitor: Visitor) -> tuple[str, bytes]:
    job = (await visitor.post("/exports/json", {})).json()["data"]
    visitor.clock.now += 3 * SECOND
    url = urlsplit((await visitor.read(f"/exports/{job['job_id']}"))["data"]["download_url"])
    return url.path, url.query.encode()


@pytest.mark.parametrize(("from_body", "is_file"), [(False, False), (True, True)])
async def test_a_client_that_does_not_read_is_disconnected_and_makes_room(
    visitor: Visitor, *, from_body: bool, is_file: bool
) -> None:
    # Long enough for all of them to be waiting, on a busy machine too.
    sandbox = _sandbox(visitor, SandboxLimits(body_s=30, response_s=6))
    path, query = await _file_url(visitor) if is_file else ("/v1/sandbox/bookmarks", b"")

    unread = [Unread(sandbox, path, query, from_body=from_body) for _ in range(MAX_CONCURRENT)]
    for request in unread:
        await request.is_waiting.wait()
    late = Unread(sandbox, path, query, from_body=from_body)
    await asyncio.gather(late.task, *(request.task for request in unread))

    assert [request.status for request in unread] == [200] * MAX_CONCURRENT
    assert late.status == 429
    after = Unread(sandbox, path, query, from_body=from_body)
    await asyncio.wait_for(after.is_waiting.wait(), PATIENCE_S)
    assert after.status == 200
    await _cancelled([after])


async def test_a_response_that_nobody_takes_is_logged_once(visitor: Visitor) -> None:
    with capture_logs() as lines:
        sandbox = _sandbox(visitor, SandboxLimits(body_s=5, response_s=0.05))
        await Unread(sandbox, "/v1/sandbox/labels", from_body=True).task

    (line,) = [line for line in lines if line["event"] == "request"]
    assert (line["route"], line["status"], line["bytes"]) == ("/v1/sandbox/labels", 499, 0)
    (reason,) = [line for line in lines if line["event"] == "response timeout"]
    assert (reason["route"], reason["limit_s"]) == ("/v1/sandbox/labels", 0.05)


async def test_a_file_is_sent_in_small_pieces(visitor: Visitor) -> None:
    sandbox = _sandbox(visitor, SandboxLimits(body_s=5, response_s=0.2))

    request = Unread(sandbox, *await _file_url(visitor), from_body=True)
    await request.task

    size = int(dict(request.messages[0]["headers"])[b"content-length"])
    first_piece = request.messages[1]
    assert size > len(first_piece["body"]) == 64 * 1024
    assert first_piece["more_body"] is True


def _batch(operations: int, posts: int, name: str) -> dict[str, Any]:
    ids = [post["post_id"] for post in trying.posts()][:posts]
    return {
        "operations": [
            {"op": "add", "tweet_ids": ids, "label_name": f"{index:02}{name}"}
            for index in range(operations)
        ]
    }


async def test_a_batch_over_too_many_posts_is_rejected(visitor: Visitor) -> None:
    assert (await visitor.post("/labels/batch", _batch(50, 20, "x"))).status_code == 200

    response = await visitor.post("/labels/batch", _batch(50, 21, "x"))

    assert response.status_code == 400
    assert response.json()["code"] == "INVALID_REQUEST"
    assert "operations: change 1,050 posts in total" in response.json()["error"]
    assert f"at most {MAX_TOUCHED:,}" in response.json()["error"]


async def test_a_write_with_a_huge_response_is_rejected(visitor: Visitor) -> None:
    response = await visitor.post("/labels/batch", _batch(50, 20, "\U0001f426" * 98))

    assert response.status_code == 400
    error = response.json()["error"]
    assert error == "operations: would get an answer above the sandbox's limit of 2 MiB."
    assert MAX_ANSWER_BYTES == 2 * 1024 * 1024
