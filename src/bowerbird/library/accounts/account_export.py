"""Exports all data of an account as one JSON document.

The bookmarks have the format of the API, so that `bowerbird import` can read them. The trash and
the digests come after the bookmarks: an import stops at the end of the bookmarks, so deleted
bookmarks stay deleted.
"""

from collections.abc import AsyncIterator
from typing import Any, NamedTuple

import msgspec

from bowerbird.clock import date_of_day
from bowerbird.model.accounts import Account, Membership
from bowerbird.model.digests import Digest, Preferences
from bowerbird.model.instants import with_offset
from bowerbird.model.views import View
from bowerbird.storage.accounts.account_export import AccountExportStore
from bowerbird.storage.accounts.accounts import AccountStore
from bowerbird.storage.accounts.keys import KeyStore
from bowerbird.storage.database import Database, Row
from bowerbird.storage.digests.digests import DigestStore
from bowerbird.storage.views import ViewStore


class Piece(NamedTuple):
    """A part of the document, and the number of bookmarks in it."""

    data: bytes
    bookmarks: int


class AccountExports:
    def __init__(self, database: Database) -> None:
        self._store = AccountExportStore(database)
        self._accounts = AccountStore(database)
        self._keys = KeyStore(database)
        self._views = ViewStore(database)
        self._digests = DigestStore(database)

    async def pieces(self, account: Account) -> AsyncIterator[Piece]:
        head = msgspec.json.encode(await self._head(account))
        yield Piece(head[:-1] + b',"bookmarks":[\n', 0)
        separator = b""
        async for page in self._store.bookmarks(account):
            yield Piece(separator + b",\n".join(page), len(page))
            separator = b",\n"
        yield Piece(b'\n],"trash":[\n', 0)
        separator = b""
        async for rows in self._store.trash(account):
            yield Piece(separator + b",\n".join(_trashed(row) for row in rows), 0)
            separator = b",\n"
        yield Piece(b'\n],"digests":[\n', 0)
        separator = b""
        async for digests in self._digests.pages(account.account_id):
            yield Piece(separator + b",\n".join(map(_digest, digests)), 0)
            separator = b",\n"
        yield Piece(b"\n]}\n", 0)

    async def _head(self, account: Account) -> dict[str, Any]:
        membership = await self._accounts.membership(account.account_id)
        return {
            "account": membership and _account(membership),
            "keys": [
                {
                    "id": key.key_id,
                    "name": key.name,
                    "begins_with": key.shown,
                    "created_at": with_offset(key.created_at),
                    "last_used_on": _day(key.last_used_day),
                    "revoked_at": None if key.revoked_at is None else with_offset(key.revoked_at),
                }
                for key in await self._keys.all(account.account_id)
            ],
            "calls": [
                {"month": f"{month // 100:04d}-{month % 100:02d}", "calls": calls}
                for month, calls in await self._store.calls(account)
            ],
            "labels": [
                {
                    "id": str(label_id),
                    "label_name": name,
                    "metadata": msgspec.Raw(metadata.encode()),
                    "count": count,
                    "created_at": with_offset(created_at),
                }
                for label_id, name, metadata, count, created_at in await self._store.labels(account)
            ],
            "views": [_view(view) for view in await self._views.all(account.account_id)],
            "digest_preferences": _preferences(await self._digests.preferences(account.account_id)),
        }


def _day(day: int | None) -> str | None:
    return None if day is None else date_of_day(day).isoformat()


def _account(membership: Membership) -> dict[str, Any]:
    return {
        # A string, because many JSON parsers round integers above 53 bits.
        "id": str(membership.account_id),
        "email": membership.email,
        "plan": membership.plan,
        "created_at": with_offset(membership.created_at),
    }


def _view(view: View) -> dict[str, Any]:
    return {
        **msgspec.structs.asdict(view),
        "created_at": with_offset(view.created_at),
        "updated_at": with_offset(view.updated_at),
    }


def _preferences(preferences: Preferences) -> dict[str, Any]:
    return {
        "frequency": preferences.frequency,
        "time_zone": preferences.time_zone,
        "hour": preferences.hour,
        "mail": preferences.is_mailed,
    }


def _digest(digest: Digest) -> bytes:
    """The digest with the ids of its posts, which are in the exported bookmarks if they exist."""
    return msgspec.json.encode(
        {
            "digest_id": digest.digest_id,
            "time_zone": digest.time_zone,
            "made_at": with_offset(digest.made_at),
            "mail": digest.mailing.state,
            **msgspec.structs.asdict(digest.contents),
        }
    )


def _trashed(row: Row) -> bytes:
    post_id, trashed_at, bookmark = row
    return msgspec.json.encode(
        {
            "post_id": post_id,
            "deleted_at": with_offset(trashed_at),
            "bookmark": msgspec.Raw(bookmark),
        }
    )
