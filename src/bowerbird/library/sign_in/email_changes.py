"""Changes the email address of an account, after a link that was sent to the new one is opened.

Nobody learns whether another account has an address: the link is sent in any case, and only the
reader of that mailbox is told.
"""

import secrets
from typing import Final

from bowerbird.clock import MICROSECONDS, Clock, day_of, seconds_left_of_day
from bowerbird.errors import Code, Refusal, unavailable
from bowerbird.library.access.turns import lock_library
from bowerbird.library.accounts.accounts import Accounts, EmailRefused, checked_email
from bowerbird.library.sign_in.one_time_links import link_refused
from bowerbird.mail import Email, MailDeferred, Mailer, MailOutcomeUnknown, MailRefused
from bowerbird.model.accounts import LinkKind, OneTimeLink, SignedIn
from bowerbird.model.keys import is_link_token, new_link_token, token_hash
from bowerbird.model.words import fold
from bowerbird.settings import Settings
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.libraries import EMAIL_LINKS, DailyUseStore, LibraryStore
from bowerbird.storage.sign_in.one_time_links import OneTimeLinkStore

# Of the page that confirms an address.
PATH: Final = "/link/email"
HOURS: Final = 24
# Each sends an email, so they are few.
OPEN_MAX: Final = 5
# Also of links that were used since, or that the mail server refused.
PER_DAY: Final = 10
_TEXT: Final = """\
Hello,

Somebody, probably you, wants to use this address for their account at
{site}.

To confirm it, sign in there and open this link:
{link}

The link works once, for {hours} hours. If it was not you, ignore this email.
"""


class EmailChanges:
    def __init__(
        self, database: Database, accounts: Accounts, clock: Clock, settings: Settings
    ) -> None:
        self._database = database
        self._accounts = accounts
        self._store = OneTimeLinkStore(database)
        self._libraries = LibraryStore(database)
        self._daily = DailyUseStore(database, EMAIL_LINKS)
        self._clock = clock
        self._settings = settings
        self._mailer = Mailer(settings)

    @property
    def can_mail(self) -> bool:
        return self._mailer.is_ready

    async def ask(self, visitor: SignedIn, email: str) -> None:
        """Sends a link to the new address."""
        email = checked_email(email)
        if fold(email) == fold(visitor.email):
            raise EmailRefused(Code.INVALID_REQUEST, "This is your address already.")
        account_id = visitor.account.account_id
        now, token = self._clock(), new_link_token()
        expires_at = now + HOURS * 3_600 * MICROSECONDS
        link = OneTimeLink(secrets.token_hex(4), LinkKind.EMAIL, account_id, email, now, expires_at)

        async def work(transaction: Transaction) -> None:
            await lock_library(self._libraries, transaction, account_id)
            used = await self._daily.add(transaction, account_id, day_of(now), uses=1)
            if used.uses > PER_DAY:
                raise Refusal(
                    Code.RATE_LIMITED,
                    f"You have asked for {PER_DAY} links today (UTC), the maximum. Retry tomorrow.",
                    {"Retry-After": str(seconds_left_of_day(now))},
                )
            if not await self._store.insert(transaction, token_hash(token), link, OPEN_MAX):
                raise Refusal(
                    Code.RATE_LIMITED,
                    f"{OPEN_MAX} links were sent already. Open one of them, or wait until they "
                    f"expire after {HOURS} hours.",
                )

        await self._database.write(work, account_id)
        await self._send(link, token)

    async def confirm(self, visitor: SignedIn, token: str) -> str:
        """Changes the address to the one that the link was sent to; returns it."""
        if not is_link_token(token):
            raise link_refused()
        account_id = visitor.account.account_id

        async def work(transaction: Transaction) -> str:
            now, link_hash = self._clock(), token_hash(token)
            link = await self._store.open_link(transaction, link_hash, now)
            is_own = link is not None and link.account_id == account_id
            if link is None or not is_own or link.kind is not LinkKind.EMAIL:
                raise link_refused()
            await self._accounts.set_email_within(transaction, account_id, link.detail)
            # Also the others, so that none of them changes the address back.
            await self._store.withdraw_all(transaction, account_id, LinkKind.EMAIL)
            return link.detail

        return await self._database.write(work, account_id)

    async def change(self, visitor: SignedIn, email: str) -> None:
        """Without a mail server: the owner, who has the command line, needs no confirmation."""
        if self.can_mail or not visitor.is_owner:
            raise Refusal(
                Code.INVALID_REQUEST,
                "No mail server is configured. Ask the operator to change your address.",
            )
        account_id = visitor.account.account_id

        async def work(transaction: Transaction) -> None:
            await self._accounts.set_email_within(transaction, account_id, email)

        await self._database.write(work, account_id)

    async def _send(self, link: OneTimeLink, token: str) -> None:
        site = self._settings.site_origin
        text = _TEXT.format(site=site, link=f"{site}{PATH}#{token}", hours=HOURS)
        email = Email(
            to=link.detail,
            subject="Confirm your email address",
            text=text,
            headers={"Auto-Submitted": "auto-generated"},
        )
        try:
            await self._mailer.send(email)
        except MailOutcomeUnknown:
            # It may have arrived, so the link stays.
            return
        except (MailDeferred, MailRefused) as failed:
            await self._withdraw(link)
            if isinstance(failed, MailDeferred):
                raise unavailable("The mail server does not accept emails now.") from failed
            raise EmailRefused(
                Code.INVALID_REQUEST, "The mail server refused this address."
            ) from failed

    async def _withdraw(self, link: OneTimeLink) -> None:
        async def work(transaction: Transaction) -> None:
            await self._store.withdraw(transaction, link.account_id, link.kind, link.link_id)

        await self._database.write(work)
