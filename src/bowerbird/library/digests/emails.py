"""Sends digests by mail, each at most once.

A letter is claimed before it is handed to the mail server. If a worker ends in between, nobody
can tell whether the letter went out; it is then called unclear and left alone, because a missing
letter is a smaller fault than a second one. What surely was not taken is tried again, later and
later, for about a day.
"""

import hashlib
import secrets
from collections.abc import Awaitable, Callable
from typing import Final
from urllib.parse import urlsplit

import msgspec
import structlog

from bowerbird.clock import MICROSECONDS, Clock, month_of
from bowerbird.library.access.library_lock import lock_library
from bowerbird.library.digests import html, markdown, schedule, wording
from bowerbird.library.digests.digests import unsubscribe_token
from bowerbird.library.digests.responses import DigestResponse, shown
from bowerbird.mail import Email, MailDeferred, MailInterrupted, MailOutcomeUnknown, MailRefused
from bowerbird.model.digests import Digest, Mailing, MailState
from bowerbird.storage.accounts.accounts import AccountStore
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.digests.digest_posts import DigestPostStore
from bowerbird.storage.digests.digests import DigestStore
from bowerbird.storage.libraries import LibraryStore

Send = Callable[[Email], Awaitable[None]]

_MINUTE: Final = 60 * MICROSECONDS
# After each failed try; behind the last one the letter is given up.
PAUSES: Final = tuple(minutes * _MINUTE for minutes in (5, 15, 45, 120, 360, 360, 360, 360))
_LONGEST_REASON: Final = 300
_LEFT_BEHIND: Final = (
    "The worker ended while the letter was handed over. It may have been sent, and is not sent "
    "again by itself."
)
_SENDABLE_BY_HAND: Final = frozenset(MailState) - {MailState.SENT, MailState.SENDING}


class DigestEmails:
    def __init__(self, database: Database, clock: Clock, send: Send, site_origin: str) -> None:
        self._database = database
        self._clock = clock
        self._send = send
        self._site_origin = site_origin
        self._store = DigestStore(database)
        self._posts = DigestPostStore(database)
        self._accounts = AccountStore(database)
        self._libraries = LibraryStore(database)
        self._log = structlog.get_logger()

    async def send_due(self, account_id: int) -> None:
        """Sends the letters whose time has come, and notes when to look again."""
        now = self._clock()
        for letter in await self._store.in_the_post(account_id):
            if schedule.attention_at(letter) > now:
                continue
            if letter.mailing.state is MailState.SENDING:
                unclear = Mailing(MailState.UNCLEAR, letter.mailing.tries, now, _LEFT_BEHIND)
                await self._note(account_id, letter, unclear)
            else:
                await self._deliver(account_id, letter)

    async def send_by_hand(self, account_id: int, digest: Digest) -> Mailing:
        """How the letter stands after it was tried; one that was sent is not sent again."""
        if digest.mailing.state in _SENDABLE_BY_HAND:
            await self._deliver(account_id, digest, is_asked=True)
        found = await self._store.by_period(account_id, digest.period)
        return found.mailing if found else digest.mailing

    async def _deliver(self, account_id: int, found: Digest, *, is_asked: bool = False) -> None:
        # Written before it is claimed: whatever goes wrong with that, it was surely not sent.
        letter = await self._letter(account_id, found)
        if letter is None:
            return
        claimed = await self._claim(account_id, found, is_asked=is_asked)
        if claimed is None:
            return
        try:
            mailing = await self._handed_over(letter, claimed.mailing)
        except MailInterrupted:
            # As before it was claimed: the next worker sends it.
            await self._note(account_id, claimed, found.mailing)
            raise
        await self._note(account_id, claimed, mailing)

    async def _claim(self, account_id: int, found: Digest, *, is_asked: bool) -> Digest | None:
        """The digest as ours to send; None if it is not for us, or not wanted any more."""

        async def work(transaction: Transaction) -> Digest | None:
            await lock_library(self._libraries, transaction, account_id)
            wanted = await self._store.preferences_within(transaction, account_id)
            is_wanted = is_asked or (wanted.is_mailed and wanted.kind is not None)
            mailing = Mailing(MailState.NONE)
            if is_wanted:
                mailing = Mailing(MailState.SENDING, found.mailing.tries + 1, self._clock())
            if not await self._store.set_mailing(transaction, account_id, found, mailing):
                return None
            await self._changed(transaction, account_id)
            return msgspec.structs.replace(found, mailing=mailing) if is_wanted else None

        return await self._database.write(work)

    async def _handed_over(self, letter: Email, mailing: Mailing) -> Mailing:
        tries = mailing.tries
        try:
            await self._send(letter)
        except MailOutcomeUnknown as unsure:
            return Mailing(MailState.UNCLEAR, tries, self._clock(), _reason(unsure))
        except MailDeferred as away:
            return self._put_off(tries, _reason(away))
        except MailRefused as refused:
            return Mailing(MailState.REFUSED, tries, self._clock(), _reason(refused))
        return Mailing(MailState.SENT, tries, self._clock())

    def _put_off(self, tries: int, reason: str) -> Mailing:
        now = self._clock()
        if tries > len(PAUSES):
            return Mailing(MailState.FAILED, tries, now, reason)
        return Mailing(MailState.WAITING, tries, now + PAUSES[tries - 1], reason)

    async def _note(self, account_id: int, found: Digest, mailing: Mailing) -> None:
        async def work(transaction: Transaction) -> None:
            await lock_library(self._libraries, transaction, account_id)
            await self._store.set_mailing(transaction, account_id, found, mailing)
            await self._changed(transaction, account_id)

        await self._database.write(work)
        self._log.info(
            "digest mail",
            account=account_id,
            digest=found.digest_id,
            state=mailing.state,
            tries=mailing.tries,
            reason=mailing.reason or None,
        )

    async def _changed(self, transaction: Transaction, account_id: int) -> None:
        await schedule.reschedule(self._store, transaction, account_id, self._clock())
        await self._libraries.touch(transaction, account_id)

    async def _letter(self, account_id: int, digest: Digest) -> Email | None:
        account = await self._accounts.by_id(account_id, month_of(self._clock()))
        member = await self._accounts.membership(account_id)
        if account is None or member is None:
            return None
        posts = await self._posts.posts(account, digest.contents.post_ids)
        token = unsubscribe_token(account_id, await self._token(account_id))
        url = f"{self._site_origin}/unsubscribe/{token}"
        return letter_of(member.email, shown(digest, posts), url)

    async def _token(self, account_id: int) -> str:
        """The same for every letter of the account, made with the first."""
        held = await self._store.token(account_id)
        if held is not None:
            return held

        async def work(transaction: Transaction) -> str:
            await lock_library(self._libraries, transaction, account_id)
            return await self._store.take_token(transaction, account_id, secrets.token_hex(16))

        return await self._database.write(work)


def letter_of(to: str, digest: DigestResponse, unsubscribe_url: str) -> Email:
    heading = wording.heading(digest)
    host = urlsplit(unsubscribe_url).hostname or "localhost"
    return Email(
        to=to,
        subject=f"{heading}: {digest.title}",
        text=markdown.plain(digest, f"Stop these letters: {unsubscribe_url}"),
        html=html.html(digest, unsubscribe_url),
        headers={
            "List-Unsubscribe": f"<{unsubscribe_url}>",
            "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
            "Auto-Submitted": "auto-generated",
            # The same for every try, so that a server or a reader can tell a second copy.
            "Message-ID": f"<{digest.digest_id}.{_mark(unsubscribe_url)}@{host}>",
        },
    )


def _mark(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=10).hexdigest()


def _reason(error: Exception) -> str:
    return str(error)[:_LONGEST_REASON]
