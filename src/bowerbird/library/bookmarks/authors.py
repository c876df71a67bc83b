"""Authors and labels of saved posts, for people who type the start of a name or misspell it."""

import asyncio
from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import Struct

from bowerbird.library.bookmarks.searching.post_texts import texts_of
from bowerbird.model.accounts import Account
from bowerbird.model.labels import name_key
from bowerbird.model.words import order_key
from bowerbird.requests.limits import AUTHORS_COMPARED
from bowerbird.search.queries.spelling import nearest
from bowerbird.storage.database import Database, Row
from bowerbird.storage.stores import Service

# A misspelled name is looked for among those that start with the same letters.
_SAME_LETTERS: Final = 2


class FoundAuthor(Struct, frozen=True):
    handle: str
    name: str


class Authors(Service):
    async def matching(self, account: Account, text: str, limit: int) -> list[FoundAuthor]:
        """Authors whose handle or name starts with a text, in the order of their handles."""
        key = _key(text)
        if not key:
            return []
        account_id = account.account_id
        by_handle = await self._stores.authors.by_handle(account_id, key, limit)
        by_name: Sequence[Row] = ()
        if len(by_handle) < limit and not text.startswith("@"):
            by_name = await self._stores.authors.by_name(account_id, key, limit)
        found = await self._of(account, [number for _, number in (*by_handle, *by_name)])
        return found[:limit]

    async def nearest(self, account: Account, text: str) -> FoundAuthor | None:
        """The author whose handle or name is spelled almost like a text."""
        key = _key(text)
        if len(key) <= _SAME_LETTERS:
            return None
        for find in (self._stores.authors.by_handle, self._stores.authors.by_name):
            rows = await find(account.account_id, key[:_SAME_LETTERS], AUTHORS_COMPARED)
            numbers = {name: number for name, number in rows}  # noqa: C416 - rows are sequences
            if (name := await asyncio.to_thread(nearest, key, numbers)) is not None:
                return next(iter(await self._of(account, [numbers[name]])), None)
        return None

    async def _of(self, account: Account, numbers: Sequence[int]) -> list[FoundAuthor]:
        """The authors of these posts, each once."""
        numbers = list(dict.fromkeys(numbers))
        stored = await self._stores.bookmarks.each(account, numbers)
        posts = [texts_of(stored[one]) for one in numbers if one in stored]
        found = {
            order_key(post.author_username): FoundAuthor(
                post.author_username, post.author_details.name
            )
            for post in posts
            if post.author_username
        }
        return list(found.values())


def _key(text: str) -> str:
    # PostgreSQL rejects the character, and no name has it.
    return "" if "\x00" in text else order_key(text.removeprefix("@"))


# Shorter names occur inside too many others.
_SHORTEST_PART: Final = 2


class NearNames(Service):
    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._authors = Authors(database)

    async def label(self, account: Account, text: str) -> str | None:
        """Another label that posts have: spelled almost the same, or part of the name."""
        rows = await self._stores.labels.names(account.account_id)
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
