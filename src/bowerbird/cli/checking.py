"""`check`: says where a library differs from itself, and fixes it."""

import sys
from collections.abc import Sequence
from typing import Final

import click

from bowerbird.cli.context import LibraryContext, settings_from_environment, with_library
from bowerbird.cli.progress import Advance, shown_steps
from bowerbird.clock import month_of
from bowerbird.library.upkeep.checks import Checks
from bowerbird.library.upkeep.comparisons import Finding
from bowerbird.storage.accounts.accounts import AccountStore
from bowerbird.storage.checks import file_problems
from bowerbird.storage.opening import explained
from bowerbird.storage.sqlite.database import FILE_NAME

# Damage of one kind comes in thousands; the first few tell of what kind it is.
_SHOWN: Final = 20


@click.command()
@click.option("--mend", is_flag=True, help="Mend what differs.")
@click.option("--deep", is_flag=True, help="Compare the words of every post, not of a sample.")
def check(*, mend: bool, deep: bool) -> None:
    r"""Recount counters, labels and indexes; say what differs, and mend it with --mend.

    Works while the server runs. Exits with 1 when something differs and was not mended.

    \b
    Example:
      bowerbird check
      bowerbird check --mend
    """
    _require_whole_file()
    with shown_steps() as advance:
        report = with_library(lambda opened: _report(opened, advance, mend=mend, deep=deep))
    is_bad = False
    for owner, findings in report.items():
        is_bad = is_bad or any(not (mend and finding.is_fixable) for finding in findings)
        _tell(owner, findings, mend=mend)
    if not report:
        click.echo("Everything is as it must be.")
    elif is_bad and not mend:
        click.echo("Mend it with: bowerbird check --mend")
    sys.exit(1 if is_bad else 0)


async def _report(
    opened: LibraryContext, advance: Advance, *, mend: bool, deep: bool
) -> dict[str, list[Finding]]:
    checks = Checks(opened.database, fixes=mend, is_deep=deep)
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
            report[member.email] = await checks.account(account, count)
    return {owner: findings for owner, findings in report.items() if findings}


def _require_whole_file() -> None:
    settings = settings_from_environment()
    if not settings.is_sqlite or not (settings.data_dir / FILE_NAME).exists():
        return
    with explained(settings.data_dir):
        problems = file_problems(settings.data_dir)
    for problem in problems:
        click.echo(f"{FILE_NAME}: {problem}")
    if problems:
        raise click.ClickException(
            "The file itself is damaged, which check cannot mend. Restore a backup with: "
            "bowerbird restore FILE"
        )


def _tell(owner: str, findings: Sequence[Finding], *, mend: bool) -> None:
    for finding in findings[:_SHOWN]:
        ending = _ending(finding, mend=mend)
        click.echo(
            f"{owner}: {finding.what}: stored {finding.stored}, must be {finding.expected}{ending}"
        )
    if len(findings) > _SHOWN:
        click.echo(f"{owner}: and {len(findings) - _SHOWN} more.")


def _ending(finding: Finding, *, mend: bool) -> str:
    if not mend:
        return "."
    return ". Mended." if finding.is_fixable else ". Cannot be mended."
