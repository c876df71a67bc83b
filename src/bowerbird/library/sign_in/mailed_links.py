"""Links by email: to sign in, and to confirm a new address of an account.

Anybody may ask for a sign-in link to any address. So it is made and sent after the page has
answered, and neither its text nor its time says whether the address has an account. A link that
confirms an address is sent in any case: only the reader of that mailbox learns whether another
account has it.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

import structlog

from bowerbird.clock import MICROSECONDS, Clock, day_of
from bowerbird.errors import Code, Refusal, unavailable
from bowerbird.library.access.call_allowance import AttemptLimits, used_up
from bowerbird.library.accounts.accounts import Accounts, EmailRefused, checked_email
from bowerbird.library.sign_in.one_time_links import MINUTES, OneTimeLinks, link_refused
from bowerbird.mail import Email, MailDeferred, Mailer, MailOutcomeUnknown, MailRefused
from bowerbird.model.accounts import LinkKind, OneTimeLink, SignedIn
from bowerbird.model.keys import is_link_token, new_link_token, token_hash
from bowerbird.model.words import fold
from bowerbird.settings import Settings
from bowerbird.storage.database import Database, Writable
from bowerbird.storage.libraries import EMAIL_LINKS, DailyUseStore, LockedLibrary
from bowerbird.storage.stores import Service, TimedService

# A network address may ask so often at once, and again every minute.
ASKED_MAX: Final = 5
_REFILL: Final = 60 * MICROSECONDS
# Emails that are being sent, or wait for it.
WAITING_MAX: Final = 100
_TEXT: Final = """\
Hello,

Somebody, probably you, asked to sign in to your account at
{site}.

To sign in, open this link and press the button:
{link}

The link works once, for {minutes} minutes. If it was not you, ignore this email.
"""


async def send_link(
    mailer: Mailer, to: str, subject: str, text: str, withdraw: Callable[[], Awaitable[None]]
) -> None:
    """Withdraws the link if it is certain that the email was not accepted."""
    headers = {"Auto-Submitted": "auto-generated"}
    try:
        await mailer.send(Email(to=to, subject=subject, text=text, headers=headers))
    except MailOutcomeUnknown:
        # It may have arrived, so the link stays.
        return
    except (MailDeferred, MailRefused):
        await withdraw()
        raise


class MailedLinks(Service):
    def __init__(
        self,
        database: Database,
        links: OneTimeLinks,
        accounts: Accounts,
        clock: Clock,
        settings: Settings,
    ) -> None:
        super().__init__(database)
        self._links = links
        self._accounts = accounts
        self._limits = AttemptLimits(clock, ASKED_MAX, _REFILL)
        self._settings = settings
        self._mailer = Mailer(settings)
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def is_offered(self) -> bool:
        return self._settings.email_sign_in == "on" and self._mailer.is_ready

    def ask(self, email: str, network: str) -> None:
        """Sends a link to the address if an account has it. Does not wait for that."""
        if not self.is_offered:
            raise Refusal(Code.NOT_FOUND, "This service sends no sign-in links.")
        email = checked_email(email)
        self._limits.count(network)
        if len(self._tasks) >= WAITING_MAX:
            raise unavailable("Too many links are being sent now.")
        task = asyncio.create_task(self._deliver(email))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self, grace_s: float = 5.0) -> None:
        """Gives what was asked for time to be sent, and stops the rest."""
        if self._tasks:
            _, late = await asyncio.wait(tuple(self._tasks), timeout=grace_s)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    async def _deliver(self, email: str) -> None:
        log = structlog.get_logger()
        try:
            await self._send(email)
        except (Refusal, MailDeferred, MailRefused) as failed:
            log.warning("sign-in link not sent", reason=str(failed))
        except Exception:
            log.exception("sign-in link not sent")

    async def _send(self, email: str) -> None:
        account_id = await self._accounts.id_with_address(email)
        if account_id is None:
            return
        token = await self._links.create_to_mail(account_id)
        # Read afterwards: a change of the address ends the links that exist.
        member = await self._stores.accounts.membership(account_id)
        if member is None:
            return
        text = _TEXT.format(
            site=self._settings.site_origin, link=self._settings.link_url(token), minutes=MINUTES
        )
        # As it is stored. Other spellings that are found too may be somebody else's mailbox.
        await send_link(
            self._mailer,
            member.email,
            "Your sign-in link",
            text,
            withdraw=lambda: self._links.withdraw(token),
        )


# Of the page that confirms an address.
PATH: Final = "/link/email"
HOURS: Final = 24
# Each sends an email, so they are few.
OPEN_MAX: Final = 5
# Also of links that were used since, or that the mail server refused.
PER_DAY: Final = 10
_CHANGE_TEXT: Final = """\
Hello,

Somebody, probably you, wants to use this address for their account at
{site}.

To confirm it, sign in there and open this link:
{link}

The link works once, for {hours} hours. If it was not you, ignore this email.
"""


class EmailChanges(TimedService):
    def __init__(
        self, database: Database, accounts: Accounts, clock: Clock, settings: Settings
    ) -> None:
        super().__init__(database, clock)
        self._accounts = accounts
        self._daily = DailyUseStore(database, EMAIL_LINKS)
        self._settings = settings
        self._mailer = Mailer(settings)

    @property
    def can_mail(self) -> bool:
        return self._mailer.is_ready

    async def ask(self, visitor: SignedIn, email: str) -> None:
        email = checked_email(email)
        if fold(email) == fold(visitor.email):
            raise EmailRefused(Code.INVALID_REQUEST, "This is your address already.")
        account_id = visitor.account.account_id
        now, token = self._clock(), new_link_token()

        async def work(library: LockedLibrary) -> OneTimeLink:
            used = await self._daily.add(library, day_of(now), uses=1)
            if used.uses > PER_DAY:
                raise used_up(f"You have asked for {PER_DAY} links", now)
            link = await self._stores.one_time_links.create(
                *(library.transaction, token_hash(token), LinkKind.EMAIL, account_id, email),
                now=now,
                lives=HOURS * 3_600 * MICROSECONDS,
                most=OPEN_MAX,
            )
            if link is None:
                raise Refusal(
                    Code.RATE_LIMITED,
                    f"{OPEN_MAX} links were sent already. Open one of them, or wait until they "
                    f"expire after {HOURS} hours.",
                )
            return link

        await self._send(await self._locked(account_id, work), token)

    async def confirm(self, visitor: SignedIn, token: str) -> str:
        """Changes the address to the one that the link was sent to; returns it."""
        if not is_link_token(token):
            raise link_refused()
        account_id = visitor.account.account_id

        async def work(library: Writable) -> str:
            now, link_hash = self._clock(), token_hash(token)
            link = await self._stores.one_time_links.redeem(
                library.transaction, link_hash, now, LinkKind.EMAIL
            )
            if link is None or link.account_id != account_id:
                raise link_refused()
            await self._accounts.set_email_within(library, link.detail)
            # Also the others, so that none of them changes the address back.
            await self._stores.one_time_links.withdraw_all(library, LinkKind.EMAIL)
            return link.detail

        return await self._transact(account_id, work)

    async def change(self, visitor: SignedIn, email: str) -> None:
        """Without a mail server: the owner, who has the command line, needs no confirmation."""
        if self.can_mail or not visitor.is_owner:
            raise Refusal(
                Code.INVALID_REQUEST,
                "No mail server is configured. Ask the operator to change your address.",
            )
        account_id = visitor.account.account_id

        await self._transact(
            account_id, lambda library: self._accounts.set_email_within(library, email)
        )

    async def _send(self, link: OneTimeLink, token: str) -> None:
        site = self._settings.site_origin
        text = _CHANGE_TEXT.format(site=site, link=f"{site}{PATH}#{token}", hours=HOURS)
        try:
            await send_link(
                self._mailer,
                link.detail,
                "Confirm your email address",
                text,
                withdraw=lambda: self._withdraw(link),
            )
        except MailDeferred as failed:
            raise unavailable("The mail server does not accept emails now.") from failed
        except MailRefused as failed:
            raise EmailRefused(
                Code.INVALID_REQUEST, "The mail server refused this address."
            ) from failed

    async def _withdraw(self, link: OneTimeLink) -> None:
        await self._transact(
            link.account_id,
            lambda library: self._stores.one_time_links.withdraw(library, link.kind, link.link_id),
            is_service=True,
        )
