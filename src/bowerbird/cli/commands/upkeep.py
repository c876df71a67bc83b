"""`check`, `backup`, `restore` and `jobs`: what keeps a library in order."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

import click

from bowerbird.cli.context import (
    LibraryContext,
    require_library,
    settings_from_environment,
    with_library,
)
from bowerbird.cli.output import (
    Advance,
    Column,
    json_option,
    moment_column,
    print_listing,
    progress_bars,
)
from bowerbird.clock import month_of, system_clock
from bowerbird.connections.records import FILE as SOURCES_KEY
from bowerbird.library.upkeep.checks import Checks, Finding
from bowerbird.model.jobs import KIND_NAMES, JobResponse
from bowerbird.settings import Settings
from bowerbird.storage.accounts.accounts import AccountStore
from bowerbird.storage.backup import archives, copies
from bowerbird.storage.backup.archives import LastBackup
from bowerbird.storage.checks import file_problems
from bowerbird.storage.opening import explained
from bowerbird.storage.sqlite.database import FILE_NAME
from bowerbird.storage.upkeep.jobs import JobStore

# One kind of damage can affect thousands of posts. The first few findings show the kind.
_MAX_SHOWN: Final = 20
_RECURSION_LIMIT: Final = 3_000


@click.command()
@click.option("--fix", is_flag=True, help="Fix the differences, from the stored posts.")
@click.option("--mend", is_flag=True, hidden=True)  # The former name of --fix.
@click.option("--deep", is_flag=True, help="Check the indexed words of every post, not a sample.")
def check(*, fix: bool, mend: bool, deep: bool) -> None:
    r"""Compare counters, labels and indexes with the stored posts.

    Reports differences, and exits with 1 unless it fixed all of them. You can run it while the
    server runs.

    \b
    Example:
      bowerbird check
      bowerbird check --fix
    """
    fix = fix or mend
    # Earlier releases imported posts that were nested as deeply as their stack allowed.
    sys.setrecursionlimit(max(_RECURSION_LIMIT, sys.getrecursionlimit()))
    _require_undamaged_file()
    with progress_bars() as advance:
        report = with_library(lambda opened: _report(opened, advance, fix=fix, deep=deep))
    has_unfixed = False
    for owner, findings in report.items():
        has_unfixed |= any(not (fix and finding.is_fixable) for finding in findings)
        _print_findings(owner, findings, fix=fix)
    if not report:
        click.echo("No problems found.")
    elif not fix:
        click.echo("To fix them, run: bowerbird check --fix")
    sys.exit(1 if has_unfixed else 0)


async def _report(
    opened: LibraryContext, advance: Advance, *, fix: bool, deep: bool
) -> dict[str, list[Finding]]:
    checks = Checks(opened.database, fixes=fix, is_deep=deep)
    store = AccountStore(opened.database)
    members = await store.all()
    done, total = 0, sum(member.total for member in members)
    report = {"The library": await checks.leftovers()}

    def count(posts: int) -> None:
        nonlocal done
        done += posts
        advance("Checking posts", min(done, total), total)

    for member in members:
        account = await store.by_id(member.account_id, month_of(opened.clock()))
        if account is not None:
            report[member.email or str(member.account_id)] = await checks.account(account, count)
    return {owner: findings for owner, findings in report.items() if findings}


def _require_undamaged_file() -> None:
    settings = settings_from_environment()
    require_library(settings)
    if not settings.is_sqlite or not (settings.data_dir / FILE_NAME).exists():
        return
    with explained(settings.data_dir):
        problems = file_problems(settings.data_dir)
    for problem in problems:
        click.echo(f"{FILE_NAME}: {problem}")
    if problems:
        raise click.ClickException(
            "The database file is damaged, and check cannot repair it. "
            "To restore a backup, run: bowerbird restore FILE"
        )


def _print_findings(owner: str, findings: Sequence[Finding], *, fix: bool) -> None:
    for finding in findings[:_MAX_SHOWN]:
        difference = f"stored {finding.stored}, expected {finding.expected}."
        click.echo(f"{owner}: {finding.what}: {difference}{_outcome(finding, fix=fix)}")
    if len(findings) > _MAX_SHOWN:
        click.echo(f"{owner}: and {len(findings) - _MAX_SHOWN} more.")


def _outcome(finding: Finding, *, fix: bool) -> str:
    if not fix:
        return ""
    return " Fixed." if finding.is_fixable else " Cannot be fixed."


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--force", is_flag=True, help="Overwrite FILE if it exists.")
def backup(file: Path, *, force: bool) -> None:
    r"""Copy the library to FILE while the server runs.

    The copy is a consistent snapshot, and the command verifies it before it creates FILE. The
    copy includes files and secrets, so protect it as well as the library.

    \b
    Example:
      bowerbird backup /var/backups/bowerbird-monday.tar
    """
    settings = _sqlite_settings("pg_dump")
    require_library(settings)
    with progress_bars() as advance:
        manifest = copies.back_up(
            settings.data_dir, file, overwrite=force, clock=system_clock, advance=advance
        )
    size = sum(member.size for member in manifest.members.values())
    _remember(settings.data_dir, LastBackup(system_clock(), size))
    click.echo(
        f"Wrote and verified {file}: the database and {_files(len(manifest.members) - 1)}, "
        f"{size / 1e6:,.1f} MB."
    )
    if (settings.data_dir / SOURCES_KEY).exists():
        click.echo(
            f"The key of connected sources and webhooks, {settings.data_dir / SOURCES_KEY}, is "
            "not in it. Keep a copy in another place. Without it, people have to connect their "
            "sources again, and webhooks need new secrets."
        )


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
def restore(file: Path, *, yes: bool) -> None:
    r"""Replace the library with the backup in FILE. Stop the server first.

    The command verifies FILE completely before it changes anything, and keeps the previous
    library next to the new one. ETags that clients received before the restore become invalid.

    \b
    Example:
      bowerbird restore /var/backups/bowerbird-monday.tar
    """
    settings = _sqlite_settings("pg_restore")
    library = settings.data_dir / FILE_NAME
    # Before the question: nobody should have to confirm what cannot be done.
    made_at = copies.outline(file).made_at
    if library.exists() and not yes:
        copies.require_unused(settings.data_dir)
        folder = settings.data_dir.absolute()
        click.confirm(f"Replace the library in {folder} with the backup of {made_at}?", abort=True)
    with progress_bars() as advance:
        restored = copies.restore(settings.data_dir, file, advance)
    click.echo(f"Restored {library} as of {restored.manifest.made_at}.")
    for name in restored.migrated:
        click.echo(f"applied {name}")
    if restored.kept:
        kept = " and ".join(map(str, restored.kept))
        click.echo(f"The previous library is kept as {kept}. Delete it when you no longer need it.")


def _remember(folder: Path, backup: LastBackup) -> None:
    """Notes the time for `doctor` and the operator's page. The backup is good without it."""
    try:
        archives.remember_last(folder, backup)
    except OSError as error:
        click.echo(f"Cannot note the time of this backup in {folder}: {error.strerror}.", err=True)


def _sqlite_settings(tool: str) -> Settings:
    settings = settings_from_environment()
    if not settings.is_sqlite:
        raise click.ClickException(
            f"This library uses PostgreSQL. Use {tool} instead; see docs/postgresql.md."
        )
    return settings


def _files(count: int) -> str:
    return "1 file" if count == 1 else f"{count} files"


class _Listed(NamedTuple):
    job: JobResponse
    # The address of the account, or its id.
    account: str


_JOB_COLUMNS: Final[Sequence[Column[_Listed]]] = (
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

    print_listing(with_library(work), _JOB_COLUMNS, as_json=as_json)


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
