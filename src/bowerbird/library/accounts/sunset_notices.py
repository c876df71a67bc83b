"""Tells every account that still calls a version that it ends; nobody is told twice.

A notice is claimed in the database before its letter leaves and settled after. What a crash or a
broken connection leaves claimed may have been delivered: it is reported, not sent again, until
the operator names it.
"""

import hashlib
from collections.abc import AsyncIterator, Collection
from enum import Enum, auto
from typing import Final

from msgspec import Struct

from bowerbird.clock import Clock, day_of
from bowerbird.errors import Code, Refusal, shown
from bowerbird.mail import Email, MailAway, Mailer, MailRefused, MailUnsure
from bowerbird.model.folding import fold
from bowerbird.model.sunsets import NoticeState, SunsetRecipient, VersionSunset
from bowerbird.settings import Settings
from bowerbird.storage.accounts.sunset_notices import SunsetNoticeStore
from bowerbird.storage.database import Database

CALLED_DAYS: Final = 90
# A server that is down stays down for a while; the rest waits for the next run.
_AWAY_IN_A_ROW: Final = 5
_TEXT: Final = """\
Hello,

software that uses an API key of your account at {site} has called version
{version} of the API within the last {days} days. This version ends on {sunset}
(UTC). Until then it works as it did.

What changes, and how to move over:
{note}

Your API keys:
{keys}

This letter went to {email} and is sent once.
"""


class NoticePlan(Struct):
    """Who is to be told, and who is not, each for one reason."""

    due: list[SunsetRecipient]
    told: list[SunsetRecipient]
    # May have been delivered, or not.
    unsure: list[SunsetRecipient]
    refused: list[SunsetRecipient]
    without_address: list[SunsetRecipient]


class NoticeOutcome(Enum):
    SENT = auto()
    REFUSED = auto()
    AWAY = auto()
    UNSURE = auto()
    # Another run has claimed it meanwhile.
    TAKEN = auto()


class Told(Struct, frozen=True):
    caller: SunsetRecipient
    outcome: NoticeOutcome
    reason: str = ""


class SunsetNotices:
    def __init__(self, database: Database, clock: Clock, settings: Settings) -> None:
        self._store = SunsetNoticeStore(database)
        self._clock = clock
        self._settings = settings
        self._mailer = Mailer(settings)

    async def plan(self, version: str, again_to: Collection[str] = ()) -> NoticePlan:
        """`again_to` are addresses whose letter is unsure or was refused, and shall be tried."""
        plan = NoticePlan([], [], [], [], [])
        again = {fold(email.strip()) for email in again_to}
        first_day = day_of(self._clock()) - CALLED_DAYS
        found = set()
        async for caller in self._store.callers(version, first_day):
            is_again = fold(caller.email or "") in again and caller.state in _MAY_BE_TRIED
            if is_again:
                found.add(fold(caller.email or ""))
            _group(plan, caller, is_again=is_again).append(caller)
        for email in again_to:
            if fold(email.strip()) not in found:
                raise Refusal(
                    Code.INVALID_REQUEST,
                    f"{shown(email)} has no letter about {version} that is unsure or was refused.",
                )
        return plan

    async def send(
        self, ending: VersionSunset, due: Collection[SunsetRecipient]
    ) -> AsyncIterator[Told]:
        """Tells one after the other; ends early when the mail server seems to be down."""
        away = 0
        for caller in due:
            told = await self._tell(ending, caller)
            yield told
            away = away + 1 if told.outcome is NoticeOutcome.AWAY else 0
            if away == _AWAY_IN_A_ROW:
                return

    async def _tell(self, ending: VersionSunset, caller: SunsetRecipient) -> Told:
        if not await self._store.claim(caller, ending.version, self._clock()):
            return Told(caller, NoticeOutcome.TAKEN)
        try:
            await self._mailer.send(self._letter(ending, caller))
        except MailUnsure as unsure:
            return Told(caller, NoticeOutcome.UNSURE, str(unsure))
        except MailAway as away:
            await self._store.give_back(caller, ending.version)
            return Told(caller, NoticeOutcome.AWAY, str(away))
        except MailRefused as refused:
            await self._settle(ending, caller, NoticeState.REFUSED)
            return Told(caller, NoticeOutcome.REFUSED, str(refused))
        await self._settle(ending, caller, NoticeState.SENT)
        return Told(caller, NoticeOutcome.SENT)

    async def _settle(
        self, ending: VersionSunset, caller: SunsetRecipient, state: NoticeState
    ) -> None:
        await self._store.settle(caller, ending.version, state, self._clock())

    def _letter(self, ending: VersionSunset, caller: SunsetRecipient) -> Email:
        email = caller.email or ""
        # The same whenever it is sent: a mail system may know a second one by it.
        mark = hashlib.blake2b(f"{caller.account_id}/{ending.version}".encode(), digest_size=12)
        name = f"<sunset-{ending.version}-{mark.hexdigest()}@{self._mailer.domain}>"
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
            headers={"Message-ID": name, "Auto-Submitted": "auto-generated"},
        )


_MAY_BE_TRIED: Final = (NoticeState.SENDING, NoticeState.REFUSED)


def _group(plan: NoticePlan, caller: SunsetRecipient, *, is_again: bool) -> list[SunsetRecipient]:
    if not caller.email:
        return plan.without_address
    if caller.state is None or is_again:
        return plan.due
    groups = {
        NoticeState.SENT: plan.told,
        NoticeState.SENDING: plan.unsure,
        NoticeState.REFUSED: plan.refused,
    }
    return groups[NoticeState(caller.state)]
