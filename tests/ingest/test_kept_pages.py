"""Pages that no reader understood: kept for a year, and read again after an upgrade."""

import json

import pytest

from bowerbird.library.ingest.kept_pages import KeptPages
from bowerbird.requests import limits
from bowerbird.sources.x import graphql
from bowerbird.sources.x.pages import Operation
from tests.ingest.test_gone_posts import gone
from tests.support import ingesting
from tests.support.ingesting import Sender, data, listed, post_id
from tests.support.service import Member, Service

pytestmark = pytest.mark.anyio


async def kept(sender: Sender) -> int:
    count: int = data(await sender.get("/status"))["totals"]["kept_pages"]
    return count


@pytest.mark.parametrize("form", ["bookmark", "x.graphql"])
@pytest.mark.parametrize("payload", [b'"\xff"', b'"\\ud83d"', b'{"a":"\\ud83d"}', b'{"a":"\xff"}'])
async def test_a_page_with_broken_text_is_kept(laptop: Sender, payload: bytes, form: str) -> None:
    run_id = (await laptop.start())["run_id"]
    head = json.dumps({"seq": 0, "format": form, "request_url": ingesting.url()}).encode()
    body = head[:-1] + b', "payload": ' + payload + b"}"

    response = await laptop.client.post(f"/ingest/v1/runs/{run_id}/pages", content=body)

    assert response.status_code == 200, response.text
    assert data(response)["is_kept"]


@pytest.mark.parametrize("payload", ["{", "", {"data": {}}, 7])
async def test_an_unreadable_page_is_answered_and_kept(laptop: Sender, payload: object) -> None:
    run_id = (await laptop.start())["run_id"]

    result = await laptop.send(run_id, 0, {**listed([1]), "payload": payload})

    assert result["unreadable"] == len(result["errors"]) == 1
    assert (result["is_kept"], result["stop"], result["received"]) == (True, False, 0)
    assert await kept(laptop) == 1


async def test_readable_pages_are_not_kept(laptop: Sender) -> None:
    run_id = (await laptop.start())["run_id"]

    result = await laptop.send(run_id, 0, listed([1]))

    assert not result["is_kept"]
    assert await kept(laptop) == 0


@pytest.mark.both
async def test_a_kept_page_is_read_by_a_newer_reader(
    laptop: Sender, alice: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = (await laptop.start())["run_id"]
    page = listed([2, 1])
    renamed = json.loads(json.dumps(page).replace("bookmark_timeline_v2", "saved_timeline"))
    await laptop.send(run_id, 0, renamed)
    await laptop.send(run_id, 1, {**page, "payload": "{"})
    pages = KeptPages(alice.database, laptop.clock)

    before = await pages.read_again(await alice.account())
    paths = {**graphql._PATHS, Operation.BOOKMARKS: ("saved_timeline", ())}  # noqa: SLF001 - a newer reader
    monkeypatch.setattr(graphql, "_PATHS", paths)
    after = await pages.read_again(await alice.account())

    assert (before.pages, before.read) == (2, 0)
    assert (after.pages, after.read, after.new) == (2, 1, 2)
    assert await alice.ids() == [post_id(2), post_id(1)]
    assert await kept(laptop) == 1


async def test_a_page_whose_reader_fails_is_kept_too(
    laptop: Sender, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = (await laptop.start())["run_id"]

    def broken(*_: object) -> None:
        raise KeyError

    monkeypatch.setattr(graphql, "read_page", broken)
    result = await laptop.send(run_id, 0, listed([1]))

    assert result["errors"] == ["The page cannot be read."]
    assert result["is_kept"]


async def test_kept_pages_are_bounded_in_number_and_size(
    laptop: Sender, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = (await laptop.start())["run_id"]
    monkeypatch.setattr(limits, "KEPT_PAGES_MAX", 2)

    results = [
        await laptop.send(run_id, seq, {**listed([1]), "payload": "{" * seq}) for seq in range(3)
    ]
    monkeypatch.setattr(limits, "KEPT_PAGES_MAX", 200)
    monkeypatch.setattr(limits, "KEPT_BYTES_MAX", 20)
    large = await laptop.send(run_id, 3, {**listed([1]), "payload": "{"})

    assert [result["is_kept"] for result in results] == [True, True, False]
    assert not large["is_kept"]


@pytest.mark.both
async def test_old_rows_are_swept(laptop: Sender, cast: Service, alice: Member) -> None:
    run_id = (await laptop.start())["run_id"]
    await laptop.send(run_id, 0, listed([1]))
    await laptop.send(run_id, 1, {**listed([1], 1), "payload": "{"})
    await laptop.client.post("/ingest/v1/files", content=b"%PDF")
    await cast.app.file_imports.finished()

    laptop.clock.now += 6 * ingesting.DAY
    await cast.app.sweeping.sweep()
    assert await counts(alice) == {
        "ingest_page": 2, "kept_page": 1, "file_import": 1, "ingest_run": 1, "source_post": 1
    }  # fmt: skip
    laptop.clock.now += 2 * ingesting.DAY
    await cast.app.sweeping.sweep()
    assert await counts(alice) == {
        "ingest_page": 0, "kept_page": 1, "file_import": 0, "ingest_run": 1, "source_post": 1
    }  # fmt: skip
    laptop.clock.now += 30 * ingesting.DAY
    await cast.app.sweeping.sweep()
    assert (await counts(alice))["ingest_run"] == 0
    cast.clock.now += 330 * ingesting.DAY
    await cast.app.sweeping.sweep()
    assert (await counts(alice))["kept_page"] == 0


async def counts(member: Member) -> dict[str, int]:
    found = {}
    for table in ("ingest_page", "kept_page", "file_import", "ingest_run", "source_post"):
        rows = await member.database.rows(
            f"SELECT count(*) FROM {table} WHERE account_id = :account_id",  # noqa: S608 - our names
            {"account_id": member.account_id},
        )
        found[table] = rows[0][0]
    return found


@pytest.mark.both
async def test_reading_kept_pages_again_is_an_import_that_can_be_undone(
    laptop: Sender, alice: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = (await laptop.start())["run_id"]
    await laptop.send(run_id, 0, listed([1]))
    page = json.dumps(listed([2, 1], 1)).replace("Post 1.", "Post 1, changed.")
    await laptop.send(run_id, 1, json.loads(page.replace("bookmark_timeline_v2", "saved_timeline")))
    await laptop.finish(run_id, "gave_up")
    first = data(await laptop.get(f"/runs/{run_id}"))["import_id"]
    paths = {**graphql._PATHS, Operation.BOOKMARKS: ("saved_timeline", ())}  # noqa: SLF001 - a newer reader
    monkeypatch.setattr(graphql, "_PATHS", paths)

    await KeptPages(alice.database, laptop.clock).read_again(await alice.account())

    imports = data(await alice.client.get("/v1/imports"))
    assert [(one["kind"], one["state"]) for one in imports] == [
        ("kept", "finished"),
        ("full", "interrupted"),
    ]
    for import_id in (imports[0]["run_id"], first):
        assert (await alice.client.post(f"/v1/imports/{import_id}/undo")).status_code == 200
    assert await alice.ids() == []


@pytest.mark.both
async def test_a_kept_page_says_what_its_posts_were_when_it_was_captured(
    laptop: Sender, alice: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = (await laptop.start())["run_id"]
    await laptop.send(run_id, 0, gone(1))
    laptop.clock.now += ingesting.MINUTE
    page = listed([2, 1], 1)
    renamed = json.loads(json.dumps(page).replace("bookmark_timeline_v2", "saved_timeline"))
    await laptop.send(run_id, 1, renamed)
    laptop.clock.now += ingesting.DAY
    removed_at = "2026-09-02T00:00:00.000000+00:00"
    await laptop.post("/events", [{"type": "removed", "post_id": post_id(2), "at": removed_at}])

    paths = {**graphql._PATHS, Operation.BOOKMARKS: ("saved_timeline", ())}  # noqa: SLF001 - a newer reader
    monkeypatch.setattr(graphql, "_PATHS", paths)
    await KeptPages(alice.database, laptop.clock).read_again(await alice.account())

    assert data(await alice.get(f"/v1/bookmarks/{post_id(2)}"))["removed_at"] == removed_at
    await alice.client.delete(f"/v1/bookmarks/{post_id(1)}")
    await alice.client.post(
        "/v1/bookmarks", json={"links": [f"https://x.com/i/status/{post_id(1)}"]}
    )
    assert "gone_at" not in data(await alice.get(f"/v1/bookmarks/{post_id(1)}"))
