"""Reads and writes labels, which bookmark has which label, Smart Views, and what accounts share."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from bowerbird.model.labels import (
    Audience,
    Bucket,
    Choices,
    Label,
    Query,
    Share,
    Shared,
    View,
    ViewSort,
)
from bowerbird.storage.database import Database, Readable, Row, Store, Transaction, Writable
from bowerbird.storage.libraries import LockedLibrary

_choices = msgspec.json.Decoder(Choices).decode
_query = msgspec.json.Decoder(Query).decode
_sort = msgspec.json.Decoder(ViewSort | None).decode
_buckets = msgspec.json.Decoder(list[Bucket]).decode


class ShareStore(Store):
    resource = "shares"

    def generation(self) -> int | None:
        """Changes with every commit; None if the database cannot tell."""
        return self._database.generation()

    async def by_address(self, address: str) -> Share | None:
        rows = await self._read("by_address", address=address)
        return _share(rows[0]) if rows else None

    async def of_account(self, account_id: int) -> list[Share]:
        return [_share(row) for row in await self._read("of_account", account_id=account_id)]

    async def by_id(self, library: Readable, share_id: str) -> Share | None:
        rows = await self._of(library, "by_id", share_id=share_id)
        return _share(rows[0]) if rows else None

    async def count(self, library: Readable) -> int:
        return int((await self._of(library, "count"))[0][0])

    async def page(self, before: tuple[int, str], limit: int) -> Sequence[Share]:
        """Of all accounts: the newest before this time and id."""
        created_at, share_id = before
        values = {"created_at": created_at, "share_id": share_id, "limit": limit}
        return [_share(row) for row in await self._read("page", **values)]

    async def insert(self, transaction: Transaction, share: Share) -> bool:
        """False if the address is taken."""
        return bool(await self._rows(transaction, "insert", **_values(share)))

    async def claim(self, transaction: Transaction, share: Share) -> bool:
        """Holds a new address of a share until the transaction ends. False if it is taken.

        An update alone would fail if two shares got the same address at the same time.
        """
        held = msgspec.structs.replace(share, share_id=f"{share.share_id} claim")
        is_free = await self.insert(transaction, held)
        await self.delete(Writable(transaction, held.account_id), held.share_id)
        return is_free

    async def update(self, transaction: Transaction, share: Share) -> None:
        await self._run(transaction, "update", **_values(share))

    async def stop(
        self, transaction: Transaction, share_id: str, now: int, *, is_stopped: bool
    ) -> tuple[int, Choices] | None:
        """The account and the choices of the share; None if there is none with this id."""
        values = {"share_id": share_id, "is_stopped": is_stopped, "now": now}
        rows = await self._rows(transaction, "stop", **values)
        return (rows[0][0], _choices(rows[0][1])) if rows else None

    async def delete(self, library: Writable, share_id: str) -> None:
        await self._do(library, "delete", share_id=share_id)

    async def end(self, library: Writable, kind: Shared, target: str) -> None:
        """Ends the sharing of what is being deleted."""
        await self._do(library, "end", kind=kind, target=target)


def _values(share: Share) -> dict[str, Any]:
    choices = msgspec.json.encode(share.choices).decode()
    return {**msgspec.structs.asdict(share), "choices": choices}


def _share(row: Row) -> Share:
    share_id, account_id, address, audience, kind, target, is_on, is_stopped, *rest = row
    ends_at, choices, revision, created_at, updated_at = rest
    return Share(
        share_id=share_id,
        account_id=account_id,
        address=address,
        audience=Audience(audience),
        kind=Shared(kind),
        target=target,
        is_on=bool(is_on),
        is_stopped=bool(is_stopped),
        ends_at=ends_at,
        choices=_choices(choices),
        revision=revision,
        created_at=created_at,
        updated_at=updated_at,
    )


# About 200 labels of a bookmark.
REFUSED_CHARACTERS: Final = 1_000


class LabelStore(Store):
    resource = "labels"

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._shares = ShareStore(database)

    async def page(self, account_id: int, after: str, limit: int) -> Sequence[Row]:
        """The fields of some labels, by folded name. For a small limit."""
        return await self._read("page", account_id=account_id, after=after, limit=limit)

    async def long_page(self, account_id: int, after: str, limit: int) -> Sequence[Row]:
        return await self._read_slowly("page", account_id=account_id, after=after, limit=limit)

    async def names(self, account_id: int) -> Sequence[Row]:
        """The id and the name of every label that some bookmark has."""
        return await self._database.slow_rows(self._sql["names"], {"account_id": account_id})

    async def most_used(self, account_id: int, limit: int) -> Sequence[Row]:
        return await self._read_slowly("most_used", account_id=account_id, limit=limit)

    async def matching(self, account_id: int, text: str, limit: int) -> Sequence[Row]:
        """The labels whose folded name contains a folded text, the best match first."""
        return await self._read_slowly("matching", account_id=account_id, text=text, limit=limit)

    async def matching_page(
        self, account_id: int, text: str, after: str, limit: int
    ) -> Sequence[Row]:
        """A page of the labels whose folded name contains a folded text, by folded name."""
        values = {"account_id": account_id, "text": text, "after": after, "limit": limit}
        return await self._read_slowly("matching_page", **values)

    async def count_matching(self, account_id: int, text: str) -> int:
        values = {"account_id": account_id, "text": text}
        return int((await self._read_slowly("total_matching", **values))[0][0])

    async def colors(self, account_id: int) -> Sequence[Row]:
        """(name, colour) of each label whose colour was chosen."""
        return await self._database.rows(self._sql["colors"], {"account_id": account_id})

    async def count(self, account_id: int) -> int:
        rows = await self._database.slow_rows(self._sql["total"], {"account_id": account_id})
        return int(rows[0][0])

    async def count_within(self, library: LockedLibrary) -> int:
        return int((await self._of(library, "total"))[0][0])

    async def by_id(self, library: Readable, label_id: int) -> Label | None:
        rows = await self._of(library, "by_id", label_id=label_id)
        return Label(*rows[0]) if rows else None

    async def created_at(self, library: LockedLibrary, label_id: int) -> int:
        return int((await self._of(library, "created_at", label_id=label_id))[0][0])

    async def changed_at(self, library: Readable, label_id: int) -> int:
        """When the label was last changed itself; 0 if it is not there any more."""
        rows = await self._of(library, "changed_at", label_id=label_id)
        return int(rows[0][0]) if rows else 0

    async def by_ids(self, library: LockedLibrary, label_ids: Sequence[int]) -> dict[int, Label]:
        rows = await self._of(library, "by_ids", label_ids=label_ids)
        return {row[0]: Label(*row) for row in rows}

    async def being_renamed(self, library: Writable) -> Label | None:
        """The label whose rename has not reached all its posts yet, if any."""
        rows = await self._of(library, "being_renamed")
        return Label(*rows[0]) if rows else None

    async def named(self, library: Readable, name_keys: Sequence[str]) -> dict[str, Label]:
        """The labels that exist among these folded names, keyed by folded name."""
        rows = await self._of(library, "named", name_keys=name_keys)
        return {row[2]: Label(*row) for row in rows}

    async def newest_pairs(self, account_id: int, limit: int) -> tuple[str, str]:
        """(numbers, label ids) of the newest labelled bookmarks: as texts, which are faster."""
        values = {"account_id": account_id, "limit": limit}
        numbers, label_ids = (await self._read_slowly("newest_pairs", **values))[0]
        return numbers or "", label_ids or ""

    async def asked(self, account_id: int, post_ids: Sequence[str]) -> Sequence[Row]:
        """(post id, number, key of the author, refused labels) of those posts that exist."""
        return await self._read("asked", account_id=account_id, post_ids=post_ids)

    async def by_authors(
        self, account_id: int, authors: Sequence[str], first: int
    ) -> dict[str, str]:
        """The numbers of the bookmarks of each author, from `first` on, as a text."""
        values = {"account_id": account_id, "authors": authors, "first": first}
        rows = await self._read_slowly("by_authors", **values)
        return {author: numbers for author, numbers in rows}  # noqa: C416 - rows are sequences

    async def refuse(self, library: LockedLibrary, label_id: int, numbers: Sequence[int]) -> bool:
        """Notes that a label is not suggested for bookmarks. False if it was not already.

        A bookmark with too many forgets all earlier ones.
        """
        values = {"numbers": numbers, "mark": f",{label_id},", "most": REFUSED_CHARACTERS}
        return bool(await self._of(library, "refuse", **values))

    async def insert(self, library: LockedLibrary, labels: Sequence[Label], now: int) -> None:
        rows = [{**_row(label), "created_at": now} for label in labels]
        await self._do_many(library, "insert", rows)

    async def update(self, library: LockedLibrary, label: Label, now: int | None = None) -> None:
        """Without `now`, it counts as unchanged."""
        await self._do(library, "update", **_row(label), now=now)

    async def delete(self, library: LockedLibrary, label: Label) -> None:
        """Its sharing ends with it."""
        await self._do(library, "delete", **_row(label))
        label_id = str(label.label_id)
        await self._shares.end(library, Shared.LABEL, label_id)

    async def detach_all(self, library: LockedLibrary, numbers: Sequence[int]) -> None:
        """Removes all labels of bookmarks."""
        rows = [{"number": number} for number in numbers]
        await self._do_many(library, "uncount_all", rows)
        await self._do_many(library, "detach_all", rows)

    async def relabel(
        self,
        library: LockedLibrary,
        attached: Sequence[tuple[int, int]],
        detached: Sequence[tuple[int, int]],
    ) -> None:
        """Adds and removes (label id, bookmark number) pairs, and keeps each label's count."""
        changes: dict[int, int] = {}
        for name, pairs, step in (("attach", attached, 1), ("detach", detached, -1)):
            rows = [{"label_id": label_id, "number": number} for label_id, number in pairs]
            await self._do_many(library, name, rows)
            for label_id, _ in pairs:
                changes[label_id] = changes.get(label_id, 0) + step
        counts = [{"label_id": one, "change": by} for one, by in sorted(changes.items()) if by]
        await self._do_many(library, "count", counts)


def _row(label: Label) -> dict[str, Any]:
    return {
        "label_id": label.label_id,
        "name": label.name,
        "name_key": label.name_key,
        "metadata": label.metadata,
        "former_name": label.former_name,
        "color": label.color,
    }


class ViewStore(Store):
    resource = "views"

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._shares = ShareStore(database)

    async def pinned(self, account_id: int, limit: int) -> list[View]:
        values = {"account_id": account_id, "limit": limit}
        return [_view(row) for row in await self._read("pinned", **values)]

    async def by_slug(self, library: Readable, slug: str) -> View | None:
        rows = await self._of(library, "by_slug", slug=slug)
        return _view(rows[0]) if rows else None

    async def all(self, library: Readable) -> dict[str, View]:
        """Every view by its slug, in the order of the list."""
        rows = await self._of(library, "all")
        return {row[0]: _view(row) for row in rows}

    async def put(self, library: LockedLibrary, view: View) -> None:
        values = msgspec.structs.asdict(view)
        for name in ("base_query", "default_sort", "triage_buckets"):
            values[name] = msgspec.json.encode(values[name]).decode()
        await self._do(library, "put", **values)

    async def place(self, library: LockedLibrary, positions: Mapping[str, int]) -> None:
        """Moves views, by slug, to other places of the list."""
        places = [{"slug": slug, "position": place} for slug, place in positions.items()]
        await self._do_many(library, "place", places)

    async def delete(self, library: LockedLibrary, slug: str) -> None:
        """Its sharing ends with it."""
        await self._do(library, "delete", slug=slug)
        await self._shares.end(library, Shared.VIEW, slug)


def _view(row: Row) -> View:
    slug, name, description, base_query, default_sort, buckets, *rest = row
    created_at, updated_at, position, is_pinned = rest
    return View(
        slug=slug,
        name=name,
        description=description,
        base_query=_query(base_query),
        default_sort=_sort(default_sort),
        triage_buckets=_buckets(buckets),
        created_at=created_at,
        updated_at=updated_at,
        position=position,
        is_pinned=bool(is_pinned),
    )
