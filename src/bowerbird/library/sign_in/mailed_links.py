"""Sign-in links by email: for browsers without scripts, and for people without their passkey.

Anybody may ask for any address. So the link is made and sent after the page has answered, and
neither its text nor its time says whether the address has an account.
"""

import asyncio
from typing import Final

import structlog

from bowerbird.clock import MICROSECONDS, Clock
from bowerbird.errors import Code, Refusal, unavailable
from bowerbird.library.access.attempt_limits import AttemptLimits
from bowerbird.library.accounts.accounts import Accounts, checked_email
from bowerbird.library.sign_in.one_time_links import MINUTES, OneTimeLinks
from bowerbird.mail import Email, MailDeferred, Mailer, MailOutcomeUnknown, MailRefused
from bowerbird.settings import Settings
from bowerbird.storage.accounts.accounts import AccountStore
from bowerbird.storage.database import Database

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


class MailedLinks:
    def __init__(
        self,
        database: Database,
        links: OneTimeLinks,
        accounts: Accounts,
        clock: Clock,
        settings: Settings,
    ) -> None:
        self._links = links
        self._accounts = accounts
        self._people = AccountStore(database)
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
        member = await self._people.membership(account_id)
        if member is None:
            return
        site = self._settings.site_origin
        link = self._settings.link_url(token)
        message = Email(
            # As it is stored. Other spellings that are found too may be somebody else's mailbox.
            to=member.email,
            subject="Your sign-in link",
            text=_TEXT.format(site=site, link=link, minutes=MINUTES),
            headers={"Auto-Submitted": "auto-generated"},
        )
        try:
            await self._mailer.send(message)
        except MailOutcomeUnknown:
            # It may have arrived, so the link stays.
            return
        except (MailDeferred, MailRefused):
            await self._links.withdraw(token)
            raise
