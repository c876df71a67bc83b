"""Sends digests by email, each at most once.

A worker claims an email before it hands it to the mail server. If the worker stops in between,
it is unknown whether the email was sent. Its state then becomes unclear and it is not sent again:
a missing email is better than a duplicate. An email that the mail server did not accept is
retried with growing delays for about a day.
"""

import hashlib
import secrets
from collections.abc import Awaitable, Callable
from typing import Final
from urllib.parse import urlsplit

import msgspec
import structlog

from bowerbird.clock import MICROSECONDS, Clock, month_of
from bowerbird.library.digests import creation, wording
from bowerbird.library.digests.digests import unsubscribe_token
from bowerbird.library.digests.responses import DigestResponse, to_response
from bowerbird.mail import Email, MailDeferred, MailInterrupted, MailOutcomeUnknown, MailRefused
from bowerbird.model.digests import Digest, Mailing, MailState
from bowerbird.storage.database import Database, Writable
from bowerbird.storage.libraries import LockedLibrary
from bowerbird.storage.stores import TimedService

Send = Callable[[Email], Awaitable[None]]

_MINUTE: Final = 60 * MICROSECONDS
# Delay after each failed attempt. After the last one the email fails for good.
RETRY_DELAYS: Final = tuple(minutes * _MINUTE for minutes in (5, 15, 45, 120, 360, 360, 360, 360))
_MAX_REASON_LENGTH: Final = 300
_NO_ADDRESS: Final = "The account has no email address."
_WORKER_STOPPED: Final = (
    "The worker stopped while it was sending the email. The email may have been sent, so it is "
    "not retried automatically."
)
_SENDABLE_BY_HAND: Final = frozenset(MailState) - {MailState.SENT, MailState.SENDING}


class DigestEmails(TimedService):
    def __init__(self, database: Database, clock: Clock, send: Send, site_origin: str) -> None:
        super().__init__(database, clock)
        self._send = send
        self._site_origin = site_origin
        self._log = structlog.get_logger()

    async def send_due(self, account_id: int) -> None:
        """Sends the emails that are due, and stores when to handle the account again."""
        now = self._clock()
        for digest in await self._stores.digests.unsent(self._library(account_id)):
            if creation.email_due_at(digest) > now:
                continue
            if digest.mailing.state is MailState.SENDING:
                unclear = Mailing(MailState.UNCLEAR, digest.mailing.tries, now, _WORKER_STOPPED)
                await self._record(account_id, digest, unclear)
            else:
                await self._deliver(account_id, digest)

    async def send_by_hand(self, account_id: int, digest: Digest) -> Mailing:
        """Returns the state after the attempt. An email that was sent is not sent again."""
        if digest.mailing.state in _SENDABLE_BY_HAND:
            await self._deliver(account_id, digest, is_by_hand=True)
        found = await self._stores.digests.by_period(self._library(account_id), digest.period)
        return found.mailing if found else digest.mailing

    async def _deliver(self, account_id: int, found: Digest, *, is_by_hand: bool = False) -> None:
        # Rendered before the claim, so that a failure here cannot leave the email unclear.
        email = await self._email(account_id, found)
        if email is None:
            return
        claimed = await self._claim(
            account_id, found, is_by_hand=is_by_hand, has_address=bool(email.to)
        )
        if claimed is None:
            return
        try:
            mailing = await self._attempt(email, claimed.mailing)
        except MailInterrupted:
            # Undo the claim: the next worker sends the email.
            await self._record(account_id, claimed, found.mailing)
            raise
        await self._record(account_id, claimed, mailing)

    async def _claim(
        self, account_id: int, found: Digest, *, is_by_hand: bool, has_address: bool
    ) -> Digest | None:
        """The claimed digest; None if another worker has it or the account gets no emails."""

        async def work(library: LockedLibrary) -> Digest | None:
            preferences = await self._stores.digests.preferences(account_id, library.transaction)
            is_wanted = is_by_hand or (preferences.is_mailed and preferences.kind is not None)
            mailing = Mailing(MailState.NONE)
            if not has_address:
                mailing = Mailing(MailState.NONE, reason=_NO_ADDRESS)
            elif is_wanted:
                mailing = Mailing(MailState.SENDING, found.mailing.tries + 1, self._clock())
            if not await self._stores.digests.set_mailing(library, found, mailing):
                return None
            await self._after_change(library)
            is_claimed = mailing.state is MailState.SENDING
            return msgspec.structs.replace(found, mailing=mailing) if is_claimed else None

        return await self._locked(account_id, work, is_service=True)

    async def _attempt(self, email: Email, mailing: Mailing) -> Mailing:
        tries = mailing.tries
        try:
            await self._send(email)
        except MailOutcomeUnknown as unsure:
            return Mailing(MailState.UNCLEAR, tries, self._clock(), _reason(unsure))
        except MailDeferred as away:
            return self._retry_later(tries, _reason(away))
        except MailRefused as refused:
            return Mailing(MailState.REFUSED, tries, self._clock(), _reason(refused))
        return Mailing(MailState.SENT, tries, self._clock())

    def _retry_later(self, tries: int, reason: str) -> Mailing:
        now = self._clock()
        if tries > len(RETRY_DELAYS):
            return Mailing(MailState.FAILED, tries, now, reason)
        return Mailing(MailState.WAITING, tries, now + RETRY_DELAYS[tries - 1], reason)

    async def _record(self, account_id: int, found: Digest, mailing: Mailing) -> None:
        async def work(library: LockedLibrary) -> None:
            await self._stores.digests.set_mailing(library, found, mailing)
            await self._after_change(library)

        await self._locked(account_id, work, is_service=True)
        self._log.info(
            "digest email",
            account=account_id,
            digest=found.digest_id,
            state=mailing.state,
            tries=mailing.tries,
            reason=mailing.reason or None,
        )

    async def _after_change(self, library: Writable) -> None:
        await creation.reschedule(self._stores.digests, library, self._clock())
        await self._stores.libraries.touch(library)

    async def _email(self, account_id: int, digest: Digest) -> Email | None:
        account = await self._stores.accounts.by_id(account_id, month_of(self._clock()))
        member = await self._stores.accounts.membership(account_id)
        if account is None or member is None:
            return None
        posts = await self._stores.digest_posts.posts(account, digest.contents.post_ids)
        token = unsubscribe_token(account_id, await self._token(account_id))
        url = f"{self._site_origin}/unsubscribe/{token}"
        return email_of(member.email, to_response(digest, posts), url)

    async def _token(self, account_id: int) -> str:
        """All emails of an account have the same token. It is created with the first email."""
        existing = await self._stores.digests.token(account_id)
        if existing is not None:
            return existing

        return await self._locked(
            account_id,
            lambda library: self._stores.digests.take_token(library, secrets.token_hex(16)),
            is_service=True,
        )


def email_of(to: str, digest: DigestResponse, unsubscribe_url: str) -> Email:
    heading = wording.heading(digest)
    host = urlsplit(unsubscribe_url).hostname or "localhost"
    return Email(
        to=to,
        subject=f"{heading}: {digest.title}",
        text=wording.plain_text(digest, f"Unsubscribe from these emails: {unsubscribe_url}"),
        html=wording.html(digest, unsubscribe_url),
        headers={
            "List-Unsubscribe": f"<{unsubscribe_url}>",
            "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
            "Auto-Submitted": "auto-generated",
            # Every attempt has this id, so that mail servers and readers recognize a duplicate.
            "Message-ID": f"<{digest.digest_id}.{_fingerprint(unsubscribe_url)}@{host}>",
        },
    )


def _fingerprint(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=10).hexdigest()


def _reason(error: Exception) -> str:
    return str(error)[:_MAX_REASON_LENGTH]
