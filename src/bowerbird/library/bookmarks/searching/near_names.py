"""The label or author that was probably meant by a name that the library does not have."""

import asyncio
from collections.abc import Iterable
from typing import Final

from bowerbird.library.bookmarks.authors import Authors
from bowerbird.model.accounts import Account
from bowerbird.model.labels import name_key
from bowerbird.search.queries.spelling import nearest
from bowerbird.storage.database import Database
from bowerbird.storage.labels import LabelStore

# Shorter names occur inside too many others.
_SHORTEST_PART: Final = 2


class NearNames:
    def __init__(self, database: Database) -> None:
        self._labels = LabelStore(database)
        self._authors = Authors(database)

    async def label(self, account: Account, text: str) -> str | None:
        """Another label that posts have: spelled almost the same, or part of the name."""
        rows = await self._labels.names(account.account_id)
        names = {name_key(name): name for _, name in rows}
        # On a thread: there may be thousands of names.
        found = await asyncio.to_thread(_nearest, name_key(text), names)
        return None if found is None else names[found]

    async def author(self, account: Account, text: str) -> str | None:
        """The handle of an author whose handle or name is spelled almost the same."""
        found = await self._authors.nearest(account, text)
        if found is None:
            found = next(iter(await self._authors.matching(account, text, 1)), None)
        return None if found is None else found.handle


def _nearest(key: str, names: Iterable[str]) -> str | None:
    others = [name for name in names if name != key]
    parts = [name for name in others if _is_part(key, name) or _is_part(name, key)]
    return nearest(key, others) or min(parts, key=lambda name: (len(name), name), default=None)


def _is_part(part: str, whole: str) -> bool:
    return len(part) >= _SHORTEST_PART and f" {part} " in f" {whole} "
