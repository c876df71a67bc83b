"""A list of just what one import added or changed."""

import pytest

from bowerbird.storage.database import Database
from tests.support import writing
from tests.support.imports import found, run
from tests.support.service import Member

pytestmark = pytest.mark.anyio
EVERYTHING = {"is_unread_only": "false", "hide_archived": "false"}


async def test_a_list_has_only_what_an_import_added_or_changed(alice: Member) -> None:
    await alice.save(post_id="1", text="short")
    first = await run(alice, found(post_id="2"), found(post_id="3"))
    second = await run(alice, found(post_id="3", text="other words, and more of them"))
    await alice.save(post_id="4")

    assert sorted(await alice.ids(import_run=first, **EVERYTHING)) == ["2", "3"]
    assert await alice.ids(import_run=second, **EVERYTHING) == ["3"]
    counted = await alice.get("/v1/bookmarks/count", import_run=first, **EVERYTHING)
    assert counted.json()["data"]["count"] == 2
    assert await alice.ids(import_run=first, q="more", **EVERYTHING) == ["3"]


async def test_the_list_is_paged_and_narrowed_like_any_other(alice: Member) -> None:
    one = await run(alice, *(found(post_id=str(n)) for n in range(10, 20)))
    await alice.save(post_id="4")
    assert sorted(await alice.crawl(import_run=one, limit=3)) == [str(n) for n in range(10, 20)]
    await writing.send(alice, "PATCH", "/v1/bookmarks/12", {"is_read": True})
    assert len(await alice.ids(import_run=one)) == 9


async def test_an_import_of_somebody_else_finds_nothing(alice: Member, bob: Member) -> None:
    one = await run(alice, found(post_id="2"))
    await bob.save(post_id="2")
    assert await bob.ids(import_run=one, **EVERYTHING) == []


async def test_an_import_that_was_undone_has_no_posts(alice: Member) -> None:
    one = await run(alice, found(post_id="2"))
    await writing.send(alice, "POST", f"/v1/imports/{one}/undo")
    assert await alice.ids(import_run=one, **EVERYTHING) == []


@pytest.mark.parametrize("text", ["a b", "é", "x" * 41, "%00"])
async def test_what_cannot_be_an_id_is_refused(alice: Member, text: str) -> None:
    refused = await alice.get("/v1/bookmarks", import_run=text)
    assert writing.refused(refused) == (400, "INVALID_REQUEST")
    assert "import_run" in writing.sentence(refused)


async def test_every_plan_can_see_what_it_imported(free: Member) -> None:
    one = await run(free, found(post_id="2"))
    assert await free.ids(import_run=one) == ["2"]


async def test_sqlite_reads_only_the_log_of_the_import(sqlite: Database) -> None:
    sql = (
        "EXPLAIN QUERY PLAN SELECT c.number FROM import_run AS r JOIN import_change AS c"
        " ON c.account_id = r.account_id AND c.run = r.number"
        " WHERE r.account_id = 1 AND c.account_id = 1 AND r.run_id = 'a'"
    )
    plan = [row[3] for row in await sqlite.rows(sql, {})]
    assert all(step.startswith("SEARCH") for step in plan), plan
