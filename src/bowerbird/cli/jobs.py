"""`jobs`: lists background jobs, begins one anew, ends one."""

from typing import Final

import click

from bowerbird.cli import tables
from bowerbird.cli.context import LibraryContext, with_library
from bowerbird.model.instants import without_offset
from bowerbird.model.jobs import JobResponse
from bowerbird.storage.accounts.accounts import AccountStore
from bowerbird.storage.jobs import JobStore

_COLUMNS: Final = ("Id", "Account", "Kind", "State", "Tries", "Done", "Made (UTC)", "Error")


@click.group()
def jobs() -> None:
    """List, retry and cancel background jobs."""


@jobs.command("list")
@click.option("--limit", type=click.IntRange(1, 10_000), default=50, help="How many, newest first.")
def list_jobs(limit: int) -> None:
    r"""Show jobs: id, account, kind, state, tries, progress, time of making, why it failed.

    Tab-separated when the output is not a terminal.

    \b
    Example:
      bowerbird jobs list
      bowerbird jobs list --limit 500 | grep failed
    """

    async def work(opened: LibraryContext) -> list[list[str]]:
        found = await JobStore(opened.database).latest(limit)
        emails = await _emails(opened, {job.account_id for job in found})
        return [_row(job, emails[job.account_id]) for job in found]

    tables.show(_COLUMNS, with_library(work))


@jobs.command()
@click.argument("job_id", metavar="JOB-ID")
def retry(job_id: str) -> None:
    r"""Put a failed job back into the queue, with all its tries.

    \b
    Example:
      bowerbird jobs retry 3f9c01ab5d2e4a7c8b1f0e6d9a3c5b7e
    """

    async def work(opened: LibraryContext) -> bool:
        store = JobStore(opened.database)
        return await store.retry(await _owner(store, job_id), job_id)

    if not with_library(work):
        raise click.ClickException("It has not failed, or the same is under way already.")
    click.echo(f"Job {job_id} is in the queue again.")


@jobs.command()
@click.argument("job_id", metavar="JOB-ID")
def cancel(job_id: str) -> None:
    r"""End a job that waits or is being worked on; it ends as failed.

    \b
    Example:
      bowerbird jobs cancel 3f9c01ab5d2e4a7c8b1f0e6d9a3c5b7e
    """

    async def work(opened: LibraryContext) -> bool:
        store = JobStore(opened.database)
        return await store.cancel(await _owner(store, job_id), job_id, now=opened.clock())

    if not with_library(work):
        raise click.ClickException("It has ended already.")
    click.echo(f"Job {job_id} is cancelled.")


async def _owner(store: JobStore, job_id: str) -> int:
    account_id = await store.owner(job_id)
    if account_id is None:
        sentence = f"There is no job {job_id!r}. List them with: bowerbird jobs list"
        raise click.ClickException(sentence)
    return account_id


async def _emails(opened: LibraryContext, account_ids: set[int]) -> dict[int, str]:
    accounts = AccountStore(opened.database)
    found = {each: await accounts.membership(each) for each in account_ids}
    # An account may be half deleted; then its number is all there is.
    return {each: member.email if member else str(each) for each, member in found.items()}


def _row(job: JobResponse, email: str) -> list[str]:
    made = without_offset(job.created_at)[:19]
    done = f"{job.done}/{job.total}"
    return [job.job_id, email, job.kind, job.state, str(job.tries), done, made, job.error or ""]
