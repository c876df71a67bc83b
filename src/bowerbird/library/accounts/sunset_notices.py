"""Emails every account that still calls a version that will end, at most once.

A notice is claimed in the database before its email is sent, and completed afterwards. After a
crash or a broken connection the email of a claimed notice may have been delivered. Such a notice
is reported and not sent again until the operator names it.
"""

import hashlib
from collections.abc import AsyncIterator, Collection
from enum import Enum, auto
from typing import Final

from msgspec import Struct

from bowerbird.clock import Clock, day_of
from bowerbird.errors import Code, Refusal, shown
from bowerbird.library.accounts.tokens import CALLED_DAYS
from bowerbird.mail import Email, MailDeferred, Mailer, MailOutcomeUnknown, MailRefused
from bowerbird.model.accounts import NoticeState, SunsetRecipient, VersionSunset
from bowerbird.model.words import fold
from bowerbird.settings import Settings
from bowerbird.storage.database import Database
from bowerbird.storage.stores import TimedService

# After this many failures in a row the mail server is probably down; the next run continues.
_MAX_FAILURES_IN_A_ROW: Final = 5
_TEXT: Final = """\
Hello,

Software with an API key of your account at {site} called version
{version} of the API in the last {days} days. This version ends on {sunset}
(UTC). Until then it works as before.

What changes, and how to migrate:
{note}

Your API keys:
{keys}

This email was sent to {email}. We send it only once.
"""


class NoticePlan(Struct):
    """Who gets the email, and who does not, grouped by the reason."""

    due: list[SunsetRecipient]
    notified: list[SunsetRecipient]
    # The email may have been delivered.
    unsure: list[SunsetRecipient]
    refused: list[SunsetRecipient]
    without_address: list[SunsetRecipient]


class NoticeOutcome(Enum):
    SENT = auto()
    REFUSED = auto()
    AWAY = auto()
    UNSURE = auto()
    # Another run claimed the notice first.
    TAKEN = auto()


class NoticeAttempt(Struct, frozen=True):
    caller: SunsetRecipient
    outcome: NoticeOutcome
    reason: str = ""


class SunsetNotices(TimedService):
    def __init__(self, database: Database, clock: Clock, settings: Settings) -> None:
        super().__init__(database, clock)
        self._settings = settings
        self._mailer = Mailer(settings)

    async def plan(self, version: str, again_to: Collection[str] = ()) -> NoticePlan:
        """`again_to`: addresses to try again after an unsure or refused email."""
        plan = NoticePlan([], [], [], [], [])
        again = {fold(email.strip()) for email in again_to}
        first_day = day_of(self._clock()) - CALLED_DAYS
        found = set()
        async for caller in self._stores.sunset_notices.callers(version, first_day):
            is_again = fold(caller.email or "") in again and caller.state in _RETRYABLE
            if is_again:
                found.add(fold(caller.email or ""))
            _group(plan, caller, is_again=is_again).append(caller)
        for email in again_to:
            if fold(email.strip()) not in found:
                raise Refusal(
                    Code.INVALID_REQUEST,
                    f"No refused or unconfirmed email about {version} to {shown(email)}.",
                )
        return plan

    async def send(
        self, ending: VersionSunset, due: Collection[SunsetRecipient]
    ) -> AsyncIterator[NoticeAttempt]:
        """Sends the emails one by one; stops early if the mail server seems to be down."""
        failures = 0
        for caller in due:
            attempt = await self._notify(ending, caller)
            yield attempt
            failures = failures + 1 if attempt.outcome is NoticeOutcome.AWAY else 0
            if failures == _MAX_FAILURES_IN_A_ROW:
                return

    async def _notify(self, ending: VersionSunset, caller: SunsetRecipient) -> NoticeAttempt:
        if not await self._stores.sunset_notices.claim(caller, ending.version, self._clock()):
            return NoticeAttempt(caller, NoticeOutcome.TAKEN)
        try:
            await self._mailer.send(self._email(ending, caller))
        except MailOutcomeUnknown as unsure:
            return NoticeAttempt(caller, NoticeOutcome.UNSURE, str(unsure))
        except MailDeferred as away:
            await self._stores.sunset_notices.release(caller, ending.version)
            return NoticeAttempt(caller, NoticeOutcome.AWAY, str(away))
        except MailRefused as refused:
            await self._complete(ending, caller, NoticeState.REFUSED)
            return NoticeAttempt(caller, NoticeOutcome.REFUSED, str(refused))
        await self._complete(ending, caller, NoticeState.SENT)
        return NoticeAttempt(caller, NoticeOutcome.SENT)

    async def _complete(
        self, ending: VersionSunset, caller: SunsetRecipient, state: NoticeState
    ) -> None:
        await self._stores.sunset_notices.complete(caller, ending.version, state, self._clock())

    def _email(self, ending: VersionSunset, caller: SunsetRecipient) -> Email:
        email = caller.email or ""
        # Every attempt has this id, so that mail systems recognize a duplicate.
        hash = hashlib.blake2b(f"{caller.account_id}/{ending.version}".encode(), digest_size=12)
        message_id = f"<sunset-{ending.version}-{hash.hexdigest()}@{self._mailer.domain}>"
        return Email(
            to=email,
            subject=f"Version {ending.version} of the API ends on {ending.sunset}",
            text=_TEXT.format(
                site=self._settings.site_origin,
                version=ending.version,
                days=CALLED_DAYS,
                sunset=ending.sunset,
                note=ending.note,
                keys=self._settings.register_url,
                email=email,
            ),
            headers={"Message-ID": message_id, "Auto-Submitted": "auto-generated"},
        )


_RETRYABLE: Final = (NoticeState.SENDING, NoticeState.REFUSED)


def _group(plan: NoticePlan, caller: SunsetRecipient, *, is_again: bool) -> list[SunsetRecipient]:
    if not caller.email:
        return plan.without_address
    if caller.state is None or is_again:
        return plan.due
    groups = {
        NoticeState.SENT: plan.notified,
        NoticeState.SENDING: plan.unsure,
        NoticeState.REFUSED: plan.refused,
    }
    return groups[NoticeState(caller.state)]
