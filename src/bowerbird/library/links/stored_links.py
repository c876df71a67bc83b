"""The links of a library whose text is due, and the addresses of their posts."""

from collections.abc import Sequence

import msgspec
from msgspec import Struct

from bowerbird.clock import Clock
from bowerbird.connections.published.networks import endpoint_of
from bowerbird.connections.published.records import Endpoint
from bowerbird.library.access.turns import lock_library
from bowerbird.model.accounts import Account
from bowerbird.model.imports import Completeness
from bowerbird.model.links import DueLink
from bowerbird.sources.post_links import PostLink, parse_fediverse, x_post
from bowerbird.storage.bookmarks.upsert import StoredPost, UpsertStore
from bowerbird.storage.database import Database, Transaction, place_of
from bowerbird.storage.libraries import LibraryStore
from bowerbird.storage.links import LinkStore

PER_TRANSACTION = 500
# More than a round reads.
_DUE = 150


class StoredLinks:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._store = LinkStore(database)
        self._posts = UpsertStore(database)
        self._libraries = LibraryStore(database)

    async def sort(self, account: Account) -> None:
        """Finds out which hosts have the posts of new links."""
        while due := await self._store.due(account.account_id, "", self._clock(), PER_TRANSACTION):
            links = await self._links(account, due)
            hosts = [
                (post_id, endpoint.host if (endpoint := endpoint_of(link)) else "")
                for post_id, link in links.items()
                if link is not None
            ]
            await self._write(account.account_id, due, hosts, links)

    async def due(
        self, account: Account, host: str
    ) -> tuple[dict[str, DueLink], list[tuple[Endpoint, PostLink]]]:
        """The links of a host, the newest first."""
        due = await self._store.due(account.account_id, host, self._clock(), _DUE)
        links = await self._links(account, due)
        endpoints = {one: endpoint_of(link) for one, link in links.items() if link is not None}
        # A later source may have given a post another address.
        moved = [
            (one, "" if endpoint is None else endpoint.host)
            for one, endpoint in endpoints.items()
            if endpoint is None or endpoint.host != host
        ]
        await self._write(account.account_id, due, moved, links)
        found = [
            (endpoint, link)
            for one, link in links.items()
            if link is not None and (endpoint := endpoints[one]) and endpoint.host == host
        ]
        return {one.post_id: one for one in due}, found

    async def add_some(self, account: Account, after: int) -> tuple[int, int]:
        """Asks again for some posts that are only links, after the post with this number.

        Returns the number of the last, and how many there are.
        """
        page = await self._store.bare_posts(account.account_id, after, PER_TRANSACTION)
        if not page:
            return after, 0

        async def work(transaction: Transaction) -> None:
            await lock_library(self._libraries, transaction, account.account_id)
            ids = [post_id for _, post_id in page]
            await self._store.add(transaction, account.account_id, ids, self._clock())
            # Lists that say that a post stays a link are kept by the version of the library.
            await self._libraries.touch(transaction, account.account_id)

        await self._database.write(work, account.account_id)
        return page[-1][0], len(page)

    async def _links(self, account: Account, due: Sequence[DueLink]) -> dict[str, PostLink | None]:
        """The links by post; None for a post that has a text or is not in the library."""
        if not due:
            return {}
        ids = [one.post_id for one in due]
        place = place_of(account.local_number)
        stored = await self._posts.posts(self._database, account.account_id, place, ids)
        return {one: _link(one, stored.get(one)) for one in ids}

    async def _write(
        self,
        account_id: int,
        due: Sequence[DueLink],
        hosts: Sequence[tuple[str, str]],
        links: dict[str, PostLink | None],
    ) -> None:
        settled = [one.post_id for one in due if links[one.post_id] is None]
        if not hosts and not settled:
            return

        async def work(transaction: Transaction) -> None:
            await lock_library(self._libraries, transaction, account_id)
            await self._store.set_hosts(transaction, account_id, hosts)
            await self._store.remove(transaction, account_id, settled)

        await self._database.write(work, account_id)


class _Details(Struct, frozen=True):
    link: str = ""


class _Linked(Struct, frozen=True):
    tweet_details: _Details = _Details()


_decode = msgspec.json.Decoder(_Linked).decode


def _link(post_id: str, stored: StoredPost | None) -> PostLink | None:
    if stored is None or stored.existing.completeness != Completeness.STUB:
        return None
    try:
        address = _decode(stored.rendering + b"}").tweet_details.link
    except (msgspec.MsgspecError, RecursionError):
        address = ""
    link = parse_fediverse(address)
    if link is not None and link.post_id == post_id:
        return link
    # Somebody may have given another address to a post of X.
    return x_post(post_id) or PostLink("", post_id, "", "", address)
