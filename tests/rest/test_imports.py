"""GET /v1/imports, GET /v1/imports/{run_id} and POST /v1/imports/{run_id}/undo."""

import pytest

from bowerbird.library.imports.runs import ImportRuns
from tests.support import writing
from tests.support.imports import found, run, take
from tests.support.service import Member

pytestmark = pytest.mark.anyio


async def test_an_import_is_shown_with_its_counts(alice: Member) -> None:
    await take(alice, found(post_id="1"), found(post_id="2", text="short"), found(post_id="3"))
    await writing.send(alice, "DELETE", "/v1/bookmarks/3")
    ids = {"1": "words", "2": "longer words", "3": "words", "4": "words"}

    run_id = await run(alice, *(found(post_id=id, text=text) for id, text in ids.items()))

    shown = (await alice.get(f"/v1/imports/{run_id}")).json()["data"]
    assert shown == {
        "run_id": run_id,
        "source": "x",
        "kind": "full",
        "client": "test",
        "state": "finished",
        "reason": "end",
        "started_at": "2026-07-18T08:21:13.841838+00:00",
        "finished_at": "2026-07-18T08:21:13.841838+00:00",
        "counts": {"new": 1, "changed": 1, "unchanged": 1, "ignored_deleted": 1},
        "undo_until": "2026-08-17T08:21:13.841838+00:00",
        "undone": {"removed": 0, "restored": 0, "kept": 0},
    }


@pytest.mark.both
async def test_imports_are_listed_in_pages_with_the_latest_first(alice: Member) -> None:
    run_ids = [await run(alice, found(post_id=str(number))) for number in range(1, 6)]

    listed, cursor = [], ""
    for size in (2, 2, 1):
        params = {"limit": 2, **({"cursor": cursor} if cursor else {})}
        page = (await alice.get("/v1/imports", **params)).json()
        assert (page["meta"]["count"], page["meta"]["total_count"]) == (size, 5)
        listed += [one["run_id"] for one in page["data"]]
        cursor = page["meta"]["next_cursor"]

    assert listed == run_ids[::-1]
    assert cursor is None


@pytest.mark.both
async def test_undoing_an_import(alice: Member) -> None:
    run_id = await run(alice, found(post_id="1"), found(post_id="2"))

    response = await writing.send(alice, "POST", f"/v1/imports/{run_id}/undo")

    assert response.json()["data"] == {
        "run_id": run_id,
        "state": "undone",
        "removed": 2,
        "restored": 0,
        "kept": 0,
    }
    assert await alice.ids() == []
    shown = (await alice.get(f"/v1/imports/{run_id}")).json()["data"]
    assert (shown["state"], shown["undo_until"]) == ("undone", None)
    assert shown["undone"] == {"removed": 2, "restored": 0, "kept": 0}


@pytest.mark.both
async def test_undoing_a_large_import_with_a_key_takes_effect_once(alice: Member) -> None:
    run_id = await run(alice, *(found(post_id=str(number)) for number in range(1, 451)))
    path = f"/v1/imports/{run_id}/undo"

    first = await writing.send(alice, "POST", path, key="undo-1")
    again = await writing.send(alice, "POST", path, key="undo-1")

    assert first.json()["data"]["removed"] == 450
    assert again.json() == first.json()
    assert again.headers["idempotency-replayed"] == "true"


async def test_an_invalid_cursor_is_refused(alice: Member) -> None:
    for cursor in ("x", "AAAA", "A" * 9_000):
        response = await alice.get("/v1/imports", cursor=cursor)
        assert writing.refused(response) == (400, "INVALID_REQUEST")


@pytest.mark.both
async def test_an_interrupted_import_says_so_and_can_be_undone(alice: Member) -> None:
    runs, account = ImportRuns(alice.database, alice.clock), await alice.account()
    started = await runs.start(account, source="x", kind="full", client="test")
    await take(alice, found(), run_id=started.run_id)
    assert (await alice.get("/v1/imports")).json()["data"][0]["state"] == "running"

    await runs.finish(account, started.run_id, "gave_up")

    shown = (await alice.get("/v1/imports")).json()["data"][0]
    assert (shown["state"], shown["reason"]) == ("interrupted", "gave_up")
    response = await writing.send(alice, "POST", f"/v1/imports/{started.run_id}/undo")
    assert response.json()["data"]["removed"] == 1
