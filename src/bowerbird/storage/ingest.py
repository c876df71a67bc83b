"""Stores what devices send: runs, answers to pages, pages that no reader understood, files.

Also what a source said about posts: still saved there, or removed, and in which folder.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec
from msgspec.structs import asdict

from bowerbird.model.arrival import (
    FileImport,
    GonePost,
    HiddenPost,
    IngestRun,
    KeptPage,
    KeptPageHead,
    OtherList,
    PageLink,
    RunProgress,
    SourceUser,
    StoredPage,
)
from bowerbird.model.instants import with_offset
from bowerbird.storage.database import Readable, Store, Writable, record

RETENTION_DAYS: Final = 7
# X may have changed its answers, and the reader that knows them comes with an update.
KEPT_PAGE_DAYS: Final = 365


class KeptPageStore(Store):
    resource = "kept_pages"

    async def usage(self, library: Readable) -> tuple[int, int]:
        """The number of kept pages and their bytes."""
        rows = await self._of(library, "usage")
        return int(rows[0][0]), int(rows[0][1])

    async def count(self, account_id: int, problem: str) -> int:
        """The number of pages that are kept because of this problem."""
        return int((await self._read("count", account_id=account_id, problem=problem))[0][0])

    async def insert(self, library: Writable, page: KeptPage) -> None:
        await self._do(library, "insert", **asdict(page), size=len(page.body))

    async def heads(self, account_id: int) -> Sequence[KeptPageHead]:
        """The kept pages without their content, the oldest first."""
        rows = await self._read_slowly("heads", account_id=account_id)
        return [record(KeptPageHead, row) for row in rows]

    async def get(self, account_id: int, kept_id: str) -> KeptPage | None:
        """Pages are read one by one, because they may be large."""
        rows = await self._read_slowly("page", account_id=account_id, kept_id=kept_id)
        return record(KeptPage, rows[0]) if rows else None

    async def delete(self, account_id: int, kept_id: str) -> None:
        values = {"account_id": account_id, "kept_id": kept_id}
        await self._database.write(
            lambda transaction: self._run(transaction, "delete", **values), account_id
        )

    async def sweep(self, library: Writable, before: int, most: int) -> int:
        return len(await self._of(library, "old", before=before, most=most))


class FileImportStore(Store):
    resource = "file_imports"

    async def insert(self, library: Writable, file: FileImport) -> bool:
        """False if the job exists, or the account does not."""
        return bool(await self._of(library, "insert", **asdict(file), now=file.created_at))

    async def unfinished(
        self, library: Readable, *, since: int, alive_since: int
    ) -> Sequence[FileImport]:
        rows = await self._of(library, "unfinished", since=since, alive_since=alive_since)
        return [_file_import(row) for row in rows]

    async def get(self, account_id: int, job_id: str) -> FileImport | None:
        rows = await self._read("get", account_id=account_id, job_id=job_id)
        return _file_import(rows[0]) if rows else None

    async def update(self, account_id: int, file: FileImport) -> None:
        values = {**asdict(file), "account_id": account_id, "now": file.alive_at}
        # A write of the service: behind too many changes of its account, a file that is being
        # imported would look as if the server had stopped.
        await self._database.write(lambda transaction: self._run(transaction, "update", **values))

    async def sweep(self, library: Writable, before: int, most: int) -> int:
        return len(await self._of(library, "old", before=before, most=most))


class IngestRunStore(Store):
    resource = "ingest"

    async def insert(self, library: Writable, run: IngestRun) -> None:
        await self._do(library, "insert_run", **asdict(run), now=run.started_at)

    async def get(self, library: Readable, run_id: str) -> IngestRun | None:
        rows = await self._of(library, "run", run_id=run_id)
        return _run(rows[0]) if rows else None

    async def latest(self, account_id: int) -> IngestRun | None:
        rows = await self._read("latest_run", account_id=account_id)
        return _run(rows[0]) if rows else None

    async def last_of_devices(self, account_id: int) -> dict[str, IngestRun]:
        """The last run of each device over a list of saved posts, by the id of the device."""
        rows = await self._read("last_of_devices", account_id=account_id)
        return {run.device_id: run for run in map(_run, rows)}

    async def held(self, account_id: int, since: int, limit: int) -> Sequence[IngestRun]:
        """Runs after which posts were missing that nobody has confirmed as removed."""
        values = {"account_id": account_id, "since": since, "limit": limit}
        return [_run(row) for row in await self._read("held_runs", **values)]

    async def last_complete(self, library: Readable, user: SourceUser) -> IngestRun | None:
        """The last complete run over this list."""
        rows = await self._of(library, "last_complete_run", **user._asdict())
        return _run(rows[0]) if rows else None

    async def resumable(
        self, library: Readable, user: SourceUser, *, after: int, since: int
    ) -> IngestRun | None:
        """The last run over this list that began and changed since then and can be continued."""
        rows = await self._of(library, "resumable", **user._asdict(), after=after, since=since)
        return _run(rows[0]) if rows else None

    async def started_after(
        self, account_id: int, run: IngestRun, run_ids: Collection[str]
    ) -> set[str]:
        """The ids, among `run_ids`, of runs that started after the given run."""
        values = {"run_ids": sorted(run_ids), "started_at": run.started_at, "run_id": run.run_id}
        rows = await self._read("started_after", account_id=account_id, **values)
        return {row[0] for row in rows}

    async def known_below(self, library: Readable, user: SourceUser) -> int | None:
        """The highest index of the last complete run over this list."""
        rows = await self._of(library, "last_complete", **user._asdict())
        return rows[0][0] if rows else None

    async def set_import(self, library: Writable, run_id: str, import_id: str) -> None:
        await self._do(library, "set_import", run_id=run_id, import_id=import_id)

    async def touch(self, library: Writable, run_id: str, now: int) -> bool:
        """Marks a run as running; False if it is finished."""
        return bool(await self._of(library, "touch_run", run_id=run_id, now=now))

    async def end(self, library: Writable, run: IngestRun) -> None:
        await self._do(library, "end_run", **asdict(run), now=run.updated_at)

    async def complete(self, library: Writable, run_id: str, highest: int | None) -> None:
        """The run has read the list as far as it was not known."""
        await self._do(library, "complete_run", run_id=run_id, is_complete=True, highest=highest)

    async def progress(self, library: Readable, run_id: str) -> RunProgress:
        rows = await self._of(library, "progress", run_id=run_id)
        return RunProgress(*rows[0])

    async def page(self, library: Readable, run_id: str, seq: int) -> tuple[bytes, bytes] | None:
        """The fingerprint of a page, and the answer to it."""
        rows = await self._of(library, "page", run_id=run_id, seq=seq)
        return (bytes(rows[0][0]), bytes(rows[0][1])) if rows else None

    async def add_page(self, library: Writable, page: StoredPage, now: int) -> bool:
        """False if the page is stored already."""
        values = {**asdict(page), **asdict(page.link), "now": now}
        return bool(await self._of(library, "insert_page", **values))

    async def links(self, account_id: int, run_id: str) -> Sequence[PageLink]:
        """The pages of the list of all saved posts, in the order of their numbers."""
        return _links(await self._read_slowly("links", account_id=account_id, run_id=run_id))

    async def links_within(self, library: Writable, run_id: str) -> Sequence[PageLink]:
        return _links(await self._of(library, "links", run_id=run_id))

    async def head(self, library: Readable, limit: int) -> Sequence[tuple[str, int]]:
        """The newest posts of the library, with their indexes."""
        rows = await self._of(library, "head", limit=limit)
        return [(post_id, sort_index) for post_id, sort_index in rows]

    async def sweep(
        self, library: Writable, *, pages_before: int, runs_before: int, most: int
    ) -> int:
        """Removes a few old pages and runs; returns how many."""
        values = {"before": pages_before, "most": most}
        pages = await self._of(library, "old_pages", **values)
        values["before"] = runs_before
        return len(pages) + len(await self._of(library, "old_runs", **values))


def _links(rows: Sequence[Any]) -> Sequence[PageLink]:
    return [
        PageLink(cursor_in, cursor_out, bool(ends), bool(readable), low, high, bool(caught_up))
        for cursor_in, cursor_out, ends, readable, low, high, caught_up in rows
    ]


def _file_import(row: Sequence[Any]) -> FileImport:
    first, is_dry_run, *rest = row
    return FileImport(first, bool(is_dry_run), *rest)


def _run(row: Sequence[Any]) -> IngestRun:
    run = IngestRun(*row)
    return msgspec.structs.replace(run, is_complete=bool(run.is_complete))


class Seen(NamedTuple):
    # The run that last saw the post in the list; "" if none did.
    run_id: str
    # When the source last said something about it.
    at: int


class SourcePostStore(Store):
    resource = "ingest"

    async def see(
        self, library: Writable, post_ids: Sequence[str], run: IngestRun, at: int
    ) -> None:
        """A run saw these posts in the list of all saved posts."""
        values = [
            {**run.user._asdict(), "post_id": post_id, "run_id": run.run_id, "at": at}
            for post_id in sorted(post_ids)
        ]
        if values:
            await self._do_many(library, "see_post", values)

    async def change(
        self, library: Writable, user: SourceUser, post_id: str, *, at: int, is_saved: bool
    ) -> None:
        values = {"post_id": post_id, "at": at, "removed_at": None if is_saved else at}
        await self._do(library, "change_post", **user._asdict(), **values)

    async def seen(
        self, library: Readable, user: SourceUser, post_ids: Sequence[str]
    ) -> dict[str, Seen]:
        """What the source last said about each of these posts."""
        rows = await self._of(library, "changes", **user._asdict(), post_ids=post_ids)
        return {post_id: Seen(seen_run, changed_at) for post_id, changed_at, seen_run in rows}

    async def at_indexes(self, library: Writable, indexes: Sequence[int]) -> list[str]:
        """The posts of the library that have these places."""
        found = []
        for index in indexes:
            found += [row[0] for row in await self._of(library, "posts_at", sort_index=index)]
        return found

    async def last_changes(self, library: Readable, post_ids: Sequence[str]) -> dict[str, int]:
        """When any source last said something about each of these posts."""
        rows = await self._of(library, "last_changes", post_ids=post_ids)
        return {post_id: changed_at for post_id, changed_at in rows}  # noqa: C416 - a row is no tuple

    async def missing(
        self, account_id: int, run: IngestRun, *, lowest: int, highest: int
    ) -> Sequence[str]:
        """Posts of this part of the list that earlier runs saw, and this one did not."""
        part = {"lowest": lowest, "highest": highest, "before": run.started_at}
        key = {**run.user._asdict(), "account_id": account_id, "run_id": run.run_id}
        return [row[0] for row in await self._read_slowly("candidates", **key, **part)]

    async def remove(
        self, library: Writable, post_ids: Sequence[str], run: IngestRun, at: int
    ) -> None:
        """Records that the posts are not saved at the source any more."""
        values = {"post_ids": post_ids, "run_id": run.run_id, "at": at}
        await self._do(library, "remove_posts", **run.user._asdict(), **values)

    async def note_gone(
        self, library: Writable, user: SourceUser, posts: Sequence[GonePost], at: int
    ) -> None:
        """The source lists these posts and does not show them. They must be noted as listed."""
        values = [{**user._asdict(), **post._asdict(), "at": at} for post in sorted(posts)]
        if values:
            await self._do_many(library, "gone_post", values)

    async def note_shown(self, library: Writable, post_ids: Sequence[str], at: int) -> None:
        values = {"post_ids": post_ids, "at": at}
        if post_ids:
            await self._do(library, "shown_posts", **values)

    async def hidden(self, library: Readable, post_ids: Sequence[str]) -> dict[str, HiddenPost]:
        """The posts, among the given ones, that their source lists but does not show."""
        values = {"post_ids": post_ids}
        return {
            post_id: HiddenPost(with_offset(gone_at), reason, sort_index)
            for post_id, gone_at, reason, sort_index in await self._of(library, "hidden", **values)
        }

    async def other_lists(
        self, account_id: int, user: SourceUser, post_ids: Sequence[str]
    ) -> dict[str, list[OtherList]]:
        """What lists of other accounts of a source say about these posts."""
        values = {**user._asdict(), "account_id": account_id, "post_ids": post_ids}
        found: dict[str, list[OtherList]] = {}
        for post_id, *owner, removed_at in await self._read("other_lists", **values):
            found.setdefault(post_id, []).append(OtherList(SourceUser(*owner), removed_at))
        return found

    async def removed(
        self, account_id: int, user: SourceUser, post_ids: Sequence[str]
    ) -> dict[str, int]:
        """The posts, among the given ones, that the user removed last, and when."""
        rows = await self._read(
            "removed", **user._asdict(), account_id=account_id, post_ids=post_ids
        )
        return {post_id: removed_at for post_id, removed_at in rows}  # noqa: C416 - a row is no tuple

    async def put_folders(self, library: Writable, names: Mapping[str, str]) -> int:
        """Stores the names of folders by their ids; returns how many folders are stored now."""
        values = [
            {"folder_id": folder_id, "name": name} for folder_id, name in sorted(names.items())
        ]
        await self._do_many(library, "put_folder", values)
        rows = await self._of(library, "count_folders")
        return int(rows[0][0])

    async def folder(self, account_id: int, folder_id: str) -> str:
        """The name of a folder, or "" if it is unknown."""
        rows = await self._read("folder", account_id=account_id, folder_id=folder_id)
        return rows[0][0] if rows else ""
