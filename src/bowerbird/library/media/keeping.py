"""Keeps the images of an account: notes which posts have which, removes some, downloads others."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Final

from bowerbird.clock import MICROSECONDS, Clock, month_of
from bowerbird.images.hosts import AllowedHosts
from bowerbird.library.access.turns import lock_library
from bowerbird.library.media.downloads import Downloads, Progress
from bowerbird.library.media.noting import ImageNoting
from bowerbird.library.media.preferences import MEGABYTE
from bowerbird.model.accounts import Account
from bowerbird.model.posts.media import MediaAccount, folder_of
from bowerbird.settings import Settings
from bowerbird.storage.accounts.accounts import AccountStore
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.files import Files
from bowerbird.storage.libraries import LibraryStore
from bowerbird.storage.media import MediaStore

if TYPE_CHECKING:
    from bowerbird.images.fetching import Fetcher

# The trash is emptied without a change of the library, so an account is looked at this often.
_LOOK_EVERY: Final = 86_400 * MICROSECONDS
# A file is stored shortly before the row that names it.
_LEFTOVER_S: Final = 86_400.0
_ACCOUNTS_PER_PAGE: Final = 500


class Keeping:
    def __init__(
        self,
        database: Database,
        files: Files,
        clock: Clock,
        settings: Settings,
        fetcher: "Callable[[], Fetcher] | None" = None,
    ) -> None:
        self._database = database
        self._files = files
        self._clock = clock
        self._allowed = AllowedHosts.of(settings)
        self._fetcher = fetcher or self._new_fetcher
        self._is_on = settings.keep_media == "on"
        self._quota = settings.media_quota_mb * MEGABYTE
        with_videos = settings.keep_video == "on"
        self._noting = ImageNoting(database, files, clock, self._allowed, with_videos=with_videos)
        video_quota = settings.video_quota_mb * MEGABYTE if with_videos else None
        self._downloads = Downloads(database, files, clock, self._quota, video_quota)
        self._store = MediaStore(database)
        self._accounts = AccountStore(database)
        self._libraries = LibraryStore(database)

    async def run(self, account_id: int, progress: Progress) -> None:
        """Does what is due. `progress` may raise an exception to stop it."""
        account = await self._accounts.by_id(account_id, month_of(self._clock()))
        if account is None:
            return
        state = await self._begun(account_id)
        if state is None:
            return

        async def report() -> None:
            await progress(0, 1)

        if state.is_clearing:
            await self._noting.remove_all(account_id, report)
            await self._write(lambda later: self._store.cleared(later, account_id))
        elif self._is_outdated(account, state):
            if state.is_keeping:
                await self._noting.note(account, report)
            await self._noting.remove_lost(account_id, report)
            await self._write(lambda later: self._store.looked(later, account, self._clock()))
        state = await self._store.account(self._database, account_id)
        if state is not None and self._may_download(state):
            async with self._fetcher() as fetcher:
                await self._downloads.run(account_id, fetcher, progress)

    async def _begun(self, account_id: int) -> MediaAccount | None:
        """The state of the account, which keeps images unless it decided otherwise."""

        async def work(transaction: Transaction) -> None:
            await lock_library(self._libraries, transaction, account_id)
            await self._store.begin(transaction, account_id)

        state = await self._store.account(self._database, account_id)
        if state is None and self._is_on:
            await self._database.write(work, account_id)
            state = await self._store.account(self._database, account_id)
        return state

    async def due_accounts(self, after: int) -> Sequence[int]:
        """A page of the accounts with something to do."""
        now = self._clock()
        return await self._store.due_accounts(
            after,
            _ACCOUNTS_PER_PAGE,
            now=now,
            looked_before=now - _LOOK_EVERY,
            quota=self._quota,
            is_on=self._is_on,
        )

    async def postpone(self, account_id: int, seconds: int) -> None:
        due_at = self._clock() + seconds * MICROSECONDS
        await self._write(lambda later: self._store.postpone_account(later, account_id, due_at))

    async def delete_leftovers(self) -> None:
        """Deletes files that killed processes left behind."""
        after = 0
        while page := await self._store.accounts_with_files(after, _ACCOUNTS_PER_PAGE):
            for account_id in page:
                await self._delete_leftovers(account_id)
            after = page[-1]

    async def _delete_leftovers(self, account_id: int) -> None:
        async def needed(names: Sequence[str]) -> set[str]:
            by_id = {name.rpartition("/")[2]: name for name in names}
            found = await self._store.existing(account_id, list(by_id))
            return {by_id[media_id] for media_id in found}

        await self._files.delete_unneeded(folder_of(account_id), _LEFTOVER_S, needed)

    def _may_download(self, state: MediaAccount) -> bool:
        is_wanted = self._is_on and state.is_keeping and not state.is_clearing
        return is_wanted and state.full_at != self._quota

    def _is_outdated(self, account: Account, state: MediaAccount) -> bool:
        is_old = state.looked_at < self._clock() - _LOOK_EVERY
        return is_old or (state.epoch, state.version) != (account.epoch, account.version)

    async def _write(self, work: Callable[[Transaction], Awaitable[None]]) -> None:
        await self._database.write(work)

    def _new_fetcher(self) -> "Fetcher":
        from bowerbird.images.fetching import Fetcher  # noqa: PLC0415 - imports httpx2

        return Fetcher(self._allowed)
