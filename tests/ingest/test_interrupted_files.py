"""Imports of files that a stop, a kill or a database that is away interrupts."""

import asyncio

import pytest

from tests.ingest.sent_files import counts, imported, own, upload
from tests.support.engines.watched_writes import WatchedWrites
from tests.support.ingesting import Sender, data
from tests.support.service import Member, Service

pytestmark = pytest.mark.anyio


async def test_an_import_that_the_server_stops_is_reported_and_can_be_repeated(
    laptop: Sender, cast: Service, alice: Member
) -> None:
    content = own(*map(str, range(1, 2_001)))
    response = await upload(laptop, content)

    await cast.app.file_imports.close()

    job = data(await laptop.client.get(response.headers["location"]))
    assert job["status"] == "failed"
    assert job["error"] == "The server stopped during the import. Send the file again."
    again = await imported(cast, laptop, await upload(laptop, content))
    assert (again["status"], again["report"]["files"][0]["found"]) == ("completed", 2_000)
    assert (await alice.account()).total == 2_000


async def test_the_report_about_a_killed_import_counts_what_was_imported(
    laptop: Sender, cast: Service, alice: Member
) -> None:
    # The job, its state, the import, the state again, and a chunk.
    pause = WatchedWrites(alice.database).pause_after(5)
    response = await upload(laptop, own(*map(str, range(1, 701))))
    await pause.reached.wait()
    laptop.clock.now += 121_000_000

    job = data(await laptop.client.get(response.headers["location"]))

    [listed] = data(await alice.client.get("/v1/imports"))
    (file,) = job["report"]["files"]
    stored = len(await alice.crawl())
    assert 0 < stored < 700
    assert (job["status"], job["report"]["run_id"]) == ("failed", listed["run_id"])
    assert (file["found"], file["new"]) == (stored, stored)
    pause.over.set()
    await cast.app.file_imports.finished()


async def test_an_import_is_completed_although_the_database_is_away_when_it_ends(
    laptop: Sender, cast: Service, alice: Member
) -> None:
    watched = WatchedWrites(alice.database)
    # The job, its state, the import, the state again, the post, and the end of the import.
    pause = watched.pause_after(6)
    response = await upload(laptop, own("1"))
    await pause.reached.wait()
    watched.refuse(1)
    pause.over.set()

    job = await imported(cast, laptop, response)

    assert watched.refusals == 0
    assert (job["status"], job["error"], counts(job)) == ("completed", None, (1, 0, 0))


async def test_the_server_does_not_wait_for_a_database_that_is_away_when_it_stops(
    laptop: Sender, cast: Service, alice: Member
) -> None:
    watched = WatchedWrites(alice.database)
    pause = watched.pause_after(5)
    await upload(laptop, own(*map(str, range(1, 701))))
    await pause.reached.wait()
    watched.refuse(100)

    closing = asyncio.create_task(cast.app.file_imports.close())
    pause.over.set()
    await closing

    # The chunks that were read, the end of the import, and that of the file's job, once each.
    assert watched.refusals > 90


async def test_a_stop_does_not_turn_a_complete_import_into_a_failed_one(
    laptop: Sender, cast: Service, alice: Member
) -> None:
    watched = WatchedWrites(alice.database)
    pause = watched.pause_after(6)
    response = await upload(laptop, own("1"))
    await pause.reached.wait()
    watched.refuse(1)
    pause.over.set()
    await watched.refused.wait()

    await cast.app.file_imports.close()

    job = data(await laptop.client.get(response.headers["location"]))
    assert (job["status"], job["error"], counts(job)) == ("completed", None, (1, 0, 0))
