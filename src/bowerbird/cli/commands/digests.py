"""`digest`: creates, prints and emails an account's digest."""

import sys
from datetime import date, datetime
from typing import Final

import click

from bowerbird.cli.context import LibraryContext, with_library
from bowerbird.errors import Code, Refusal
from bowerbird.introductions import Introductions
from bowerbird.library.digests.creation import DigestCreation, DigestTopics
from bowerbird.library.digests.digests import Digests
from bowerbird.library.digests.emails import DigestEmails
from bowerbird.library.digests.responses import title_of
from bowerbird.library.vectors.semantic_search import SemanticSearch
from bowerbird.mail import Mailer
from bowerbird.model.accounts import Account
from bowerbird.model.digests import Digest, Mailing, MailState
from bowerbird.model.instants import (
    Period,
    PeriodKind,
    latest_due,
    period_containing,
    without_offset,
    zone_of,
)
from bowerbird.search.meaning.models import Models
from bowerbird.settings import PREFIX
from bowerbird.storage.upkeep.digests import DigestStore

# The calendar needs room for a week before and a year after every day.
_FIRST_YEAR: Final = 1971
_LAST_YEAR: Final = 9990


@click.command()
@click.argument("email")
@click.option(
    "--period",
    type=click.Choice([kind.value for kind in PeriodKind]),
    help="Default: the account's own setting, or weekly if its digests are off.",
)
@click.option(
    "--date",
    "day",
    type=click.DateTime(["%Y-%m-%d"]),
    help="A day of the period. Default: the latest period whose digest is due.",
)
@click.option("--send", is_flag=True, help="Email the digest to the account's address.")
def digest(email: str, period: str | None, day: datetime | None, *, send: bool) -> None:
    r"""Print an account's digest as Markdown. Create it first if it does not exist.

    A digest is emailed only once. Exits with 1 if --send could not send it.

    \b
    Example:
      bowerbird digest you@example.com
      bowerbird digest you@example.com --period daily --date 2026-07-18
      bowerbird digest you@example.com --send
    """
    kind = None if period is None else PeriodKind(period)

    async def work(opened: LibraryContext) -> tuple[str, Mailing | None]:
        if send and not Mailer(opened.settings).is_ready:
            raise Refusal(
                Code.INVALID_REQUEST, f"No mail server is configured. Set {PREFIX}SMTP_URL."
            )
        account = await opened.account(email)
        found = await _create(opened, account, kind, None if day is None else day.date())
        response = await Digests(opened.database, opened.clock, can_mail=send).get(
            account, found.digest_id, "markdown"
        )
        return str(response.markdown), await _send(opened, account, found) if send else None

    markdown, mailing = with_library(work)
    click.echo(markdown, nl=False)
    if mailing is not None:
        _print_delivery(email.strip(), mailing)


async def _create(
    opened: LibraryContext, account: Account, kind: PeriodKind | None, day: date | None
) -> Digest:
    period = await _period(opened, account, kind, day)
    models = Models(opened.settings)
    topics = DigestTopics(opened.database, SemanticSearch(opened.database, models))
    creation = DigestCreation(
        opened.database,
        opened.clock,
        introductions=Introductions(opened.settings),
        # The worker passes the same, so both create the same digest.
        topics=topics.of,
    )
    try:
        created = await creation.create(account, period)
    finally:
        await models.close()
    if created is None:
        raise Refusal(Code.NOT_FOUND, f"There is nothing to report for {title_of(period)}.")
    return created


async def _period(
    opened: LibraryContext, account: Account, kind: PeriodKind | None, day: date | None
) -> Period:
    preferences = await DigestStore(opened.database).preferences(account.account_id)
    zone, now = zone_of(preferences.time_zone), opened.clock()
    kind = kind or preferences.kind or PeriodKind.WEEKLY
    if day is None:
        return latest_due(kind, zone, preferences.hour, now)
    if not _FIRST_YEAR <= day.year <= _LAST_YEAR:
        raise Refusal(
            Code.INVALID_REQUEST,
            f"--date {day} is out of range. Its year must be {_FIRST_YEAR} to {_LAST_YEAR}.",
        )
    period = period_containing(kind, day)
    if period.end(zone) > now:
        raise Refusal(
            Code.INVALID_REQUEST, f"{title_of(period)} is not over yet in {preferences.time_zone}."
        )
    return period


async def _send(opened: LibraryContext, account: Account, found: Digest) -> Mailing:
    if found.mailing.state in (MailState.SENT, MailState.SENDING):
        when = without_offset(found.mailing.at)[:16].replace("T", " ")
        raise Refusal(
            Code.INVALID_REQUEST,
            f"This digest was emailed at {when} UTC. A digest is emailed only once.",
        )
    preferences = await DigestStore(opened.database).preferences(account.account_id)
    if not preferences.is_mailed:
        click.echo(
            "This account has turned digest emails off. Sending this one because of --send.",
            err=True,
        )
    mailer = Mailer(opened.settings)
    emails = DigestEmails(opened.database, opened.clock, mailer.send, opened.settings.site_origin)
    return await emails.send_by_hand(account.account_id, found)


def _print_delivery(email: str, mailing: Mailing) -> None:
    if mailing.state is MailState.SENT:
        click.echo(f"Emailed to {email}.", err=True)
        return
    click.echo(f"Not emailed to {email} ({mailing.state}): {mailing.reason}", err=True)
    sys.exit(1)
