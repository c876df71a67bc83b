"""A worker that is killed while it writes exports."""

import asyncio
import json
from functools import partial
from typing import Any, Final

import msgspec

from bowerbird.cli.context import opened_library, settings_from_environment
from bowerbird.clock import system_clock
from bowerbird.jobs.exports import ExportJobs
from bowerbird.jobs.worker import Worker
from bowerbird.library.accounts.accounts import Accounts
from bowerbird.library.exports.exports import Exports
from bowerbird.model.jobs import MAX_TRIES, ExportFile, JobResponse, JobState
from bowerbird.requests.exports import ExportRequest
from bowerbird.settings import Settings
from bowerbird.storage.files import Files
from endurance.kills.trials import EMAIL, Kind, Library, Trial
from tests.crash import killing
from tests.crash.killing import Moment, Report
from tests.support import make, working

_POSTS: Final = 1_500
_JOBS: Final = 8
# 15 s in production. A busy machine must not lose a lease: that would be an attempt of the job.
_LEASE_S: Final = 2.0


def _fill(library: Library) -> list[str]:
    posts = [make.post() for _ in range(_POSTS)]
    file = library.folder / "posts.json"
    file.write_text(json.dumps(posts))
    library.command("import", EMAIL, str(file))
    return [post["post_id"] for post in posts]


def _export(trial: Trial) -> None:
    """A job fails for good after so many killed workers, so each is killed less often."""
    files = 0
    for _ in range(_JOBS):
        before = trial.kills
        account_id, job_id = asyncio.run(_start(trial.settings))
        trial.until_finished(
            partial(_life, account_id, job_id),
            Moment(0, 3, 0.05),
            most_kills=trial.chance.randint(1, MAX_TRIES - 1),
        )
        job = asyncio.run(_job(trial.settings, account_id, job_id))
        assert (job.state, job.error) == (JobState.COMPLETED, None)
        _check_file(trial, job)
        files += 1 + trial.kills - before
    stored = (trial.settings.data_dir / "files" / "exports").rglob("*.json")
    # A worker that is killed after it has stored a file leaves it for a recurring task.
    assert _JOBS <= len(list(stored)) <= files


async def _start(settings: Settings) -> tuple[int, str]:
    async with opened_library(settings) as opened:
        account = await Accounts(opened.database, system_clock).find(EMAIL)
        exports = Exports(opened.database, Files(settings), system_clock)
        job = await opened.database.write(
            lambda transaction: exports.create(transaction, account, "json", ExportRequest())
        )
        return account.account_id, job.job_id


def _life(account_id: int, job_id: str, report: Report) -> None:
    asyncio.run(_work(account_id, job_id, report))


async def _work(account_id: int, job_id: str, report: Report) -> None:
    settings = settings_from_environment()
    async with opened_library(settings) as opened:
        database = opened.database
        jobs = ExportJobs(database, Files(settings), system_clock, settings.data_dir)
        worker = Worker(
            database,
            [killing.reporting(jobs.kind, report)],
            [],
            system_clock,
            lease_s=_LEASE_S,
            heartbeat_s=_LEASE_S / 4,
            poll_s=0.02,
        )
        async with working.at_work(worker):
            ended = (JobState.COMPLETED, JobState.FAILED)
            await working.until(database, account_id, job_id, *ended)


async def _job(settings: Settings, account_id: int, job_id: str) -> JobResponse:
    async with opened_library(settings) as opened:
        return await working.shown(opened.database, account_id, job_id)


def _check_file(trial: Trial, job: JobResponse) -> None:
    assert job.result is not None
    file = msgspec.json.decode(job.result, type=ExportFile)
    content = (trial.settings.data_dir / "files" / file.name).read_bytes()
    posts: list[dict[str, Any]] = json.loads(content)
    assert len(content) == file.size
    assert [post["post_id"] for post in posts] == trial.state


EXPORTS: Final = Kind(_export, _fill)
