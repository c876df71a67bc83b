"""Keeps pages that no reader understood for a year, and reads them again."""

import asyncio
import secrets
from collections.abc import Collection, Sequence
from typing import Final

import msgspec
import structlog
import zstandard
from msgspec import Struct

from bowerbird import errors
from bowerbird.clock import Clock
from bowerbird.library.imports.intake import Intake, ItemResult, PreparedIntake, parts
from bowerbird.library.imports.runs import ImportRuns, NotRunning
from bowerbird.library.ingest import page_reading
from bowerbird.library.ingest.page_reading import CapturedPage, ReadPage
from bowerbird.library.ingest.removals import RemovedPosts
from bowerbird.model.accounts import Account
from bowerbird.model.arrival import IngestRun, KeptPage
from bowerbird.requests import limits
from bowerbird.sources.x.pages import Folder
from bowerbird.storage.database import Database, Transaction, Writable
from bowerbird.storage.stores import TimedService

_LEVEL: Final = 6
_MAX_PROBLEM: Final = 500
NO_FOLDER_NAME: Final = "The name of its folder is not known yet."
UNKNOWN_FORM: Final = "Its form is not known."
# Kept pages that can be read become an import of this kind.
_SOURCE: Final = "x"
_KIND: Final = "kept"


class ReadAgain(Struct, frozen=True):
    """What reading the kept pages of an account again has given."""

    pages: int = 0
    # Pages that can be read now. They are not kept any longer.
    read: int = 0
    new: int = 0
    changed: int = 0


class KeptPages(TimedService):
    def __init__(self, database: Database, clock: Clock) -> None:
        super().__init__(database, clock)
        self._imports = ImportRuns(database, clock)
        self._intake = Intake(database, clock)
        self._removed = RemovedPosts(database, clock)

    async def prepared(
        self, account: Account, run_id: str, seq: int, page: CapturedPage, problem: str
    ) -> KeptPage | None:
        """The page to keep, compressed; None if the account has kept as much as it may."""
        body = await asyncio.to_thread(zstandard.ZstdCompressor(_LEVEL).compress, page.payload)
        count, size = await self._stores.kept_pages.usage(self._library(account.account_id))
        if count >= limits.KEPT_PAGES_MAX or size + len(body) > limits.KEPT_BYTES_MAX:
            structlog.get_logger().warning("page not kept", account=account.account_id)
            return None
        return KeptPage(
            format=page.format,
            op=page.op,
            request_url=page.request_url,
            kept_id=secrets.token_hex(16),
            run_id=run_id,
            seq=seq,
            captured_at=page.captured_at,
            problem=problem[:_MAX_PROBLEM],
            body=body,
            created_at=self._clock(),
        )

    async def of_unknown_form(self, account_id: int) -> int:
        """How many pages wait for a reader that knows their form."""
        return await self._stores.kept_pages.count(account_id, UNKNOWN_FORM)

    async def put_folders(
        self, transaction: Transaction, account: Account, folders: Sequence[Folder]
    ) -> None:
        """Stores the names of folders, for pages of these folders."""
        names = {folder.id: folder.name for folder in folders}
        count = await self._stores.source_posts.put_folders(
            Writable(transaction, account.account_id), names
        )
        if count > limits.FOLDERS_MAX:
            problem = f"an account can have the names of {limits.FOLDERS_MAX:,} folders"
            raise errors.invalid("payload", problem)

    async def note(self, library: Writable, run: IngestRun, read: ReadPage, at: int) -> None:
        """What the page of a run says about its posts."""
        if read.is_own:
            return
        if read.is_listed:
            unnamed = await self._stores.source_posts.at_indexes(library, read.unnamed_indexes)
            post_ids = list(dict.fromkeys([*read.listed_ids, *unnamed]))
            await self._stores.source_posts.see(library, post_ids, run, at)
        elif read.lists_saved_posts:
            for post_id in sorted(read.listed_ids):
                await self._stores.source_posts.change(
                    library, run.user, post_id, at=at, is_saved=True
                )
        if read.lists_saved_posts:
            await self._stores.source_posts.note_gone(library, run.user, read.gone, at)
        shown = [post.record.post_id for post in read.posts]
        await self._stores.source_posts.note_shown(library, shown, at)

    async def read_again(self, account: Account) -> ReadAgain:
        """Reads every kept page with the current readers; forgets those that can be read."""
        kept_ids = [one.kept_id for one in await self._stores.kept_pages.heads(account.account_id)]
        return await self._read_all(account, kept_ids)

    async def read_folders(self, account: Account, folder_ids: Collection[str]) -> None:
        """Reads some pages of these folders, which came before the names of the folders."""
        waiting = [
            one.kept_id
            for one in await self._stores.kept_pages.heads(account.account_id)
            if one.problem == NO_FOLDER_NAME and page_reading.folder_of(one) in folder_ids
        ]
        try:
            await self._read_all(account, waiting[: limits.KEPT_PAGES_READ_AT_ONCE])
        except NotRunning:
            # The owner undid it. The rest of the pages stay.
            return

    async def _read_all(self, account: Account, kept_ids: Sequence[str]) -> ReadAgain:
        """The posts belong to an import of their own, which is listed and can be undone."""
        pages, results, import_id, read = 0, list[ItemResult](), "", 0
        try:
            for kept_id in kept_ids:
                kept = await self._stores.kept_pages.get(account.account_id, kept_id)
                if kept is None:
                    continue
                pages += 1
                page = await self.read(account, await asyncio.to_thread(_captured, kept))
                if page.unreadable or page.lacks_folder:
                    continue
                read += 1
                for posts in parts(page.taken):
                    prepared = await self._intake.prepare(account, posts, run_id=import_id or None)
                    if prepared.changes_library:
                        import_id = import_id or await self._start(account, prepared)
                    run_id = import_id if prepared.changes_library else None
                    outcome = await self._intake.write(account, prepared._replace(run_id=run_id))
                    results += [result for _, result in outcome.results]
                await self._settle(account, kept, page)
        finally:
            if import_id:
                await self._imports.finish(account, import_id)
        new, changed = results.count(ItemResult.NEW), results.count(ItemResult.CHANGED)
        return ReadAgain(pages, read, new, changed)

    async def _start(self, account: Account, posts: PreparedIntake) -> str:
        started = await self._imports.start(
            account, source=_SOURCE, kind=_KIND, client="", started_at=posts.known.started_at
        )
        return started.run_id

    async def read(self, account: Account, page: CapturedPage) -> ReadPage:
        folder_id = page_reading.folder_of(page)
        name = (
            await self._stores.source_posts.folder(account.account_id, folder_id)
            if folder_id
            else ""
        )
        read = await asyncio.to_thread(page_reading.read, page, self._clock(), name)
        read = await self._of_known_posts(account, read)
        return msgspec.structs.replace(read, lacks_folder=bool(folder_id and not name))

    async def _of_known_posts(self, account: Account, read: ReadPage) -> ReadPage:
        """Posts that are not shown any more are marked if the library has them.

        The page of a post also has answers to it, which nobody saved.
        """
        searched = read.marks if read.lists_saved_posts else (*read.posts, *read.marks)
        ids = [one.record.post_id for one in searched]
        known = await self._stores.upserts.stored(account, ids) if ids else {}
        marks = tuple(one for one in read.marks if one.record.post_id in known)
        if read.lists_saved_posts:
            return msgspec.structs.replace(read, marks=marks)
        posts = tuple(one for one in read.posts if one.record.post_id in known)
        return msgspec.structs.replace(read, posts=posts, marks=marks, left_out=())

    async def _settle(self, account: Account, kept: KeptPage, read: ReadPage) -> None:
        """Notes what else the page says, and forgets the page."""
        account_id = account.account_id
        run = await self._stores.ingest_runs.get(self._library(account_id), kept.run_id)

        async def work(library: Writable) -> None:
            if read.folders:
                await self.put_folders(library.transaction, account, read.folders)
            if run is not None and read.says_saved:
                # Not as seen by its run: a later run may have seen the posts since.
                of_part = msgspec.structs.replace(read, is_listed=False)
                await self.note(library, run, of_part, kept.captured_at)

        await self._transact(account_id, work)
        if run is not None and read.says_saved:
            await self._removed.mark_late(account, run.user, read.listed_ids)
        await self._stores.kept_pages.delete(account_id, kept.kept_id)


def _captured(kept: KeptPage) -> CapturedPage:
    payload = zstandard.ZstdDecompressor().decompress(
        kept.body, max_output_size=limits.INGEST_PAGE_BYTES_MAX
    )
    return CapturedPage(
        format=kept.format,
        payload=payload,
        op=kept.op,
        request_url=kept.request_url,
        captured_at=kept.captured_at,
    )
