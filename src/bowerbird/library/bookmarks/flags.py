"""Read and archive state of bookmarks. Flags is open to every plan."""

from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct

from bowerbird import errors
from bowerbird.clock import Clock
from bowerbird.library.access import bodies
from bowerbird.library.access.bodies import Body
from bowerbird.library.bookmarks.changeset import Changesets
from bowerbird.model.accounts import Account
from bowerbird.storage.bookmarks.bookmarks import BookmarkStore
from bowerbird.storage.database import Database, Transaction

_FLAGS: Final = ("is_read", "is_archived")


class BookmarkState(Struct, frozen=True):
    post_id: str
    is_read: bool
    is_archived: bool


class Marked(Struct, frozen=True):
    posts: list[BookmarkState]
    affected: int
    not_found: list[str]


class Flags:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._changesets = Changesets(database)
        self._bookmarks = BookmarkStore(database)
        self._clock = clock

    async def update(self, transaction: Transaction, account: Account, body: Body) -> Marked:
        """Marks many bookmarks at once."""
        fields = bodies.as_object(body())
        bodies.only(fields, ("tweet_ids", *_FLAGS))
        flags = _flags(fields)
        return await self._mark(transaction, account, bodies.post_ids(fields), flags)

    async def update_one(
        self, transaction: Transaction, account: Account, post_id: str, body: Body
    ) -> bytes:
        """The bookmark as it is afterwards, as ready JSON."""
        fields = bodies.as_object(body())
        bodies.only(fields, _FLAGS)
        await self._mark(transaction, account, [post_id], _flags(fields))
        found = await self._bookmarks.by_post_id_within(transaction, account, post_id)
        assert found is not None
        return found

    async def _mark(
        self,
        transaction: Transaction,
        account: Account,
        post_ids: list[str],
        flags: dict[str, bool | None],
    ) -> Marked:
        changeset = await self._changesets.open(transaction, account.account_id, names=())
        await changeset.load(post_ids)
        posts = [post for post_id in post_ids if (post := changeset.post(post_id)) is not None]
        if not posts:
            raise errors.not_found("bookmark", ", ".join(post_ids[:3]))
        affected = sum(changeset.set_flags(post, **flags) for post in posts)
        await changeset.finish(self._clock())
        return Marked(
            [BookmarkState(post.post_id, post.is_read, post.is_archived) for post in posts],
            affected,
            [post_id for post_id in post_ids if changeset.post(post_id) is None],
        )


def _flags(fields: Mapping[str, Any]) -> dict[str, bool | None]:
    flags = {name: bodies.flag(fields, name) for name in _FLAGS}
    if all(value is None for value in flags.values()):
        raise errors.invalid("is_read", "or is_archived must be given")
    return flags
