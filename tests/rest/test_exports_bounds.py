"""How many exports an account may start per day, and how large their files may be."""

import asyncio
from pathlib import Path

import httpx
import pytest

from bowerbird import errors
from bowerbird.clock import MICROSECONDS, day_of
from bowerbird.jobs.exports import ExportJobs
from bowerbird.requests import limits
from bowerbird.settings import Settings
from bowerbird.storage.files.files import Files
from bowerbird.storage.libraries import EXPORTS, DailyUseStore, DayUse
from tests.support import make, working, writing
from tests.support.exporting import begin, export, finished
from tests.support.service import Member, Service
from tests.support.toolcalls import refusal

pytestmark = pytest.mark.anyio

TOO_LARGE = (
    "The files of an account's exports may have 2 GB per day (UTC), and this one would exceed "
    "that. Export fewer posts, or retry tomorrow."
)


async def _use(member: Member, *, uses: int = 0, size: int = 0) -> None:
    store = DailyUseStore(member.database, EXPORTS)
    day = day_of(member.clock())
    await member.database.write(
        lambda t: store.add(t, member.account_id, day, uses=uses, size=size)
    )


async def _used(member: Member) -> DayUse:
    store = DailyUseStore(member.database, EXPORTS)
    return await store.used(member.database, member.account_id, day_of(member.clock()))


async def _start(member: Member, format: str = "json", key: str | None = None) -> httpx.Response:
    return await writing.send(member, "POST", f"/v1/exports/{format}", {}, key)


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.suffix in (".json", ".csv", ".pdf")]


async def test_an_account_can_start_twenty_exports_per_day(cast: Service) -> None:
    alice = cast.alice

    responses = await asyncio.gather(*[_start(alice) for _ in range(25)])

    assert sorted(response.status_code for response in responses) == [202] * 20 + [429] * 5
    refused = next(response for response in responses if response.status_code == 429)
    assert refused.json()["code"] == "EXPORT_COUNT_LIMIT"
    assert refused.json()["error"] == (
        "This account has started 20 exports today (UTC), the maximum. Retry tomorrow."
    )
    assert (await _start(cast.bob)).status_code == 202
    cast.clock.now += int(refused.headers["retry-after"]) * MICROSECONDS
    assert (await _start(alice)).status_code == 202


async def test_refused_and_repeated_requests_do_not_count_as_exports(alice: Member) -> None:
    await writing.send(alice, "POST", "/v1/exports/json", {"view": "none"})
    await writing.send(alice, "POST", "/v1/exports/json", {"nothing": 1})
    for _ in range(3):
        await _start(alice, key="k")

    assert await _used(alice) == DayUse(1, 0)


async def test_an_account_with_the_daily_bytes_cannot_start_an_export(alice: Member) -> None:
    await alice.save()
    await _use(alice, size=limits.EXPORT_BYTES_PER_DAY)

    response = await _start(alice)
    said = await refusal(alice, "create_export", format="csv")

    assert writing.refused(response) == (429, "EXPORT_SIZE_LIMIT")
    assert response.json()["error"] == (
        "The exports of this account have written 2 GB of files today (UTC), the maximum. "
        "Retry tomorrow."
    )
    assert 0 < int(response.headers["retry-after"]) <= 86_400
    assert said.startswith("EXPORT_SIZE_LIMIT: The exports of this account have written 2 GB")


@pytest.mark.parametrize("format", ["json", "csv"])
async def test_a_file_beyond_the_daily_bytes_fails_its_export_and_is_removed(
    cast: Service, tmp_path: Path, format: str
) -> None:
    await cast.alice.save_all([make.post() for _ in range(300)])
    await _use(cast.alice, size=limits.EXPORT_BYTES_PER_DAY - 20_000)

    (job,) = await finished(cast, cast.alice, await begin(cast.alice, format))

    assert (job["status"], job["error"]) == ("failed", TOO_LARGE)
    assert job["file_size"] is None
    assert _files(tmp_path) == []
    # The rejected file does not count.
    assert (await _used(cast.alice)).bytes == limits.EXPORT_BYTES_PER_DAY - 20_000


async def test_the_bytes_of_a_file_count_exactly(cast: Service) -> None:
    await cast.alice.save()
    sizes = [(await export(cast, cast.alice, format))["file_size"] for format in ("json", "csv")]

    assert await _used(cast.alice) == DayUse(2, sum(sizes))
    await _use(cast.alice, size=limits.EXPORT_BYTES_PER_DAY - sum(sizes) - sizes[0])
    assert (await export(cast, cast.alice))["file_size"] == sizes[0]
    assert (await _start(cast.alice)).json()["code"] == "EXPORT_SIZE_LIMIT"


class FullFiles(Files):
    async def move(self, name: str, source: Path) -> None:
        del name, source
        raise errors.unavailable("The bucket is full.")


async def test_a_file_that_was_not_stored_does_not_count(cast: Service, tmp_path: Path) -> None:
    files = FullFiles(Settings(data_dir=tmp_path))
    kind = ExportJobs(cast.database, files, cast.clock, tmp_path).kind
    job = await begin(cast.alice)

    async with working.at_work(working.worker(cast.database, kind.run, kinds=[kind])):
        failed = await working.until(cast.database, cast.alice.account_id, job["job_id"], "failed")

    assert failed.error == "The bucket is full."
    assert (await _used(cast.alice)).bytes == 0
