"""A worker that is left running while the schema becomes one it does not know."""

from pathlib import Path

import pytest

from bowerbird.clock import system_clock
from bowerbird.errors import Refusal
from bowerbird.jobs.assembly import build_searching, build_worker
from bowerbird.settings import Settings
from bowerbird.storage.files import Files
from tests.support import databases
from tests.support.postgres import ThrowawayPostgres

pytestmark = pytest.mark.anyio


async def test_a_worker_stops_its_jobs_when_the_schema_no_longer_fits(
    postgres: ThrowawayPostgres, tmp_path: Path
) -> None:
    settings = Settings(data_dir=tmp_path, database_url="postgresql://localhost/bowerbird")
    async with databases.fresh_postgres(postgres) as database:
        searching = build_searching(settings, database, system_clock)
        worker = build_worker(settings, database, Files(settings), system_clock, searching)
        [check] = [each for each in worker.recurring if each.name == "schema"]
        await check.run()
        await database.rows("INSERT INTO schema_migration VALUES (9999, '', false)", {})

        with pytest.raises(Refusal, match="newer release"):
            await check.run()

        with pytest.raises(Refusal, match="newer release"):
            await database.rows("SELECT 1", {})
