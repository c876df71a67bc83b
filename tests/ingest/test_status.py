"""GET /ingest/v1/status and /ingest/v1/openapi.json."""

import json

import pytest
from openapi_spec_validator import validate

from bowerbird.requests import limits
from tests.support import ingesting, published
from tests.support.ingesting import Sender, data
from tests.support.service import Service

pytestmark = pytest.mark.anyio


async def test_the_status_of_a_new_device(laptop: Sender) -> None:
    status = data(await laptop.get("/status"))

    assert status == {
        "last_run": None,
        "totals": {"posts": 0, "kept_pages": 0},
        "quota": {
            "pages_today": 0,
            "pages_per_day": limits.INGEST_PAGES_PER_DAY,
            "pages_per_minute": limits.INGEST_PAGES_PER_MINUTE,
        },
        "device_id": status["device_id"],
        "source_user_id": None,
        "held_removals": [],
    }


async def test_the_status_after_a_run(laptop: Sender) -> None:
    await laptop.read_list("full", [3, 2], [1], source_user_id="111")

    status = data(await laptop.get("/status"))

    assert status["totals"]["posts"] == 3
    assert status["quota"]["pages_today"] == 2
    assert (status["last_run"]["state"], status["last_run"]["reason"]) == ("finished", "end")
    assert status["source_user_id"] == "111"


async def test_a_run_whose_device_is_silent_is_interrupted_and_can_go_on(laptop: Sender) -> None:
    run_id = (await laptop.start())["run_id"]
    await laptop.send(run_id, 0, ingesting.listed([2]))
    laptop.clock.now += limits.INGEST_SILENT_S * 1_000_000
    before = data(await laptop.get("/status"))["last_run"]
    laptop.clock.now += 1

    after = data(await laptop.get("/status"))["last_run"]

    assert (before["state"], before["reason"]) == ("running", "")
    assert (after["state"], after["reason"]) == ("interrupted", "interrupted")
    assert data(await laptop.get(f"/runs/{run_id}")) == after
    await laptop.send(run_id, 1, ingesting.listed([1], 1, is_last=True))
    assert data(await laptop.get(f"/runs/{run_id}"))["state"] == "running"
    assert (await laptop.finish(run_id))["proved_end"]


async def test_the_pages_of_a_day_are_bounded(
    laptop: Sender, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "INGEST_PAGES_PER_DAY", 1)
    run_id = (await laptop.start())["run_id"]
    await laptop.send(run_id, 0, ingesting.listed([1]))

    refused = await laptop.post(f"/runs/{run_id}/pages", {"seq": 1, **ingesting.listed([2], 1)})

    assert refused.status_code == 429
    assert int(refused.headers["retry-after"]) > 0
    laptop.clock.now += ingesting.DAY
    await laptop.send(run_id, 1, ingesting.listed([2], 1))


async def test_the_runs_of_a_day_are_bounded(
    laptop: Sender, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "INGEST_RUNS_PER_DAY", 1)
    await laptop.start()

    refused = await laptop.post("/runs", {"source": "x", "kind": "full"})

    assert refused.status_code == 429
    assert int(refused.headers["retry-after"]) > 0


async def test_the_document_needs_no_token_and_is_the_published_one(cast: Service) -> None:
    response = await cast.nobody.get("/ingest/v1/openapi.json")

    served = response.json()
    assert response.status_code == 200
    assert response.headers["access-control-allow-origin"] == "*"
    assert served["paths"] == published.document(published.INGEST)["paths"]


def test_the_document_is_valid_and_describes_every_field() -> None:
    document = json.loads(published.INGEST.read_text(encoding="utf-8"))

    validate(document)
    missing = [
        f"{name}.{field}"
        for name, schema in document["components"]["schemas"].items()
        for field, shape in schema.get("properties", {}).items()
        if "description" not in shape and "$ref" not in shape
    ]
    assert missing == []


@pytest.mark.parametrize("path", ["/ingest/v1", "/ingest/v1/", "/ingest/v1/nothing"])
async def test_unknown_paths_are_not_found(laptop: Sender, path: str) -> None:
    assert (await laptop.client.get(path)).status_code == 404
