"""`notify-sunset`: emails everyone who still calls an API version that it ends."""

import re
import sys
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, date, datetime
from typing import Final

import click

from bowerbird.cli.context import LibraryContext, with_library
from bowerbird.cli.output import Column, interruptible, json_option, print_listing, progress_bars
from bowerbird.library.accounts.sunset_notices import (
    NoticeAttempt,
    NoticeOutcome,
    NoticePlan,
    SunsetNotices,
)
from bowerbird.mail import Mailer
from bowerbird.model.accounts import SunsetRecipient, VersionSunset
from bowerbird.model.instants import without_offset
from bowerbird.wire import deprecation
from bowerbird.wire.deprecation import DEPRECATIONS, LEAST_DAYS, Deprecation

_VERSION: Final = re.compile(r"v[0-9]{1,4}")
_NOTE: Final = re.compile(r"https?://[!-~]+")
_COLUMNS: Final[Sequence[Column[tuple[SunsetRecipient, str]]]] = (
    Column("account", "Account", lambda row: str(row[0].account_id)),
    Column("email", "Email", lambda row: row[0].email),
    Column("state", "State", lambda row: row[1]),
)
_NOT_SENT: Final = {
    NoticeOutcome.REFUSED: "refused by the mail server",
    NoticeOutcome.AWAY: "not accepted now; the next run retries",
    NoticeOutcome.UNSURE: "may have been delivered; not sent again automatically",
    NoticeOutcome.TAKEN: "sent by a concurrent run",
}


@click.command("notify-sunset")
@click.argument("version")
@click.option("--note", metavar="URL", help="Address of the migration guide for the next version.")
@click.option("--sunset", type=click.DateTime(["%Y-%m-%d"]), help="The day the version ends (UTC).")
@click.option(
    "--send",
    is_flag=True,
    help="Send the emails. Without it, the command only lists the recipients.",
)
@click.option(
    "--resend-to",
    metavar="EMAIL",
    multiple=True,
    help="Send again to this address, whose email was refused or may have arrived.",
)
# The former name of --resend-to.
@click.option("--again-to", multiple=True, hidden=True)
@json_option
def notify_sunset(
    version: str,
    note: str | None,
    sunset: datetime | None,
    *,
    send: bool,
    resend_to: Sequence[str],
    again_to: Sequence[str],
    as_json: bool,
) -> None:
    r"""Email the accounts that still call VERSION about its end.

    The recipients are the accounts that called VERSION in the last 90 days. Without --send, the
    command only lists them. Nobody gets the email twice: if a run is interrupted, run it again
    to finish. If the deprecation table ends VERSION, the defaults of --note and --sunset come
    from there.

    \b
    Example:
      bowerbird notify-sunset v1 --note https://example.com/docs/v2 --sunset 2027-12-31
      bowerbird notify-sunset v1 --note https://example.com/docs/v2 --sunset 2027-12-31 --send
    """
    if send and as_json:
        raise click.UsageError("--json lists the recipients; it cannot be used with --send.")
    attempts: list[NoticeAttempt] = []

    async def work(opened: LibraryContext) -> NoticePlan:
        site = opened.settings.site_origin
        ending = ending_of(version, note, sunset and sunset.date(), DEPRECATIONS, site)
        if send and not Mailer(opened.settings).is_ready:
            raise click.ClickException("No mail server is configured. Set BOWERBIRD_SMTP_URL.")
        notices = SunsetNotices(opened.database, opened.clock, opened.settings)
        plan = await notices.plan(version, [*resend_to, *again_to])
        today = datetime.fromtimestamp(opened.clock() // 1_000_000, UTC).date()
        has_started = bool(plan.notified or plan.unsure or plan.refused)
        require_enough_notice(ending, today, DEPRECATIONS, has_started=has_started)
        if send:
            with progress_bars() as advance:
                async for attempt in notices.send(ending, plan.due):
                    attempts.append(attempt)
                    advance("Sending", len(attempts), len(plan.due))
        return plan

    sentence = ". To continue, run the command again."
    with interruptible(sentence, lambda: _print_attempts(attempts, 0)):
        plan = with_library(work)
    if send:
        _print_attempts(attempts, len(plan.due) - len(attempts))
        _print_skipped(plan)
    else:
        _print_plan(plan, as_json=as_json)
    is_done = all(each.outcome in (NoticeOutcome.SENT, NoticeOutcome.TAKEN) for each in attempts)
    sys.exit(0 if not send or (is_done and not plan.unsure) else 1)


def ending_of(
    version: str,
    note: str | None,
    sunset: date | None,
    table: Sequence[Deprecation],
    site_origin: str,
) -> VersionSunset:
    """The version, day and note of the email; the table wins where it ends the version."""
    if not _VERSION.fullmatch(version):
        raise click.ClickException(f"{version!r} is not a version. Write it like v1.")
    row = deprecation.of_version(table, version)
    if row is not None:
        published_note = row.note_address(site_origin)
        note, sunset = note or published_note, sunset or row.sunset
        if sunset != row.sunset:
            raise click.ClickException(
                f"--sunset {sunset} contradicts the API, which announces {row.sunset}."
            )
        if note != published_note:
            raise click.ClickException(
                f"--note {note} contradicts the API, which announces {published_note}."
            )
    if note is None or not _NOTE.fullmatch(note):
        raise click.ClickException(
            "--note is required: the http(s) address of the migration guide."
        )
    if sunset is None:
        raise click.ClickException("--sunset is required: the day the version ends.")
    return VersionSunset(version, sunset, note)


def require_enough_notice(
    ending: VersionSunset, today: date, table: Sequence[Deprecation], *, has_started: bool = False
) -> None:
    """Checks a day that is not in the table; the server checks the table when it starts.

    A later run has fewer days left, so only the first run must keep the minimum.
    """
    if ending.sunset <= today:
        raise click.ClickException(f"--sunset {ending.sunset} is not in the future.")
    days = (ending.sunset - today).days
    is_checked = has_started or deprecation.of_version(table, ending.version) is not None
    if not is_checked and days < LEAST_DAYS:
        raise click.ClickException(
            f"--sunset {ending.sunset} is in {days} days. Clients must get at least "
            f"{LEAST_DAYS} days' notice."
        )


def _print_plan(plan: NoticePlan, *, as_json: bool) -> None:
    """With `as_json`, everybody who called the version and has not got the email."""
    if not as_json:
        _print_recipients(plan)
        _print_skipped(plan)
        return
    groups = {
        "due": plan.due,
        "unsure": plan.unsure,
        "refused": plan.refused,
        "without address": plan.without_address,
    }
    rows = [(one, state) for state, recipients in groups.items() for one in recipients]
    print_listing(rows, _COLUMNS, as_json=True)


def _print_recipients(plan: NoticePlan) -> None:
    print_listing([(recipient, "due") for recipient in plan.due], _COLUMNS[:2], as_json=False)
    click.echo(
        f"Would email {_accounts(len(plan.due))}. Nothing was sent; to send, add --send.", err=True
    )


def _print_attempts(attempts: Sequence[NoticeAttempt], untried: int) -> None:
    counts = Counter(each.outcome for each in attempts)
    click.echo(f"sent {counts[NoticeOutcome.SENT]}")
    for outcome, words in _NOT_SENT.items():
        for each in attempts:
            if each.outcome is outcome:
                reason = f": {each.reason}" if each.reason else ""
                click.echo(f"{each.caller.email}\t{words}{reason}")
    if untried:
        click.echo(f"The mail server seems to be down. Did not try {_accounts(untried)}.", err=True)


def _print_skipped(plan: NoticePlan) -> None:
    if plan.notified:
        click.echo(f"An earlier run emailed {_accounts(len(plan.notified))}.", err=True)
    for recipient in plan.unsure:
        since = without_offset(recipient.changed_at or 0)[:16].replace("T", " ")
        words = f"may have been delivered ({since} UTC)"
        click.echo(f"{recipient.email}\t{words}; {_how_to_resend(recipient)}")
    for recipient in plan.refused:
        words = "refused by the mail server in an earlier run"
        click.echo(f"{recipient.email}\t{words}; {_how_to_resend(recipient)}")
    for recipient in plan.without_address:
        click.echo(f"{recipient.account_id}\thas no email address; contact its owner another way")


def _how_to_resend(recipient: SunsetRecipient) -> str:
    return f"to send again: --resend-to {recipient.email}"


def _accounts(count: int) -> str:
    return "1 account" if count == 1 else f"{count} accounts"
