"""Digests: read them and change the preferences for them. Every plan can use them."""

import hmac
import re
from typing import Final

import msgspec
from msgspec import Struct

from bowerbird import errors
from bowerbird.clock import MICROSECONDS, Clock
from bowerbird.errors import Code, Refusal
from bowerbird.library.bookmarks import cursors
from bowerbird.library.digests import creation, wording
from bowerbird.library.digests.responses import DigestResponse, DigestSummary, summary, to_response
from bowerbird.model.accounts import Account
from bowerbird.model.digests import Digest, Frequency, Preferences, digest_id, period_of
from bowerbird.model.instants import with_offset
from bowerbird.requests.exports import FORMATS, DigestsQuery, PreferencesRequest
from bowerbird.requests.limits import PAGE_DEFAULT
from bowerbird.storage.database import Database, Reader, Transaction, Writable
from bowerbird.storage.libraries import LockedLibrary
from bowerbird.storage.stores import TimedService
from bowerbird.storage.upkeep.digests import NEVER

LATEST: Final = "latest"
_TOKEN: Final = re.compile(r"([0-9a-f]{1,16})-([0-9a-f]{32})")


class DigestList(Struct, frozen=True):
    digests: list[DigestSummary]
    next_cursor: str | None
    limit: int
    total_count: int


class PreferencesResponse(Struct, frozen=True):
    frequency: Frequency
    """off, daily or weekly."""
    time_zone: str
    """A name from the time zone database, such as Europe/Berlin."""
    hour: int
    """Hour of the day after the period at which the digest is created, 0 to 23."""
    mail: bool
    """Whether each new digest is emailed to the account's address."""
    highlight: bool
    """Whether each digest has one of your notes or highlights."""
    mail_available: bool
    """Whether the operator has configured a mail server."""
    next_digest_at: str | None
    """When the next digest is created; null if none is scheduled."""


class Digests(TimedService):
    def __init__(self, database: Database, clock: Clock, *, can_mail: bool) -> None:
        super().__init__(database, clock)
        self._can_mail = can_mail

    async def list(self, account: Account, asked: DigestsQuery) -> DigestList:
        """The latest first."""
        limit = asked.limit or PAGE_DEFAULT
        query = cursors.query_of(account.account_id, "digests")
        before = None
        if asked.cursor:
            before = period_of(cursors.read_as(cursors.Named, asked.cursor, query).name)
            if before is None:
                raise cursors.refused(asked.cursor)
        found = await self._stores.digests.page(account.account_id, before, limit + 1)
        end = found[limit - 1] if len(found) > limit else None
        return DigestList(
            digests=[summary(digest) for digest in found[:limit]],
            next_cursor=None if end is None else cursors.write(_end(end), query),
            limit=limit,
            total_count=await self._stores.digests.count(account.account_id),
        )

    async def get(
        self, account: Account, digest_id: str | None = None, format: str | None = None
    ) -> DigestResponse:
        """One digest, or the latest if no id is given; in all formats, or in the given one."""
        if format is not None and format not in FORMATS:
            accepted = ", ".join(FORMATS)
            raise errors.invalid("format", f"must be one of {accepted}, got {errors.shown(format)}")
        digest = await self._find(account, digest_id)
        posts = await self._stores.digest_posts.posts(account, digest.contents.post_ids)
        return rendered(to_response(digest, posts), format)

    async def before(self, account: Account, digest_id: str) -> DigestSummary | None:
        """The digest before another one."""
        period = period_of(digest_id)
        found = await self._stores.digests.page(account.account_id, period, 1) if period else []
        return summary(found[0]) if found else None

    async def preferences(self, account: Account) -> PreferencesResponse:
        return self.shown(await self.stored(account))

    async def stored(self, account: Account, reader: Reader | None = None) -> Preferences:
        return await self._stores.digests.preferences(account.account_id, reader)

    def minute(self) -> int:
        """The current minute, for responses that change with it."""
        return self._clock() // (60 * MICROSECONDS)

    async def update_preferences(
        self, transaction: Transaction, account: Account, request: PreferencesRequest
    ) -> PreferencesResponse:
        """Changes the fields that are given. Digests that were due before are not created."""
        library = await self._stores.libraries.lock(transaction, account.account_id)
        held = await self._stores.digests.preferences(account.account_id, transaction)
        wanted = _changed(held, request)
        if wanted != held:
            wanted = await self._keep(library, held, wanted)
        return self.shown(wanted)

    async def change_preferences(self, account: Account, request: PreferencesRequest) -> None:
        async def work(transaction: Transaction) -> None:
            await self.update_preferences(transaction, account, request)

        await self._database.write(work, account.account_id)

    async def holder(self, token: str) -> int | None:
        """The account that an unsubscribe token belongs to; None if there is none."""
        match = _TOKEN.fullmatch(token)
        account_id = int(match[1], 16) if match else 0
        if match is None or account_id >= 2**63:
            return None
        kept = await self._stores.digests.token(account_id)
        return account_id if kept and hmac.compare_digest(kept, match[2]) else None

    async def unsubscribe(self, account_id: int) -> None:
        """Stops the emails; digests are still created. Idempotent."""

        async def work(library: LockedLibrary) -> None:
            held = await self._stores.digests.preferences(account_id, library.transaction)
            if held.is_mailed:
                wanted = msgspec.structs.replace(held, is_mailed=False)
                await self._keep(library, held, wanted)

        await self._locked(account_id, work, is_service=True)

    async def _keep(self, library: Writable, held: Preferences, wanted: Preferences) -> Preferences:
        now = self._clock()
        wanted = msgspec.structs.replace(wanted, updated_at=now)
        if (held.frequency, held.time_zone, held.hour) != (
            wanted.frequency,
            wanted.time_zone,
            wanted.hour,
        ):
            # A digest that was due on the old schedule is not created on the new one.
            wanted = msgspec.structs.replace(wanted, since=now)
        await self._stores.digests.put_preferences(library, wanted, now)
        await creation.reschedule(self._stores.digests, library, now)
        await self._stores.libraries.touch(library)
        return wanted

    async def _find(self, account: Account, given: str | None) -> Digest:
        if given is None or given == LATEST:
            found = next(iter(await self._stores.digests.page(account.account_id, None, 1)), None)
            if found is None:
                raise Refusal(Code.NOT_FOUND, "No digest has been created yet.")
            return found
        period = period_of(given)
        found = (
            await self._stores.digests.by_period(self._library(account.account_id), period)
            if period
            else None
        )
        if found is None:
            raise errors.not_found("digest", given)
        return found

    def shown(self, wanted: Preferences) -> PreferencesResponse:
        due = creation.next_due(wanted, self._clock())
        return PreferencesResponse(
            frequency=wanted.frequency,
            time_zone=wanted.time_zone,
            hour=wanted.hour,
            mail=wanted.is_mailed,
            highlight=wanted.has_highlight,
            mail_available=self._can_mail,
            next_digest_at=None if due == NEVER else with_offset(due),
        )


def rendered(digest: DigestResponse, format: str | None = None) -> DigestResponse:
    """The digest with Markdown and HTML, with one of them, or (`json`) with neither."""
    made: dict[str, str] = {}
    if format in (None, "markdown"):
        made["markdown"] = wording.markdown(digest)
    if format in (None, "html"):
        made["html"] = wording.html(digest)
    whole: DigestResponse = msgspec.structs.replace(digest, **made)
    return whole


def unsubscribe_token(account_id: int, secret: str) -> str:
    """Identifies the account and proves that the holder received one of its emails."""
    return f"{account_id:x}-{secret}"


def _end(digest: Digest) -> cursors.Named:
    return cursors.Named(digest_id(digest.period))


def _changed(held: Preferences, request: PreferencesRequest) -> Preferences:
    sent = {
        "frequency": request.frequency,
        "time_zone": request.time_zone,
        "hour": request.hour,
        "is_mailed": request.mail,
        "has_highlight": request.highlight,
        "is_zone_chosen": True if request.time_zone is not None else None,
    }
    changes = {name: value for name, value in sent.items() if value is not None}
    return msgspec.structs.replace(held, **changes)
