"""`check`: compares derived data with the stored posts, and fixes differences."""

import sys
from collections.abc import Sequence
from typing import Final

import click

from bowerbird.cli.context import (
    LibraryContext,
    require_library,
    settings_from_environment,
    with_library,
)
from bowerbird.cli.output import Advance, progress_bars
from bowerbird.clock import month_of
from bowerbird.library.upkeep.checks import Checks
from bowerbird.library.upkeep.comparisons import Finding
from bowerbird.storage.accounts.accounts import AccountStore
from bowerbird.storage.checks import file_problems
from bowerbird.storage.opening import explained
from bowerbird.storage.sqlite.database import FILE_NAME

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
