"""`jobs`: lists, retries and cancels background jobs."""

from collections.abc import Sequence
from typing import Final, NamedTuple

import click

from bowerbird.cli.context import LibraryContext, with_library
from bowerbird.cli.output import Column, json_option, moment_column, print_listing
from bowerbird.model.jobs import KIND_NAMES, JobResponse
from bowerbird.storage.accounts.accounts import AccountStore
from bowerbird.storage.upkeep.jobs import JobStore


class _Listed(NamedTuple):
    job: JobResponse
    # The address of the account, or its id.
    account: str


_COLUMNS: Final[Sequence[Column[_Listed]]] = (
    Column("id", "Id", lambda listed: listed.job.job_id),
    Column("account", "Account", lambda listed: listed.account),
    Column(
        "kind",
        "Kind",
        lambda listed: listed.job.kind,
        lambda listed: KIND_NAMES.get(listed.job.kind, listed.job.kind),
    ),
    Column("state", "State", lambda listed: listed.job.state),
    Column("attempts", "Attempts", lambda listed: listed.job.tries),
    Column(
        "progress",
        "Progress",
        lambda listed: {"done": listed.job.done, "total": listed.job.total},
        lambda listed: f"{listed.job.done}/{listed.job.total}",
    ),
    moment_column("created_at", "Created (UTC)", lambda listed: listed.job.created_at),
    Column("error", "Error", lambda listed: listed.job.error),
)


@click.group()
def jobs() -> None:
    """List, retry and cancel background jobs."""


@jobs.command("list")
@click.option(
    "--limit",
    type=click.IntRange(1, 10_000),
    default=50,
    help="Maximum number of jobs, newest first.",
)
@json_option
def list_jobs(limit: int, *, as_json: bool) -> None:
    r"""List jobs: id, account, kind, state, attempts, progress, time of creation, error.

    The columns are tab-separated when the output is not a terminal.

    \b
    Example:
      bowerbird jobs list
      bowerbird jobs list --limit 500 | grep failed
      bowerbird jobs list --json
    """

    async def work(opened: LibraryContext) -> list[_Listed]:
        found = await JobStore(opened.database).latest(limit)
        emails = await _emails(opened, {job.account_id for job in found})
        return [_Listed(job, emails[job.account_id]) for job in found]

    print_listing(with_library(work), _COLUMNS, as_json=as_json)


@jobs.command()
@click.argument("job_id", metavar="JOB-ID")
def retry(job_id: str) -> None:
    r"""Put a failed job back into the queue, with its full number of attempts.

    \b
    Example:
      bowerbird jobs retry 3f9c01ab5d2e4a7c8b1f0e6d9a3c5b7e
    """

    async def work(opened: LibraryContext) -> bool:
        store = JobStore(opened.database)
        return await store.retry(await _owner(store, job_id), job_id)

    if not with_library(work):
        raise click.ClickException(
            f"Job {job_id} has not failed, or the same work is already queued or running."
        )
    click.echo(f"Job {job_id} is queued again.")


@jobs.command()
@click.argument("job_id", metavar="JOB-ID")
def cancel(job_id: str) -> None:
    r"""Cancel a queued or running job. Its state becomes failed.

    \b
    Example:
      bowerbird jobs cancel 3f9c01ab5d2e4a7c8b1f0e6d9a3c5b7e
    """

    async def work(opened: LibraryContext) -> bool:
        store = JobStore(opened.database)
        return await store.cancel(await _owner(store, job_id), job_id, now=opened.clock())

    if not with_library(work):
        raise click.ClickException(f"Job {job_id} has already ended.")
    click.echo(f"Cancelled job {job_id}.")


async def _owner(store: JobStore, job_id: str) -> int:
    account_id = await store.owner(job_id)
    if account_id is None:
        sentence = f"No job has the id {job_id!r}. To list jobs, run: bowerbird jobs list"
        raise click.ClickException(sentence)
    return account_id


async def _emails(opened: LibraryContext, account_ids: set[int]) -> dict[int, str]:
    accounts = AccountStore(opened.database)
    found = {each: await accounts.membership(each) for each in account_ids}
    # A partly deleted account, and one without an address, have only their id.
    return {each: (member and member.email) or str(each) for each, member in found.items()}
