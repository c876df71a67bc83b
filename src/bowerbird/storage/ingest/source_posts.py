"""Stores what a source said about posts: still saved there, or removed, and in which folder."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from bowerbird.model.arrival.ingest import GonePost, HiddenPost, IngestRun, OtherList, SourceUser
from bowerbird.model.instants import with_offset
from bowerbird.storage.database import Reader, Store, Transaction


class Seen(NamedTuple):
    # The run that last saw the post in the list; "" if none did.
    run_id: str
    # When the source last said something about it.
    at: int


class SourcePostStore(Store):
    resource = "ingest"

    async def see(
        self,
        transaction: Transaction,
        account_id: int,
        post_ids: Sequence[str],
        run: IngestRun,
        at: int,
    ) -> None:
        """A run saw these posts in the list of all saved posts."""
        values = [
            {**_key(account_id, run.user), "post_id": post_id, "run_id": run.run_id, "at": at}
            for post_id in sorted(post_ids)
        ]
        if values:
            await transaction.run_many(self._sql["see_post"], values)

    async def change(
        self,
        transaction: Transaction,
        account_id: int,
        user: SourceUser,
        post_id: str,
        *,
        at: int,
        is_saved: bool,
    ) -> None:
        values = {"post_id": post_id, "at": at, "removed_at": None if is_saved else at}
        await self._run(transaction, "change_post", **_key(account_id, user), **values)

    async def seen(
        self, reader: Reader, account_id: int, user: SourceUser, post_ids: Sequence[str]
    ) -> dict[str, Seen]:
        """What the source last said about each of these posts."""
        rows = await self._rows(reader, "changes", **_key(account_id, user), post_ids=post_ids)
        return {post_id: Seen(seen_run, changed_at) for post_id, changed_at, seen_run in rows}

    async def at_indexes(
        self, transaction: Transaction, account_id: int, indexes: Sequence[int]
    ) -> list[str]:
        """The posts of the library that have these places."""
        found = []
        for index in indexes:
            values = {"account_id": account_id, "sort_index": index}
            found += [row[0] for row in await transaction.rows(self._sql["posts_at"], values)]
        return found

    async def last_changes(
        self, reader: Reader, account_id: int, post_ids: Sequence[str]
    ) -> dict[str, int]:
        """When any source last said something about each of these posts."""
        rows = await self._rows(reader, "last_changes", account_id=account_id, post_ids=post_ids)
        return {post_id: changed_at for post_id, changed_at in rows}  # noqa: C416 - a row is no tuple

    async def missing(
        self, account_id: int, run: IngestRun, *, lowest: int, highest: int
    ) -> Sequence[str]:
        """Posts of this part of the list that earlier runs saw, and this one did not."""
        part = {"lowest": lowest, "highest": highest, "before": run.started_at}
        key = {**_key(account_id, run.user), "run_id": run.run_id}
        return [row[0] for row in await self._read_slowly("candidates", **key, **part)]

    async def remove(
        self,
        transaction: Transaction,
        account_id: int,
        post_ids: Sequence[str],
        run: IngestRun,
        at: int,
    ) -> None:
        """Records that the posts are not saved at the source any more."""
        values = {"post_ids": post_ids, "run_id": run.run_id, "at": at}
        await self._run(transaction, "remove_posts", **_key(account_id, run.user), **values)

    async def note_gone(
        self,
        transaction: Transaction,
        account_id: int,
        user: SourceUser,
        posts: Sequence[GonePost],
        at: int,
    ) -> None:
        """The source lists these posts and does not show them. They must be noted as listed."""
        values = [{**_key(account_id, user), **post._asdict(), "at": at} for post in sorted(posts)]
        if values:
            await transaction.run_many(self._sql["gone_post"], values)

    async def note_shown(
        self, transaction: Transaction, account_id: int, post_ids: Sequence[str], at: int
    ) -> None:
        values = {"account_id": account_id, "post_ids": post_ids, "at": at}
        if post_ids:
            await self._run(transaction, "shown_posts", **values)

    async def hidden(
        self, reader: Reader, account_id: int, post_ids: Sequence[str]
    ) -> dict[str, HiddenPost]:
        """The posts, among the given ones, that their source lists but does not show."""
        values = {"account_id": account_id, "post_ids": post_ids}
        return {
            post_id: HiddenPost(with_offset(gone_at), reason, sort_index)
            for post_id, gone_at, reason, sort_index in await self._rows(reader, "hidden", **values)
        }

    async def other_lists(
        self, account_id: int, user: SourceUser, post_ids: Sequence[str]
    ) -> dict[str, list[OtherList]]:
        """What lists of other accounts of a source say about these posts."""
        values = {**_key(account_id, user), "post_ids": post_ids}
        found: dict[str, list[OtherList]] = {}
        for post_id, *owner, removed_at in await self._read("other_lists", **values):
            found.setdefault(post_id, []).append(OtherList(SourceUser(*owner), removed_at))
        return found

    async def removed(
        self, account_id: int, user: SourceUser, post_ids: Sequence[str]
    ) -> dict[str, int]:
        """The posts, among the given ones, that the user removed last, and when."""
        rows = await self._read("removed", **_key(account_id, user), post_ids=post_ids)
        return {post_id: removed_at for post_id, removed_at in rows}  # noqa: C416 - a row is no tuple

    async def put_folders(
        self, transaction: Transaction, account_id: int, names: Mapping[str, str]
    ) -> int:
        """Stores the names of folders by their ids; returns how many folders are stored now."""
        values = [
            {"account_id": account_id, "folder_id": folder_id, "name": name}
            for folder_id, name in sorted(names.items())
        ]
        await transaction.run_many(self._sql["put_folder"], values)
        rows = await self._rows(transaction, "count_folders", account_id=account_id)
        return int(rows[0][0])

    async def folder(self, account_id: int, folder_id: str) -> str:
        """The name of a folder, or "" if it is unknown."""
        rows = await self._read("folder", account_id=account_id, folder_id=folder_id)
        return rows[0][0] if rows else ""


def _key(account_id: int, user: SourceUser) -> dict[str, Any]:
    return {"account_id": account_id, "source": user.source, "source_user_id": user.source_user_id}
