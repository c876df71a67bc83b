"""The state of the service on the operator's page."""

import asyncio
from datetime import date
from pathlib import Path

import pytest

from bowerbird import app
from bowerbird.clock import MICROSECONDS, day_of
from bowerbird.library.upkeep.overview import Remembered
from bowerbird.settings import Settings
from bowerbird.storage.accounts.sunset_notices import VersionUseStore
from bowerbird.storage.backup import last_backup
from bowerbird.storage.backup.last_backup import LastBackup
from bowerbird.storage.database import Database
from bowerbird.storage.words.vectors import VectorStore
from bowerbird.wire.deprecation import Deprecation
from tests.support.models import MODELS
from tests.support.service import SetClock
from tests.support.visiting import visitor
from tests.web.house import House, build

pytestmark = pytest.mark.anyio

DAY = 86_400


async def test_the_page_shows_versions_database_and_disk(house: House) -> None:
    owner = await house.owner()
    await VersionUseStore(house.database).put(
        {(await house.account_id(), "v1"): day_of(house.clock())}
    )

    page = (await owner.open("/operator")).text

    assert "<dt>Version</dt>" in page
    assert "SQLite 3." in page or "PostgreSQL 1" in page
    assert "<dt>Free disk space</dt>" in page
    versions = page.partition('aria-label="Versions in use"')[2].partition("</table>")[0]
    assert ">v1<" in versions
    assert "no date set" in versions


async def test_a_version_that_ends_has_its_date(house: House) -> None:
    owner = await house.owner()
    await VersionUseStore(house.database).put(
        {(await house.account_id(), "v1"): day_of(house.clock())}
    )
    ending = Deprecation(
        method="*", path="/v1", since=date(2026, 1, 1), sunset=date(2027, 3, 4), note="/docs"
    )
    service = app.build(Settings(), house.database, house.clock, MODELS, deprecations=[ending])
    again = visitor(service)
    again.client.cookies = owner.client.cookies

    assert "4 Mar 2027" in (await again.open("/operator")).text


async def test_the_last_backup_is_shown_and_a_warning_when_it_is_old(
    sqlite_house: House, tmp_path: Path
) -> None:
    owner = await sqlite_house.owner()
    assert "there is none yet" in (await owner.open("/operator")).text

    last_backup.remember(tmp_path, LastBackup(sqlite_house.clock(), 5_000_000))
    sqlite_house.clock.now += 61 * MICROSECONDS
    assert "made within the last 24 hours, 5.0 MB" in (await owner.open("/operator")).text

    sqlite_house.clock.now += (8 * DAY) * MICROSECONDS
    page = (await owner.open("/operator")).text
    assert "made 8 days ago" in page
    assert "To fix it: run bowerbird backup FILE every day." in page


async def test_slow_checks_run_only_when_they_are_asked_for(house: House) -> None:
    owner = await house.owner()

    plain, complete = await owner.open("/operator"), await owner.open("/operator?checks=all")

    health = [each.text.partition("<h3>")[0] for each in (plain, complete)]
    for name in ("Permissions", "Files", "Fonts", "Model", "Database"):
        assert f'scope="row">{name}<' not in health[0]
        assert f'scope="row">{name}<' in health[1]


async def test_the_progress_of_vectors_is_shown_per_account(house: House) -> None:
    owner = await house.owner()
    await VectorStore(house.database).create(await house.account_id(), b"\x01", "tiny", 1)

    page = (await owner.open("/operator")).text

    stores = page.partition('id="stores"')[2]
    assert ">tiny<" in stores
    assert "0 of 0" in stores


async def test_a_remembered_value_is_computed_once_for_callers_at_the_same_time() -> None:
    clock, count, may_end = SetClock(), 0, asyncio.Event()

    async def compute() -> int:
        nonlocal count
        count += 1
        await may_end.wait()
        return count

    value = Remembered(compute, clock)
    callers = [asyncio.create_task(value.get()) for _ in range(3)]
    await asyncio.sleep(0)
    callers[0].cancel()
    may_end.set()
    assert await asyncio.gather(*callers[1:]) == [1, 1]

    clock.now += 59 * MICROSECONDS
    assert await value.get() == 1
    clock.now += 2 * MICROSECONDS
    assert await value.get() == 2


async def test_a_failure_is_not_remembered() -> None:
    attempts = iter([ValueError("no"), None])

    async def compute() -> str:
        if error := next(attempts):
            raise error
        return "done"

    value = Remembered(compute, SetClock())
    with pytest.raises(ValueError, match="no"):
        await value.get()
    assert await value.get() == "done"


@pytest.fixture
def sqlite_house(sqlite: Database, tmp_path: Path) -> House:
    (tmp_path / "bowerbird.db").touch()
    return build(sqlite, tmp_path)
