"""Undoes a change on posts that were deleted since: they stay in the trash, and return without it.

The trash has each post as JSON, with its flags and the names of its labels.
"""

from bisect import insort
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec
from msgspec import Raw, Struct

from bowerbird.clock import Clock
from bowerbird.library.bookmarks.writing.trash_batch import KEPT
from bowerbird.model import json_depth
from bowerbird.model.bookmarks import tags_json
from bowerbird.model.bulk import PostField
from bowerbird.model.labels import name_key
from bowerbird.storage.bookmarks.trash import TrashStore
from bowerbird.storage.database import Database, Transaction

_FLAGS: Final[dict[int, str]] = {PostField.READ: "is_read", PostField.ARCHIVED: "is_archived"}
_TAGS: Final = "tags"
_encode: Final = msgspec.json.Encoder().encode
_members: Final = msgspec.json.Decoder(dict[str, Raw]).decode
_names: Final = msgspec.json.Decoder(list[str] | None).decode


class GivenBack(Struct, frozen=True):
    """A flag or label of a post as it was before the change."""

    field: int
    is_set: bool
    # The present name of the label first, then others that the trash may have.
    names: Sequence[str] = ()


class TrashedPosts:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._store = TrashStore(database)
        self._clock = clock

    async def give_back(
        self,
        transaction: Transaction,
        account_id: int,
        fields: Mapping[str, Sequence[GivenBack]],
    ) -> int:
        """How many of these posts are in the trash and were changed there."""
        if not fields:
            return 0
        oldest = self._clock() - KEPT
        found = await self._store.within(transaction, account_id, list(fields), oldest)
        changed = [
            one._replace(bookmark=bookmark)
            for one in found
            if (bookmark := edited(one.bookmark, fields[one.post_id])) is not None
        ]
        await self._store.put(transaction, account_id, changed)
        return len(changed)


def edited(bookmark: bytes, fields: Sequence[GivenBack]) -> bytes | None:
    """The JSON of a post with these fields; None if it already has them."""
    before = _members(json_depth.cut(bookmark))
    after = dict(before)
    for one in fields:
        if one.field in _FLAGS:
            after[_FLAGS[one.field]] = Raw(_encode(one.is_set))
        else:
            after[_TAGS] = Raw(_labelled(after.get(_TAGS, Raw(b"null")), one))
    has_changed = any(bytes(after[name]) != bytes(before.get(name, b"")) for name in after)
    return _encode(after) if has_changed else None


def _labelled(tags: Raw, one: GivenBack) -> bytes:
    names = _names(tags) or []
    keys = {name_key(name) for name in one.names}
    has_label = any(name_key(name) in keys for name in names)
    if has_label is one.is_set or not one.names:
        return bytes(tags)
    if one.is_set:
        insort(names, one.names[0], key=name_key)
    else:
        names = [name for name in names if name_key(name) not in keys]
    return tags_json(names) or b"null"
