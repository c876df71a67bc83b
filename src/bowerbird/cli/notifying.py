"""`notify-sunset`: tells by mail everybody who still calls a version that it ends."""

import re
import sys
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, date, datetime
from typing import Final

import click

from bowerbird.cli import tables
from bowerbird.cli.context import LibraryContext, with_library
from bowerbird.cli.progress import shown_steps
from bowerbird.library.accounts.sunset_notices import NoticeOutcome, NoticePlan, SunsetNotices, Told
from bowerbird.mail import Mailer
from bowerbird.model.instants import without_offset
from bowerbird.model.sunsets import SunsetRecipient, VersionSunset
from bowerbird.wire import deprecation
from bowerbird.wire.deprecation import DEPRECATIONS, LEAST_DAYS, Deprecation

_VERSION: Final = re.compile(r"v[0-9]{1,4}")
_NOTE: Final = re.compile(r"https?://[!-~]+")
_INTERRUPTED: Final = 130
_NOT_SENT: Final = {
    NoticeOutcome.REFUSED: "refused by the mail server",
    NoticeOutcome.AWAY: "not taken for now; the next run tries again",
    NoticeOutcome.UNSURE: "perhaps delivered; not sent again by itself",
    NoticeOutcome.TAKEN: "told by another run",
}


@click.command("notify-sunset")
@click.argument("version")
@click.option("--note", metavar="URL", help="Where the way to the next version is described.")
@click.option(
    "--sunset", type=click.DateTime(["%Y-%m-%d"]), help="The day on which the version ends (UTC)."
)
@click.option("--send", is_flag=True, help="Send. Without it nothing is sent, only shown.")
@click.option(
    "--again-to",
    metavar="EMAIL",
    multiple=True,
    help="Send to this address once more, though its letter was refused or may have arrived.",
)
def notify_sunset(
    version: str,
    note: str | None,
    sunset: datetime | None,
    *,
    send: bool,
    again_to: Sequence[str],
) -> None:
    r"""Tell every account that called VERSION in the previous 90 days that it ends.

    Shows who would be told; --send tells them. Nobody is told twice: an interrupted run is
    finished by running it again. Note and day are taken from the table of deprecations where
    it ends the version.

    \b
    Example:
      bowerbird notify-sunset v1 --note https://example.com/docs/v2 --sunset 2027-12-31
      bowerbird notify-sunset v1 --note https://example.com/docs/v2 --sunset 2027-12-31 --send
    """
    told: list[Told] = []

    async def work(opened: LibraryContext) -> NoticePlan:
        site = opened.settings.site_origin
        ending = ending_of(version, note, sunset and sunset.date(), DEPRECATIONS, site)
        if send and not Mailer(opened.settings).is_ready:
            raise click.ClickException("BOWERBIRD_SMTP_URL is empty: there is no way to send mail.")
        notices = SunsetNotices(opened.database, opened.clock, opened.settings)
        plan = await notices.plan(version, again_to)
        today = datetime.fromtimestamp(opened.clock() // 1_000_000, UTC).date()
        is_begun = bool(plan.told or plan.unsure or plan.refused)
        require_time(ending, today, DEPRECATIONS, is_begun=is_begun)
        if send:
            with shown_steps() as advance:
                async for one in notices.send(ending, plan.due):
                    told.append(one)
                    advance("Sending", len(told), len(plan.due))
        return plan

    try:
        plan = with_library(work)
    except KeyboardInterrupt:
        _report_sent(told, 0)
        click.echo("Stopped. Run it again to go on.", err=True)
        sys.exit(_INTERRUPTED)
    if send:
        _report_sent(told, len(plan.due) - len(told))
    else:
        _show(plan)
    _report_others(plan)
    is_done = all(one.outcome in (NoticeOutcome.SENT, NoticeOutcome.TAKEN) for one in told)
    sys.exit(0 if not send or (is_done and not plan.unsure) else 1)


def ending_of(
    version: str,
    note: str | None,
    sunset: date | None,
    table: Sequence[Deprecation],
    site_origin: str,
) -> VersionSunset:
    """What the letter says; the table knows it where it ends the version."""
    if not _VERSION.fullmatch(version):
        raise click.ClickException(f"{version!r} is not a version such as v1.")
    row = deprecation.of_version(table, version)
    if row is not None:
        told = row.note_address(site_origin)
        note, sunset = note or told, sunset or row.sunset
        if sunset != row.sunset:
            raise click.ClickException(f"{version} ends on {row.sunset}, clients are told.")
        if note != told:
            raise click.ClickException(f"--note: clients are told to read {told}.")
    if note is None or not _NOTE.fullmatch(note):
        raise click.ClickException("--note must be the http(s) address of the migration note.")
    if sunset is None:
        raise click.ClickException("--sunset must be the day on which the version ends.")
    return VersionSunset(version, sunset, note)


def require_time(
    ending: VersionSunset, today: date, table: Sequence[Deprecation], *, is_begun: bool = False
) -> None:
    """The table's days are checked at the server's start; a day without a row is checked here.

    Once it has begun, the rest is told too, though days have passed meanwhile.
    """
    if ending.sunset <= today:
        raise click.ClickException(f"--sunset {ending.sunset} is not in the future.")
    days = (ending.sunset - today).days
    is_checked = is_begun or deprecation.of_version(table, ending.version) is not None
    if not is_checked and days < LEAST_DAYS:
        raise click.ClickException(
            f"--sunset {ending.sunset} is {days} days off; clients are promised "
            f"at least {LEAST_DAYS}."
        )


def _show(plan: NoticePlan) -> None:
    tables.show(("Account", "E-mail"), [[str(c.account_id), c.email or ""] for c in plan.due])
    click.echo(f"{_accounts(len(plan.due))} would be told. Nothing was sent: add --send.", err=True)


def _report_sent(told: Sequence[Told], left: int) -> None:
    counts = Counter(one.outcome for one in told)
    click.echo(f"told {counts[NoticeOutcome.SENT]}")
    for outcome, words in _NOT_SENT.items():
        for one in told:
            if one.outcome is outcome:
                reason = f": {one.reason}" if one.reason else ""
                click.echo(f"{one.caller.email}\t{words}{reason}")
    if left:
        click.echo(f"The mail server seems to be down; {_accounts(left)} left untried.", err=True)


def _report_others(plan: NoticePlan) -> None:
    if plan.told:
        click.echo(f"{_accounts(len(plan.told))} had been told before.", err=True)
    for caller in plan.unsure:
        since = without_offset(caller.changed_at or 0)[:16].replace("T", " ")
        click.echo(f"{caller.email}\tperhaps told ({since} UTC); {_again(caller)}")
    for caller in plan.refused:
        click.echo(f"{caller.email}\trefused before; {_again(caller)}")
    for caller in plan.without_address:
        click.echo(f"{caller.account_id}\thas no address; tell its owner in another way")


def _again(caller: SunsetRecipient) -> str:
    return f"to send once more: --again-to {caller.email}"


def _accounts(count: int) -> str:
    return "1 account" if count == 1 else f"{count} accounts"
