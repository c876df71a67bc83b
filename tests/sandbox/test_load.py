"""The sandbox has places for so many requests at once, and no more."""

import asyncio
from typing import Any

import pytest

from bowerbird.sandbox import surface
from bowerbird.sandbox.surface import MOST_AT_ONCE
from bowerbird.settings import Settings
from tests.support.service import Service
from tests.support.trying import Visitor

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
        self.status = 0
        self.task = asyncio.create_task(asgi(_scope(path), self._receive, self._send))

    async def _receive(self) -> dict[str, Any]:
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
    await asyncio.sleep(0.2)
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
    trial = surface.build(
        Settings(), visitor.clock, visitor.app.calls, visitor.app.measures, body_limit_s=0.05
    )

    request = Stalled(trial)
    await request.task

    assert request.status == 400
    assert (await Stalled(trial, "/v1/sandbox/labels").end()) == 405
