"""Makes digests, each period's once, however many workers try.

What a digest says is gathered by plain reads; then one transaction writes it, unless somebody
else has, and notes when the account's next one is due.
"""

from typing import Any

import msgspec

from bowerbird.clock import Clock, month_of
from bowerbird.introductions import Introductions
from bowerbird.library.access.library_lock import lock_library
from bowerbird.library.digests import schedule
from bowerbird.library.digests.contents import DigestContents, Topics
from bowerbird.library.digests.responses import shown
from bowerbird.model.accounts import Account
from bowerbird.model.digests import Contents, Digest, Mailing, MailState, Preferences
from bowerbird.model.periods import Period, zone_of
from bowerbird.storage.accounts.accounts import AccountStore
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.digests.digest_posts import DigestPostStore
from bowerbird.storage.digests.digests import DigestStore
from bowerbird.storage.libraries import LibraryStore


class DigestCreation:
    def __init__(
        self,
        database: Database,
        clock: Clock,
        *,
        can_mail: bool = False,
        introductions: Introductions | None = None,
        topics: Topics | None = None,
    ) -> None:
        self._database = database
        self._clock = clock
        self._can_mail = can_mail
        self._introductions = introductions
        self._contents = DigestContents(database, topics)
        self._accounts = AccountStore(database)
        self._store = DigestStore(database)
        self._posts = DigestPostStore(database)
        self._libraries = LibraryStore(database)

    async def make_due(self, account_id: int) -> None:
        """Makes the latest digest that is due, if it is missing; notes when the next one is."""
        now = self._clock()
        account = await self._accounts.by_id(account_id, month_of(now))
        if account is None:
            return
        wanted = await self._store.preferences(account_id)
        period = schedule.due_period(wanted, now)
        found = made = None
        if period is not None:
            found = await self._store.by_period(account_id, period)
            made = found or await self._digest(account, period, wanted)

        async def work(transaction: Transaction) -> None:
            await lock_library(self._libraries, transaction, account_id)
            # Whoever has changed their mind meanwhile gets what they want now.
            if await self._store.preferences_within(transaction, account_id) == wanted:
                if found is not None:
                    await self._mail(transaction, account_id, found, wanted)
                elif made is not None:
                    await self._put_due(transaction, account_id, made, wanted)
                await self._store.settle(transaction, account_id, now + 1)
            await schedule.reschedule(self._store, transaction, account_id, now)

        await self._database.write(work)

    async def make(self, account: Account, period: Period) -> Digest | None:
        """The digest of a period that is over, made if it is missing; None for an empty one.

        Nothing is mailed of it, and the account's own digests go on as they would.
        """
        found = await self._store.by_period(account.account_id, period)
        if found is not None:
            return found
        wanted = await self._store.preferences(account.account_id)
        unmailed = msgspec.structs.replace(wanted, is_mailed=False)
        made = await self._digest(account, period, unmailed)
        if made is None:
            return None

        async def work(transaction: Transaction) -> Digest | None:
            await lock_library(self._libraries, transaction, account.account_id)
            await self._put(transaction, account.account_id, made)
            return await self._store.by_period_within(transaction, account.account_id, period)

        return await self._database.write(work)

    async def _digest(self, account: Account, period: Period, wanted: Preferences) -> Digest | None:
        """None when there is nothing to say."""
        contents = await self._contents.of(account, period, zone_of(wanted.time_zone))
        if contents.is_empty:
            return None
        now, zone = self._clock(), wanted.time_zone
        mailing = self._mailing(wanted)
        digest = Digest(period.kind, period.first_day, zone, now, contents, mailing)
        return await self._introduced(account, digest)

    def _mailing(self, wanted: Preferences) -> Mailing:
        if not (wanted.is_mailed and self._can_mail):
            return Mailing()
        return Mailing(MailState.WAITING, at=self._clock())

    async def _introduced(self, account: Account, digest: Digest) -> Digest:
        if self._introductions is None or not self._introductions.is_ready:
            return digest
        posts = await self._posts.posts(account, digest.contents.post_ids)
        introduction = await self._introductions.write(_told(digest, posts))
        contents: Contents = msgspec.structs.replace(digest.contents, introduction=introduction)
        introduced: Digest = msgspec.structs.replace(digest, contents=contents)
        return introduced

    async def _mail(
        self, transaction: Transaction, account_id: int, found: Digest, wanted: Preferences
    ) -> None:
        """Lets a digest go by mail that somebody had made before it was due."""
        if found.mailing == Mailing() != self._mailing(wanted):
            await self._store.set_mailing(transaction, account_id, found, self._mailing(wanted))
            await self._libraries.touch(transaction, account_id)

    async def _put_due(
        self, transaction: Transaction, account_id: int, made: Digest, wanted: Preferences
    ) -> None:
        if await self._put(transaction, account_id, made):
            return
        # Somebody has made it meanwhile, perhaps by hand: then its letter is still to go.
        other = await self._store.by_period_within(transaction, account_id, made.period)
        if other is not None:
            await self._mail(transaction, account_id, other, wanted)

    async def _put(self, transaction: Transaction, account_id: int, digest: Digest) -> bool:
        """Whether it was written; not if somebody else was first."""
        if not await self._store.put(transaction, account_id, digest):
            return False
        # The list of digests has changed, and answers are kept by the library's version.
        await self._libraries.touch(transaction, account_id)
        return True


def _told(digest: Digest, posts: dict[str, bytes]) -> dict[str, Any]:
    """What an introduction may speak of: authors, titles and texts of posts, nothing else."""
    told = shown(digest, posts)

    def short(part: Any) -> list[dict[str, Any]]:
        return [
            {"author": post.author_name, "title": post.title, "text": post.text}
            for post in part.posts
        ]

    return {"saved_posts": short(told.saved), "unread_posts": short(told.unread)}
