"""Lists the labels of an account."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec
from msgspec import Raw, Struct

from bowerbird import errors
from bowerbird.errors import Code, Refusal
from bowerbird.library.bookmarks import cursors
from bowerbird.model.accounts import Account
from bowerbird.model.labels import MAX_NAME_CHARACTERS, Label, name_key
from bowerbird.requests import limits
from bowerbird.requests.labels import LabelsQuery
from bowerbird.search.queries.spelling import nearest
from bowerbird.storage.database import Row
from bowerbird.storage.stores import Service

# Reading and encoding this many takes a few milliseconds on the event loop.
_FEW: Final = 1_000
_ALL: Final = 2**31 - 1
# Folding can make a name longer: three letters for one.
_LONGEST_KEY: Final = 3 * MAX_NAME_CHARACTERS
_encode: Final = msgspec.json.Encoder().encode


class LabelResponse(Struct, frozen=True):
    """A label as the API returns it."""

    id: str
    """Identifier of the label."""
    label_name: str
    metadata: dict[str, Any]
    """The account's own notes on the label."""
    count: int
    """Number of bookmarks with this label."""
    color: str | None
    """Colour on the website; null if none was chosen."""


class LabelPage(Struct, frozen=True):
    # The labels as JSON, joined by commas.
    body: bytes
    count: int
    limit: int
    total_count: int
    next_cursor: str | None


class LabelUse(Struct, frozen=True):
    label_name: str
    count: int


class FoundLabel(Struct, frozen=True):
    """A label for people to choose. `color` is None if nobody chose one."""

    label_id: str
    label_name: str
    count: int
    color: str | None


class FoundPage(Struct, frozen=True):
    labels: list[FoundLabel]
    total: int
    next_cursor: str | None


class _Encoded(Struct):
    """A label whose metadata is already JSON."""

    id: str
    label_name: str
    metadata: Raw
    count: int
    color: str | None


class LabelList(Service):
    async def all(self, account: Account) -> bytes:
        """Every label as JSON, by name, joined by commas.

        An account may have more labels than it can create today, so this has no limit.
        """
        rows = await self._stores.labels.page(account.account_id, "", _FEW + 1)
        if len(rows) <= _FEW:
            return _json(rows)
        rows = await self._stores.labels.long_page(account.account_id, "", _ALL)
        return await asyncio.to_thread(_json, rows)

    async def page(self, account: Account, query: LabelsQuery) -> LabelPage:
        place = cursors.query_of(account.account_id, "labels")
        limit = query.limit or limits.PAGE_DEFAULT
        after = _after(query.cursor, place) if query.cursor else ""
        rows = await self._stores.labels.page(account.account_id, after, limit + 1)
        shown = rows[:limit]
        has_more = len(rows) > limit
        return LabelPage(
            _json(shown),
            len(shown),
            limit,
            await self._stores.labels.count(account.account_id),
            cursors.write(cursors.Named(shown[-1][2]), place) if has_more else None,
        )

    async def uses(self, account: Account) -> tuple[list[LabelUse], int]:
        """The labels by name, or the most used ones if there are many; and how many there are."""
        rows = await self._stores.labels.page(account.account_id, "", _FEW + 1)
        total = len(rows)
        if total > _FEW:
            rows = await self._stores.labels.most_used(account.account_id, _FEW)
            total = await self._stores.labels.count(account.account_id)
        return [LabelUse(row[1], row[4]) for row in rows], total

    async def matching(self, account: Account, text: str, limit: int) -> list[FoundLabel]:
        """Labels whose name contains a text; the most used ones if the text is empty.

        The label of that name comes first, then those that start with the text, each group with
        the most used labels first. Names are compared as everywhere: case is ignored.
        """
        key = name_key(text)
        if not _can_match(key):
            return []
        return [
            _found(row)
            for row in await self._stores.labels.matching(account.account_id, key, limit)
        ]

    async def id_of(self, account: Account, name: str) -> str:
        """The id of the label with this name, or a refusal that names the nearest one."""
        key = name_key(name)
        found = await self._stores.labels.named(self._library(account.account_id), [key])
        if key in found:
            return str(found[key].label_id)
        meant = await self.nearest(account, name)
        hint = f" Did you mean {errors.shown(meant)}?" if meant else ""
        raise Refusal(Code.NOT_FOUND, f"No label {errors.shown(name)} on this account.{hint}")

    async def nearest(self, account: Account, name: str) -> str | None:
        """The name of the label that is spelled almost like this."""
        found, _ = await self.uses(account)
        names = {name_key(one.label_name): one.label_name for one in found}
        key = await asyncio.to_thread(nearest, name_key(name), names)
        return None if key is None else names[key]

    async def found_page(
        self, account: Account, text: str, cursor: str | None, limit: int
    ) -> FoundPage:
        """A page of the labels whose name contains a text, by name."""
        key = name_key(text)
        if not _can_match(key):
            return FoundPage([], 0, None)
        place = cursors.query_of(account.account_id, f"labels {key}")
        after = _after(cursor, place) if cursor else ""
        account_id = account.account_id
        rows = await self._stores.labels.matching_page(account_id, key, after, limit + 1)
        has_more = len(rows) > limit
        return FoundPage(
            [_found(row) for row in rows[:limit]],
            await self._stores.labels.count_matching(account_id, key),
            cursors.write(cursors.Named(rows[limit - 1][2]), place) if has_more else None,
        )

    async def colors(self, account: Account) -> Mapping[str, str]:
        """The colours that were chosen, by the name of the label."""
        rows = await self._stores.labels.colors(account.account_id)
        return {name: color for name, color in rows}  # noqa: C416 - rows are sequences


def to_response(label: Label) -> LabelResponse:
    return LabelResponse(
        id=str(label.label_id),
        label_name=label.name,
        metadata=msgspec.json.decode(label.metadata, type=dict[str, Any]),
        count=label.bookmark_count,
        color=label.color,
    )


def _json(rows: Sequence[Row]) -> bytes:
    return b",".join(
        [
            _encode(_Encoded(str(label_id), name, Raw(metadata.encode()), count, color))
            for label_id, name, _, metadata, count, _, color in rows
        ]
    )


def _found(row: Row) -> FoundLabel:
    return FoundLabel(str(row[0]), row[1], row[4], row[6])


def _can_match(key: str) -> bool:
    """No name is longer or has this character, which PostgreSQL rejects."""
    return len(key) <= _LONGEST_KEY and "\x00" not in key


def _after(cursor: str, place: bytes) -> str:
    name = cursors.read_as(cursors.Named, cursor, place).name
    # We never return such a cursor, but anyone can forge one, and PostgreSQL rejects the text.
    if "\x00" in name:
        raise cursors.refused(cursor)
    return name
