"""GET /ingest/v1/labels and POST /ingest/v1/bookmarks: single posts that a person saves."""

import asyncio
import gzip
import json
from typing import Any

import pytest

from bowerbird.library.accounts.devices import Devices
from bowerbird.requests import limits
from tests.support import ingesting, make, writing
from tests.support.ingesting import data, sender
from tests.support.saving import X_ID, X, save, stored
from tests.support.service import Member, Service

pytestmark = pytest.mark.anyio


async def test_labels_are_listed_by_use(cast: Service, alice: Member) -> None:
    laptop = await ingesting.device(cast, alice)
    await alice.save(post_id="1", text="one", tags=["Birds", "to read"])
    await alice.save(post_id="2", text="two", tags=["to read"])

    answer = await laptop.get("/labels")

    assert data(answer) == [{"name": "to read", "count": 2}, {"name": "Birds", "count": 1}]


async def test_labels_of_others_are_not_listed(cast: Service, alice: Member) -> None:
    await cast.bob.save(post_id="1", text="one", tags=["secret"])

    assert data(await (await ingesting.device(cast, alice)).get("/labels")) == []


async def test_the_most_used_labels_are_listed(
    cast: Service, alice: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "DEVICE_LABELS_MAX", 2)
    laptop = await ingesting.device(cast, alice)
    await alice.save(post_id="1", text="one", tags=["a", "b", "c"])
    await alice.save(post_id="2", text="two", tags=["c"])

    assert [label["name"] for label in data(await laptop.get("/labels"))] == ["c", "a"]


async def test_a_free_account_lists_labels_without_a_call(cast: Service) -> None:
    laptop = await ingesting.device(cast, cast.free)

    assert data(await laptop.get("/labels")) == []
    assert (await cast.free.account()).calls_this_month == 0


async def test_a_link_is_saved_as_by_the_api(cast: Service, alice: Member) -> None:
    laptop = await ingesting.device(cast, alice)
    body = {"links": [X, "https://example.com/nothing"], "labels": ["To read"]}

    answer = await laptop.post("/bookmarks", body)

    assert answer.status_code == 207
    assert [item["ok"] for item in data(answer)["results"]] == [True, False]
    assert answer.json()["meta"] == {"message": "1 post saved, 1 is not a link to a post."}
    assert (await stored(alice, X_ID))["tags"] == ["To read"]
    by_api = await save(cast.bob, links=body["links"], labels=body["labels"])
    assert by_api.json() == answer.json()


async def test_a_whole_post_is_saved(cast: Service, alice: Member) -> None:
    laptop = await ingesting.device(cast, alice)

    answer = await laptop.post("/bookmarks", {"posts": [make.post(post_id="5", text="Whole.")]})

    assert data(answer)["succeeded"] == 1
    assert (await stored(alice, "5"))["tweet_details"]["text"] == "Whole."


async def test_labels_of_saved_posts_need_a_paid_plan(cast: Service) -> None:
    laptop = await ingesting.device(cast, cast.free)

    refused = await laptop.post("/bookmarks", {"links": [X], "labels": ["birds"]})
    assert writing.refused(refused) == (402, "SUBSCRIPTION_REQUIRED")
    assert "upgrade_url" in refused.json()
    saved = await laptop.post("/bookmarks", {"links": [X]})

    assert saved.status_code == 200
    assert (await cast.free.account()).calls_this_month == 0


async def test_a_repeated_key_replays_the_answer(cast: Service, alice: Member) -> None:
    laptop = await ingesting.device(cast, alice)
    headers = {"Idempotency-Key": "save-1"}

    first, second = await asyncio.gather(
        *(laptop.post("/bookmarks", {"links": [X]}, headers=headers) for _ in range(2)),
    )

    replays = [one for one in (first, second) if "idempotency-replayed" in one.headers]
    assert first.json() == second.json()
    assert len(replays) == 1


async def test_a_body_may_be_compressed(cast: Service, alice: Member) -> None:
    laptop = await ingesting.device(cast, alice)
    body = gzip.compress(json.dumps({"links": [X]}).encode())

    answer = await laptop.client.post(
        "/ingest/v1/bookmarks", content=body, headers={"Content-Encoding": "gzip"}
    )

    assert data(answer)["succeeded"] == 1


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"links=x", 400),
        (b'{"links": []}', 400),
        (b'{"links": ["x"], "account": 1}', 400),
        (b'{"links": ["' + b"x" * (1 << 20) + b'"]}', 413),
    ],
    ids=["empty", "form", "nothing", "unknown field", "huge"],
)
async def test_a_bad_body_is_refused(
    cast: Service, alice: Member, body: bytes, status: int
) -> None:
    laptop = await ingesting.device(cast, alice)

    answer = await laptop.client.post("/ingest/v1/bookmarks", content=body)

    assert answer.status_code == status
    assert answer.headers["access-control-allow-origin"] == "*"


async def test_a_small_body_that_grows_too_large_is_refused(cast: Service, alice: Member) -> None:
    laptop = await ingesting.device(cast, alice)
    body = gzip.compress(b'{"links": ["' + b"x" * (4 << 20) + b'"]}')

    answer = await laptop.client.post(
        "/ingest/v1/bookmarks", content=body, headers={"Content-Encoding": "gzip"}
    )

    assert writing.refused(answer)[0] == 413


async def test_saving_notes_the_use_of_the_device(cast: Service, alice: Member) -> None:
    laptop = await ingesting.device(cast, alice)

    await laptop.post("/bookmarks", {"links": [X]})

    [device] = await Devices(cast.database, cast.clock).all(alice.account_id)
    assert device.last_used_at == cast.clock.now


async def test_the_requests_of_a_device_are_counted(
    cast: Service, alice: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "INGEST_PAGES_PER_MINUTE", 1)
    laptop = await ingesting.device(cast, alice)

    assert (await laptop.post("/bookmarks", {"links": [X]})).status_code == 200
    assert (await laptop.post("/bookmarks", {"links": [X]})).status_code == 429


@pytest.mark.parametrize(("method", "path"), [("GET", "/labels"), ("POST", "/bookmarks")])
async def test_a_revoked_device_is_told_so_everywhere(
    cast: Service, alice: Member, method: str, path: str
) -> None:
    laptop = await ingesting.device(cast, alice)
    [device] = await Devices(cast.database, cast.clock).all(alice.account_id)
    await Devices(cast.database, cast.clock).revoke(alice.account_id, device.device_id)

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


async def test_a_token_of_another_account_saves_there(cast: Service, alice: Member) -> None:
    theirs = await ingesting.device(cast, cast.bob)
    token = theirs.client.headers["Authorization"].removeprefix("Bearer ")

    await sender(cast, alice, token).post("/bookmarks", {"links": [X]})

    assert await alice.ids() == []
    assert await cast.bob.ids() == [X_ID]
