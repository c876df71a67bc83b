"""The sandbox has places for so many requests at once, and no more."""

import asyncio
from typing import Any
from urllib.parse import urlsplit

import pytest
from structlog.testing import capture_logs

from bowerbird.sandbox import surface
from bowerbird.sandbox.endpoints import MOST_ANSWER_BYTES, MOST_TOUCHED
from bowerbird.sandbox.surface import MOST_AT_ONCE, Limits, SandboxSurface
from bowerbird.settings import Settings
from tests.support import trying
from tests.support.service import Service
from tests.support.trying import Visitor
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
    """A request whose body does not come to its end until it is let go on."""

    def __init__(self, asgi: Any, path: str = "/v1/sandbox/labels/add") -> None:
        self._go_on = asyncio.Event()
        self.is_held = asyncio.Event()
        self.status = 0
        self.task = asyncio.create_task(asgi(_scope(path), self._receive, self._send))

    async def _receive(self) -> dict[str, Any]:
        self.is_held.set()
        await self._go_on.wait()
        return {"type": "http.request", "body": b"{}", "more_body": False}

    async def _send(self, message: Any) -> None:
        self.status = message.get("status", self.status)

    async def end(self) -> int:
        self._go_on.set()
        await self.task
        return self.status


async def _stalled(asgi: Any, count: int) -> list[Stalled]:
    requests = [Stalled(asgi) for _ in range(count)]
    for request in requests:
        await request.is_held.wait()
    return requests


async def test_beyond_its_places_it_answers_429_and_says_when_to_come_back(
    visitor: Visitor,
) -> None:
    await visitor.get("/labels")
    held = await _stalled(visitor.app.asgi, MOST_AT_ONCE)

    answers = [await visitor.get("/bookmarks"), await visitor.post("/labels/add", {})]

    for response in answers:
        assert response.status_code == 429
        assert response.json()["code"] == "RATE_LIMITED"
        assert response.json()["meta"] == {"sandbox": True}
        assert int(response.headers["retry-after"]) >= 1
        assert "Simulated" not in response.json()["error"]
    assert [await request.end() for request in held] == [400] * MOST_AT_ONCE
    assert (await visitor.get("/bookmarks")).status_code == 200


async def test_the_last_place_is_given_and_every_place_is_given_back(visitor: Visitor) -> None:
    held = await _stalled(visitor.app.asgi, MOST_AT_ONCE - 1)

    assert (await visitor.get("/bookmarks")).status_code == 200
    assert (await visitor.get("/bookmarks?limit=0")).status_code == 400
    assert (await visitor.get("/bookmarks")).status_code == 200
    for request in held:
        await request.end()


async def test_simulated_failures_need_no_place(visitor: Visitor) -> None:
    held = await _stalled(visitor.app.asgi, MOST_AT_ONCE)

    response = await visitor.client.get(
        "/v1/sandbox/bookmarks", headers={"X-Service-Sandbox-Error": "not_found"}
    )

    assert response.status_code == 404
    for request in held:
        await request.end()


async def test_a_full_sandbox_takes_nothing_from_the_api(cast: Service) -> None:
    held = await _stalled(cast.app.asgi, MOST_AT_ONCE)

    assert (await cast.alice.get("/v1/labels")).status_code == 200
    for request in held:
        await request.end()


async def test_a_body_that_never_comes_gives_its_place_back(visitor: Visitor) -> None:
    trial = _trial(visitor, Limits(body_s=0.05, answer_s=5))

    request = Stalled(trial)
    await request.task

    assert request.status == 400
    assert (await Stalled(trial, "/v1/sandbox/labels").end()) == 405


def _trial(visitor: Visitor, limits: Limits) -> SandboxSurface:
    return surface.build(
        Settings(), visitor.clock, visitor.app.calls, visitor.app.measures, limits=limits
    )


class Unread:
    """A request whose answer nobody takes, from its first byte or from its body on."""

    def __init__(self, asgi: Any, path: str, query: bytes = b"", *, from_body: bool) -> None:
        self._from_body = from_body
        self.is_held = asyncio.Event()
        self.messages: list[Any] = []
        scope = {**_scope(path), "method": "GET", "query_string": query}
        self.task = asyncio.create_task(asgi(scope, self._receive, self._send))

    async def _receive(self) -> dict[str, Any]:
        await asyncio.Event().wait()
        raise AssertionError

    async def _send(self, message: Any) -> None:
        self.messages.append(message)
        if not self._from_body or message["type"] == "http.response.body":
            self.is_held.set()
            await asyncio.Event().wait()

    @property
    def status(self) -> int:
        return int(self.messages[0]["status"])


async def _file(visitor: Visitor) -> tuple[str, bytes]:
    job = (await visitor.post("/exports/json", {})).json()["data"]
    visitor.clock.now += 3 * SECOND
    address = urlsplit((await visitor.read(f"/exports/{job['job_id']}"))["data"]["download_url"])
    return address.path, address.query.encode()


@pytest.mark.parametrize("from_body", [False, True])
@pytest.mark.parametrize("is_file", [False, True])
async def test_an_answer_that_nobody_takes_holds_its_place_and_gives_it_back(
    visitor: Visitor, *, from_body: bool, is_file: bool
) -> None:
    trial = _trial(visitor, Limits(body_s=5, answer_s=0.5))
    path, query = await _file(visitor) if is_file else ("/v1/sandbox/bookmarks", b"")

    held = [Unread(trial, path, query, from_body=from_body) for _ in range(MOST_AT_ONCE)]
    for request in held:
        await request.is_held.wait()
    late = Unread(trial, path, query, from_body=from_body)
    await asyncio.gather(late.task, *(request.task for request in held))

    assert [request.status for request in held] == [200] * MOST_AT_ONCE
    assert late.status == 429
    after = Unread(trial, path, query, from_body=from_body)
    await after.task
    assert after.status == 200


async def test_a_server_never_holds_more_than_a_piece_of_an_answer(visitor: Visitor) -> None:
    trial = _trial(visitor, Limits(body_s=5, answer_s=0.2))

    request = Unread(trial, *await _file(visitor), from_body=True)
    await request.task

    size = int(dict(request.messages[0]["headers"])[b"content-length"])
    begun = request.messages[1]
    assert size > len(begun["body"]) == 64 * 1024
    assert begun["more_body"] is True


def _batch(operations: int, posts: int, name: str) -> dict[str, Any]:
    ids = [post["post_id"] for post in trying.posts()][:posts]
    return {
        "operations": [
            {"op": "add", "tweet_ids": ids, "label_name": f"{index:02}{name}"}
            for index in range(operations)
        ]
    }


async def test_a_batch_touches_so_many_posts_and_no_more(visitor: Visitor) -> None:
    assert (await visitor.post("/labels/batch", _batch(50, 20, "x"))).status_code == 200

    response = await visitor.post("/labels/batch", _batch(50, 21, "x"))

    assert response.status_code == 400
    assert response.json()["code"] == "INVALID_REQUEST"
    assert "operations: touch 1,050 posts in all" in response.json()["error"]
    assert f"{MOST_TOUCHED:,} is the most" in response.json()["error"]


async def test_a_write_whose_answer_would_be_huge_is_refused(visitor: Visitor) -> None:
    response = await visitor.post("/labels/batch", _batch(50, 20, "\U0001f426" * 98))

    assert response.status_code == 400
    assert "operations: their answer would be larger than 2 MiB" in response.json()["error"]
    assert MOST_ANSWER_BYTES == 2 * 1024 * 1024


@pytest.mark.parametrize("operations", [None, 1, "x", [1, None, {"tweet_ids": 3}]])
async def test_a_batch_without_sense_is_told_as_the_api_tells_it(
    visitor: Visitor, operations: Any
) -> None:
    response = await visitor.post("/labels/batch", {"operations": operations})

    assert response.status_code in (207, 400)


async def test_the_log_names_no_account(visitor: Visitor) -> None:
    with capture_logs() as lines:
        trial = _trial(visitor, Limits(body_s=5, answer_s=5))
        assert (await Stalled(trial).end()) == 400

    (line,) = [line for line in lines if line["event"] == "request"]
    assert line["account"] is None
    assert line["route"] == "/v1/sandbox/labels/add"
