"""Finds a post of Bluesky that the library has under its other address.

Its address has the name of its author, or their id. Which id a name has only the network knows, so
both give posts of their own, unless the library knows name and id of the author.
"""

from collections.abc import Sequence
from typing import Final

import msgspec
from msgspec import Struct

from bowerbird.clock import MICROSECONDS
from bowerbird.model import networks
from bowerbird.model.accounts import Account
from bowerbird.model.filters import BookmarkFilter, Sort
from bowerbird.model.json_depth import cut
from bowerbird.model.networks import BLUESKY, NETWORKS
from bowerbird.requests.saving import ItemToSave
from bowerbird.storage.bookmarks.bookmarks import BookmarkStore
from bowerbird.storage.database import Database

# The key of a post has a time that is usually that of the post.
_APART: Final = 86_400 * MICROSECONDS
_LOOKED_AT: Final = 100
# By the index of the times: in another order, all posts would be looked at.
_BY_TIME: Final = Sort("posted_at")
_BITS: Final = networks.bits_of(BLUESKY)


class _Known(Struct, frozen=True):
    post_id: str
    author_id: str = ""
    author_username: str = ""
    source_id: str = ""


_decode: Final = msgspec.json.Decoder(_Known).decode


class TwoAddresses:
    def __init__(self, database: Database) -> None:
        self._store = BookmarkStore(database)

    async def known(
        self, account: Account, source_id: str, seen: dict[int, _Known] | None = None
    ) -> _Known | None:
        """The post of the library with another address of this one.

        `seen`: posts that need not be read again, by number. Those that are read are added.
        """
        seen = {} if seen is None else seen
        time_in_id = NETWORKS[BLUESKY].time_in_id
        posted_at = time_in_id(source_id) if time_in_id else None
        if posted_at is None:
            return None
        near = BookmarkFilter(
            unread_only=False,
            hide_archived=False,
            network_bits=_BITS,
            posted_from=posted_at - _APART,
            posted_to=posted_at + _APART,
        )
        numbers = await self._store.first(account, near, _LOOKED_AT, _BY_TIME)
        unseen = [number for number in numbers if number not in seen]
        found = await self._store.each(account, unseen) if unseen else {}
        seen.update((number, _decode(cut(body))) for number, body in found.items())
        posts = [seen[number] for number in numbers if number in seen]
        same = [one for one in posts if _is_same(one, source_id)]
        # A library may have both from before.
        return next((one for one in same if one.source_id == source_id), same[0] if same else None)

    async def settled(self, account: Account, items: Sequence[ItemToSave]) -> list[ItemToSave]:
        """The items, those with another address of a known post as that post."""
        # Posts may be long, and a list of links often has those of one day.
        seen: dict[int, _Known] = {}
        settled = list(items)
        for place, item in enumerate(items):
            found = item.found
            if found is None or found.own is not None or found.source != BLUESKY:
                continue
            if known := await self.known(account, found.source_id, seen):
                record = msgspec.structs.replace(found.record, post_id=known.post_id)
                same = msgspec.structs.replace(found, record=record, source_id=known.source_id)
                settled[place] = msgspec.structs.replace(item, found=same)
        return settled


def _is_same(known: _Known, source_id: str) -> bool:
    author, _, rest = source_id.removeprefix("at://").partition("/")
    theirs, _, their_rest = known.source_id.removeprefix("at://").partition("/")
    names = (theirs, known.author_id, known.author_username.lower())
    return rest == their_rest and author in names
