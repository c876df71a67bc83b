"""`digest`: makes, prints and mails an account's digest."""

import sys
from datetime import date, datetime
from typing import Final

import click

from bowerbird.cli.context import LibraryContext, with_library
from bowerbird.errors import Code, Refusal
from bowerbird.introductions import Introductions
from bowerbird.library.accounts.accounts import Accounts
from bowerbird.library.digests.creation import DigestCreation
from bowerbird.library.digests.digest_topics import DigestTopics
from bowerbird.library.digests.digests import Digests
from bowerbird.library.digests.emails import DigestEmails
from bowerbird.library.digests.responses import title_of
from bowerbird.library.vectors.semantic_search import SemanticSearch
from bowerbird.mail import Mailer
from bowerbird.model.accounts import Account
from bowerbird.model.digests import Digest, Mailing, MailState
from bowerbird.model.instants import without_offset
from bowerbird.model.periods import Period, PeriodKind, latest_due, period_containing, zone_of
from bowerbird.search.models import Models
from bowerbird.settings import PREFIX
from bowerbird.storage.digests.digests import DigestStore

# Within them a calendar has a week before and a year after every day.
_FIRST_YEAR: Final = 1971
_LAST_YEAR: Final = 9990


@click.command()
@click.argument("email")
@click.option(
    "--period",
    type=click.Choice([kind.value for kind in PeriodKind]),
    help="A day or a week; without it, as the account wants it (a week if it wants none).",
)
@click.option(
    "--date",
    "day",
    type=click.DateTime(["%Y-%m-%d"]),
    help="Of the period with this day; without it, of the latest whose digest is due.",
)
@click.option("--send", is_flag=True, help="Mail it to the account's address.")
def digest(email: str, period: str | None, day: datetime | None, *, send: bool) -> None:
    r"""Print an account's digest as Markdown; it is made if that was not done yet.

    Sent once, a digest is not sent again. Exits with 1 when --send could not send it.

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
                Code.INVALID_REQUEST, f"No mail server is set. Set {PREFIX}SMTP_URL to send mail."
            )
        account = await Accounts(opened.database, opened.clock).find(email)
        found = await _made(opened, account, kind, None if day is None else day.date())
        shown = await Digests(opened.database, opened.clock, can_mail=send).get(
            account, found.digest_id, "markdown"
        )
        return str(shown.markdown), await _sent(opened, account, found) if send else None

    markdown, mailing = with_library(work)
    click.echo(markdown, nl=False)
    if mailing is not None:
        _tell(email.strip(), mailing)


async def _made(
    opened: LibraryContext, account: Account, kind: PeriodKind | None, day: date | None
) -> Digest:
    period = await _period(opened, account, kind, day)
    models = Models(opened.settings)
    topics = DigestTopics(opened.database, SemanticSearch(opened.database, models))
    making = DigestCreation(
        opened.database,
        opened.clock,
        introductions=Introductions(opened.settings),
        # As the worker chooses: whoever makes it, it is the same digest.
        topics=topics.of,
    )
    try:
        made = await making.make(account, period)
    finally:
        await models.close()
    if made is None:
        raise Refusal(Code.NOT_FOUND, f"There is nothing to tell of {title_of(period)}.")
    return made


async def _period(
    opened: LibraryContext, account: Account, kind: PeriodKind | None, day: date | None
) -> Period:
    wanted = await DigestStore(opened.database).preferences(account.account_id)
    zone, now = zone_of(wanted.time_zone), opened.clock()
    kind = kind or wanted.kind or PeriodKind.WEEKLY
    if day is None:
        return latest_due(kind, zone, wanted.hour, now)
    if not _FIRST_YEAR <= day.year <= _LAST_YEAR:
        raise Refusal(
            Code.INVALID_REQUEST,
            f"--date {day} is out of range: it must be of the years {_FIRST_YEAR} to {_LAST_YEAR}.",
        )
    period = period_containing(kind, day)
    if period.end(zone) > now:
        raise Refusal(
            Code.INVALID_REQUEST, f"{title_of(period)} is not over yet in {wanted.time_zone}."
        )
    return period


async def _sent(opened: LibraryContext, account: Account, found: Digest) -> Mailing:
    if found.mailing.state in (MailState.SENT, MailState.SENDING):
        when = without_offset(found.mailing.at)[:16].replace("T", " ")
        raise Refusal(
            Code.INVALID_REQUEST, f"That digest was mailed at {when} UTC; it is not sent again."
        )
    wanted = await DigestStore(opened.database).preferences(account.account_id)
    if not wanted.is_mailed:
        click.echo("This account takes no letters; this one goes because you ask for it.", err=True)
    mailer = Mailer(opened.settings)
    mail = DigestEmails(opened.database, opened.clock, mailer.send, opened.settings.site_origin)
    return await mail.send_by_hand(account.account_id, found)


def _tell(email: str, mailing: Mailing) -> None:
    if mailing.state is MailState.SENT:
        click.echo(f"Mailed to {email}.", err=True)
        return
    click.echo(f"Not mailed to {email} ({mailing.state}): {mailing.reason}", err=True)
    sys.exit(1)
