"""GET /ingest/v1/labels and POST /ingest/v1/bookmarks: single posts that a person saves."""

import asyncio
from typing import Any

import pytest

from bowerbird.library.accounts.tokens import Devices
from bowerbird.requests import limits
from tests.support import writing
from tests.support.ingesting import Sender, data
from tests.support.saving import X_ID, X, save, stored
from tests.support.service import Member, Service

pytestmark = pytest.mark.anyio


async def test_labels_are_listed_by_use(laptop: Sender, alice: Member) -> None:
    await alice.save(post_id="1", text="one", tags=["Birds", "to read"])
    await alice.save(post_id="2", text="two", tags=["to read"])

    answer = await laptop.get("/labels")

    assert data(answer) == [{"name": "to read", "count": 2}, {"name": "Birds", "count": 1}]


async def test_the_most_used_labels_are_listed(
    laptop: Sender, alice: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "DEVICE_LABELS_MAX", 2)
    await alice.save(post_id="1", text="one", tags=["a", "b", "c"])
    await alice.save(post_id="2", text="two", tags=["c"])

    assert [label["name"] for label in data(await laptop.get("/labels"))] == ["c", "a"]


async def test_a_link_is_saved_as_by_the_api(laptop: Sender, cast: Service, alice: Member) -> None:
    body = {"links": [X, "https://example.com/nothing"], "labels": ["To read"]}

    answer = await laptop.post("/bookmarks", body)

    assert answer.status_code == 207
    assert [item["ok"] for item in data(answer)["results"]] == [True, False]
    meta = answer.json()["meta"]
    assert meta["message"] == "1 post saved, 1 is not a link to a post."
    assert (meta["change"]["action"], meta["change"]["changed"]) == ("save", 1)
    assert (await stored(alice, X_ID))["tags"] == ["To read"]
    by_api = await save(cast.bob, links=body["links"], labels=body["labels"])
    assert by_api.json()["data"] == answer.json()["data"]


async def test_a_repeated_key_replays_the_answer(laptop: Sender) -> None:
    headers = {"Idempotency-Key": "save-1"}

    first, second = await asyncio.gather(
        *(laptop.post("/bookmarks", {"links": [X]}, headers=headers) for _ in range(2)),
    )

    replays = [one for one in (first, second) if "idempotency-replayed" in one.headers]
    assert first.json() == second.json()
    assert len(replays) == 1


@pytest.mark.parametrize(("method", "path"), [("GET", "/labels"), ("POST", "/bookmarks")])
async def test_a_revoked_device_is_told_so_everywhere(
    laptop: Sender, alice: Member, method: str, path: str
) -> None:
    [device] = await Devices(alice.database, laptop.clock).all(alice.account_id)
    await Devices(alice.database, laptop.clock).revoke(alice.account_id, device.device_id)

    refused = await laptop.client.request(method, f"/ingest/v1{path}", json={"links": [X]})

    assert writing.refused(refused) == (401, "UNAUTHORIZED")
    assert "The device was revoked." in writing.sentence(refused)


@pytest.mark.parametrize("path", ["/labels", "/bookmarks", "/events", "/runs", "/nothing"])
async def test_every_path_may_be_called_from_any_origin(cast: Service, path: str) -> None:
    headers: dict[str, Any] = {
        "Origin": "chrome-extension://abcdefghijklmnopabcdefghijklmnop",
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization,content-type,idempotency-key",
    }

    preflight = await cast.nobody.options(f"/ingest/v1{path}", headers=headers)
    refused = await cast.nobody.post(f"/ingest/v1{path}", headers=headers, json={})

    assert preflight.status_code == 204
    allowed = preflight.headers["access-control-allow-headers"].lower().split(", ")
    assert {"authorization", "content-type", "idempotency-key"} <= set(allowed)
    assert refused.status_code == 401
    for answer in (preflight, refused):
        assert answer.headers["access-control-allow-origin"] == "*"
        assert "access-control-allow-credentials" not in answer.headers
