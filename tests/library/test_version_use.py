"""The last use of each version is recorded, and reads do not become slower."""

import asyncio

import pytest
from structlog.testing import capture_logs

from bowerbird.library.accounts.tokens import VersionUse
from bowerbird.storage.accounts.credentials import VersionUseStore
from bowerbird.storage.database import Database
from tests.support import toolcalls
from tests.support.service import NOW, Service, SetClock
from tests.support.waiting import PATIENCE_S

pytestmark = pytest.mark.anyio

DAY = 86_400 * 1_000_000
TODAY = NOW // DAY


async def _uses(database: Database) -> dict[int, tuple[str, int]]:
    rows = await database.rows("SELECT account_id, version, last_day FROM version_use", {})
    return {account_id: (version, day) for account_id, version, day in rows}


@pytest.mark.both
async def test_every_calling_account_is_recorded_with_the_day(cast: Service) -> None:
    await cast.alice.get("/v1/bookmarks")
    await cast.bob.get("/v1/nowhere")
    await cast.nobody.get("/v1/bookmarks")

    await cast.app.uses.flush()

    expected = ("v1", TODAY)
    assert await _uses(cast.database) == {
        cast.alice.account_id: expected,
        cast.bob.account_id: expected,
    }


async def test_an_account_causes_one_write_per_day_and_not_in_a_read(cast: Service) -> None:
    unused = cast.database.generation()
    await cast.alice.get("/v1/bookmarks")
    assert cast.database.generation() == unused
    assert await _uses(cast.database) == {}
    await cast.app.uses.flush()
    before = cast.database.generation()
    for _ in range(3):
        await cast.alice.get("/v1/bookmarks")
        await cast.app.uses.flush()

    assert cast.database.generation() == before


async def test_a_later_day_is_recorded_and_an_earlier_one_is_ignored(cast: Service) -> None:
    await cast.alice.get("/v1/bookmarks")
    await cast.app.uses.flush()
    cast.clock.now += DAY
    await cast.alice.get("/v1/bookmarks")
    await cast.app.uses.flush()
    late = VersionUse(VersionUseStore(cast.database), SetClock())
    late.note_call(cast.alice.account_id, "v1")
    await late.flush()

    assert await _uses(cast.database) == {cast.alice.account_id: ("v1", TODAY + 1)}


async def test_no_use_is_recorded_for_a_deleted_account(cast: Service) -> None:
    uses = VersionUse(VersionUseStore(cast.database), cast.clock)
    uses.note_call(12345, "v1")

    await uses.flush()

    assert await _uses(cast.database) == {}


async def test_a_tool_call_is_recorded_as_a_use(cast: Service) -> None:
    await toolcalls.call(cast.bob, "list_labels")
    await cast.app.uses.flush()

    assert await _uses(cast.database) == {cast.bob.account_id: ("v1", TODAY)}


async def test_uses_that_cannot_be_written_are_logged_and_written_later(cast: Service) -> None:
    uses = VersionUse(VersionUseStore(cast.database), cast.clock)
    uses.note_call(cast.alice.account_id, "v1")
    await cast.database.write(lambda t: t.run("ALTER TABLE version_use RENAME TO away", {}))
    with capture_logs() as logs:
        noting = asyncio.create_task(uses.flushing.run())
        await asyncio.sleep(0)
        uses.flushing.stop()
        await asyncio.wait_for(noting, PATIENCE_S)
    await cast.database.write(lambda t: t.run("ALTER TABLE away RENAME TO version_use", {}))

    assert [(line["event"], line["waiting"]) for line in logs] == [("version uses not written", 1)]
    await uses.flush()
    assert cast.alice.account_id in await _uses(cast.database)


async def test_every_use_is_recorded_when_the_cache_is_full(
    cast: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bowerbird.library.accounts.tokens._MAX_RECORDED", 1)
    uses = VersionUse(VersionUseStore(cast.database), cast.clock)
    members = (cast.alice, cast.bob, cast.free)
    for member in members:
        uses.note_call(member.account_id, "v1")

    await uses.flush()

    assert (await _uses(cast.database)).keys() == {member.account_id for member in members}
