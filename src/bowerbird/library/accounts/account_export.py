"""Exports all data of an account as one JSON document, a few times per UTC day.

The bookmarks have the format of the API, so that `bowerbird import` can read them. Everything that
has ids of other posts comes after the bookmarks: an import stops at the end of the bookmarks, so
deleted bookmarks stay deleted.
"""

from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from typing import Any, Final, NamedTuple, TypeVar

import msgspec

from bowerbird.clock import Clock, date_of_day, day_of
from bowerbird.library.access import activity
from bowerbird.library.access.call_allowance import used_up
from bowerbird.library.imports.runs import RUNS_MAX
from bowerbird.library.rules.rules import shown as shown_rule
from bowerbird.model.accounts import Account, ActivityKind, Membership
from bowerbird.model.arrival import RunRow
from bowerbird.model.digests import Digest, Preferences
from bowerbird.model.instants import with_offset
from bowerbird.model.labels import Audience, Share
from bowerbird.model.posts.media import file_name
from bowerbird.requests import limits
from bowerbird.storage.database import Database, Row
from bowerbird.storage.files import Files
from bowerbird.storage.libraries import ACCOUNT_DOWNLOADS, DailyUseStore, LockedLibrary
from bowerbird.storage.stores import Service, TimedService

T = TypeVar("T")


class AccountDownload(TimedService):
    def __init__(self, database: Database, files: Files, clock: Clock) -> None:
        super().__init__(database, clock)
        self._exports = AccountExports(database, files)
        self._daily = DailyUseStore(database, ACCOUNT_DOWNLOADS)

    async def start(self, account: Account) -> AsyncIterator[bytes]:
        """The pieces of the file, which is never in memory as a whole."""
        account_id, most = account.account_id, limits.ACCOUNT_DOWNLOADS_PER_DAY
        entry = activity.entry(self._clock, ActivityKind.ACCOUNT_DOWNLOADED)

        async def work(library: LockedLibrary) -> None:
            used = await self._daily.add(library, day_of(self._clock()), uses=1)
            if used.uses > most:
                raise used_up(f"The account was downloaded {most} times", self._clock())
            await self._stores.activity.add(library, entry)

        await self._locked(account_id, work)
        return (piece.data async for piece in self._exports.pieces(account))


_LAST: Final = 2**63 - 1
_IMAGES_PER_PAGE: Final = 100


class Piece(NamedTuple):
    """A part of the document, and the number of bookmarks in it."""

    data: bytes
    bookmarks: int


class AccountExports(Service):
    def __init__(self, database: Database, files: Files) -> None:
        super().__init__(database)
        self._files = files

    async def pieces(self, account: Account) -> AsyncIterator[Piece]:
        head = msgspec.json.encode(await self._head(account))
        yield Piece(head[:-1] + b',"bookmarks":[\n', 0)
        separator = b""
        async for page in self._stores.account_exports.bookmarks(account):
            yield Piece(separator + b",\n".join(page), len(page))
            separator = b",\n"
        parts: dict[bytes, AsyncIterator[Iterable[bytes]]] = {
            b"trash": _each(_trashed, self._stores.account_exports.trash(account)),
            b"digests": _each(_digest, self._stores.digests.pages(account.account_id)),
            b"unavailable_posts": _each(
                _unavailable, self._stores.account_exports.unavailable(account)
            ),
            b"imports": self._runs(account.account_id),
            b"images": self._images(account.account_id),
        }
        for name, pages in parts.items():
            yield Piece(b'\n],"%b":[\n' % name, 0)
            separator = b""
            async for records in pages:
                yield Piece(separator + b",\n".join(records), 0)
                separator = b",\n"
        yield Piece(b"\n]}\n", 0)

    async def _runs(self, account_id: int) -> AsyncIterator[Iterable[bytes]]:
        yield map(_import, await self._stores.import_runs.page(account_id, _LAST, RUNS_MAX))

    async def _images(self, account_id: int) -> AsyncIterator[Iterable[bytes]]:
        """The kept images, with their content as base64."""
        async for page in self._stores.media.kept_pages(account_id, _IMAGES_PER_PAGE):
            for url, image in page:
                opened = await self._files.open(file_name(account_id, image.media_id), 0, 0)
                if opened is None:
                    continue
                content = b"".join([part async for part in opened.chunks])
                shown = {"url": url, "type": image.type}
                size = {"width": image.width, "height": image.height}
                yield [msgspec.json.encode({**shown, **size, "content": content})]

    async def _head(self, account: Account) -> dict[str, Any]:
        membership = await self._stores.accounts.membership(account.account_id)
        library = self._library(account.account_id)
        choice = await self._stores.accounts.removed_posts(library)
        reading = await self._stores.accounts.reading(library)
        labels = await self._stores.account_exports.labels(account)
        return {
            "account": membership
            and {**_account(membership), "removed_posts": choice, "reading": reading},
            "keys": [
                _fields(
                    *(key, "id=key_id", "name", "begins_with=shown", "created_at"),
                    *("last_used_on=last_used_day", "revoked_at"),
                )
                for key in await self._stores.keys.all(account.account_id)
            ],
            "devices": [
                _fields(
                    *(device, "id=device_id", "name", "source_user_id", "created_at"),
                    *("last_used_at", "revoked_at"),
                )
                for device in await self._stores.devices.all(account.account_id)
            ],
            # Without their tokens.
            "sources": [
                _fields(
                    *(source, "id=connection_id", "network", "server", "name", "source_user_id"),
                    *("created_at", "last_run_at"),
                )
                for source in await self._stores.connections.all(account.account_id)
            ],
            "calls": [
                {"month": f"{month // 100:04d}-{month % 100:02d}", "calls": calls}
                for month, calls in await self._stores.account_exports.calls(account)
            ],
            "labels": [
                {
                    "id": str(label_id),
                    "label_name": name,
                    "metadata": msgspec.Raw(metadata.encode()),
                    "count": count,
                    "created_at": with_offset(created_at),
                    "color": color,
                }
                for label_id, name, metadata, count, created_at, color in labels
            ],
            "views": [
                _fields(view, *view.__struct_fields__)
                for view in (await self._stores.views.all(library)).values()
            ],
            "rules": [
                msgspec.to_builtins(shown_rule(rule))
                for rule in await self._stores.rules.all(library)
            ],
            # Without their addresses, which open what they show.
            "shares": [
                _share(share) for share in await self._stores.shares.of_account(account.account_id)
            ],
            "digest_preferences": _preferences(
                await self._stores.digests.preferences(account.account_id)
            ),
        }


async def _each(
    shown: Callable[[T], bytes], pages: AsyncIterator[Sequence[T]]
) -> AsyncIterator[Iterable[bytes]]:
    async for rows in pages:
        yield map(shown, rows)


def _fields(record: Any, *names: str) -> dict[str, Any]:
    """These fields of a record; `id=key_id` gives one another name. Times have an offset."""
    pairs = [name.partition("=") for name in names]
    return {
        shown: _shown(name or shown, getattr(record, name or shown)) for shown, _, name in pairs
    }


def _shown(name: str, value: Any) -> Any:
    if value is not None and name.endswith("_at"):
        return with_offset(value)
    if value is not None and name.endswith("_day"):
        return date_of_day(value).isoformat()
    return value


def _account(membership: Membership) -> dict[str, Any]:
    # A string, because many JSON parsers round integers above 53 bits.
    id = str(membership.account_id)
    return {"id": id, **_fields(membership, "email", "plan", "created_at")}


def _share(share: Share) -> dict[str, Any]:
    return {
        **_fields(share, "id=share_id", "audience"),
        "name": share.address if share.audience is Audience.PUBLIC else None,
        **_fields(share, "kind", "target", "is_on"),
        "ends_at": with_offset(share.ends_at) if share.ends_at else None,
        **msgspec.structs.asdict(share.choices),
        **_fields(share, "created_at", "updated_at"),
    }


def _preferences(preferences: Preferences) -> dict[str, Any]:
    names = ("frequency", "time_zone", "hour", "mail=is_mailed", "highlight=has_highlight")
    return _fields(preferences, *names)


def _digest(digest: Digest) -> bytes:
    """The digest with the ids of its posts, which are in the exported bookmarks if they exist."""
    head = _fields(digest, "digest_id", "time_zone", "made_at")
    contents = msgspec.structs.asdict(digest.contents)
    return msgspec.json.encode({**head, "mail": digest.mailing.state, **contents})


def _trashed(row: Row) -> bytes:
    post_id, trashed_at, bookmark = row
    shown = {"post_id": post_id, "deleted_at": with_offset(trashed_at)}
    return msgspec.json.encode({**shown, "bookmark": msgspec.Raw(bookmark)})


def _unavailable(row: Row) -> bytes:
    post_id, gone_at, reason, sort_index = row
    return msgspec.json.encode(
        {
            "post_id": post_id,
            "gone_at": with_offset(gone_at),
            "gone_reason": reason,
            "sort_index": sort_index,
        }
    )


def _import(run: RunRow) -> bytes:
    names = ("run_id", "source", "kind", "client", "source_user_id", "state", "reason")
    more = ("started_at", "finished_at", "counts", "undone")
    return msgspec.json.encode(_fields(run, *names, *more))
