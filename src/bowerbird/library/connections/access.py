"""The access to a network during a run: opens the stored tokens, and renews them in time.

Networks take a refresh token once. The new tokens are stored before they are used; if the process
is killed before that, the network refuses the old one and the person is asked to connect again.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

from bowerbird.clock import Clock
from bowerbird.connections.networks import Bluesky, Mastodon, XApi
from bowerbird.connections.records import (
    CannotOpen,
    ListPage,
    SourceProblem,
    TokenExpired,
    Tokens,
    Vault,
)
from bowerbird.model.connections import Connection, Network, Problem
from bowerbird.settings import Settings
from bowerbird.storage.database import Database
from bowerbird.storage.stores import Service

if TYPE_CHECKING:
    from bowerbird.connections.fetching import Fetcher


def vault_of(settings: Settings) -> Vault[Tokens]:
    return Vault(settings, Tokens, "access to sources")


def place_of(account_id: int, connection_id: str) -> str:
    return f"{account_id}/{connection_id}"


T = TypeVar("T")


class Access(Service):
    """The client of a connection, with tokens that are valid as far as is known."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        vault: Vault[Tokens],
        *,
        fetcher: "Fetcher",
        account_id: int,
        connection: Connection,
    ) -> None:
        super().__init__(database)
        self._vault = vault
        self._account_id = account_id
        self._connection = connection
        self._fetcher = fetcher
        server = connection.server
        self.x = XApi(fetcher, server, clock)
        self._mastodon = Mastodon(fetcher, server, clock)
        self._bluesky = Bluesky(fetcher, server, clock)

    @property
    def connection(self) -> Connection:
        """The connection when its tokens were last read or stored."""
        return self._connection

    async def page(self, cursor: str) -> ListPage:
        """A page of the list of all saved posts."""
        network, user_id = self._connection.network, self._connection.source_user_id
        if network is Network.MASTODON:
            try:
                return await self._mastodon.page(self._opened(), cursor)
            except TokenExpired:
                raise SourceProblem(Problem.REVOKED) from None
        if network is Network.BLUESKY:
            return await self.ask(lambda tokens: self._bluesky.page(tokens, cursor))
        return await self.ask(lambda tokens: self.x.page(tokens, user_id, cursor))

    async def ask(self, request: Callable[[Tokens], Awaitable[T]]) -> T:
        """Sends a request, again with new tokens if the network says that they have expired."""
        tokens = self._opened()
        if self._connection.network is Network.X and self.x.is_expired(tokens):
            tokens = await self._renewed(tokens)
        try:
            return await request(tokens)
        except TokenExpired:
            tokens = await self._renewed(tokens)
        try:
            return await request(tokens)
        except TokenExpired:
            raise SourceProblem(Problem.REVOKED) from None

    async def _renewed(self, tokens: Tokens) -> Tokens:
        """A worker that stops, or loses its lease, waits until the new tokens are stored."""
        renewing = asyncio.ensure_future(self._renew(tokens))
        try:
            return await asyncio.shield(renewing)
        except asyncio.CancelledError:
            await asyncio.wait([renewing])
            raise

    async def _renew(self, tokens: Tokens) -> Tokens:
        client = self.x if self._connection.network is Network.X else self._bluesky
        try:
            with self._fetcher.in_any_case():
                new = await client.renewed(tokens)
        except TokenExpired:
            raise SourceProblem(Problem.REVOKED) from None
        connection_id = self._connection.connection_id
        sealed = self._vault.seal(new, place_of(self._account_id, connection_id))
        version = await self._stores.connections.put_tokens(
            self._account_id, self._connection, sealed
        )
        current = await self._stores.connections.one(self._library(self._account_id), connection_id)
        if current is None:
            raise SourceProblem(Problem.REVOKED, reason="disconnected")
        self._connection = current
        # If it was connected again meanwhile, its tokens are the valid ones.
        return new if current.version == version else self._opened()

    def _opened(self) -> Tokens:
        try:
            connection = self._connection
            place = place_of(self._account_id, connection.connection_id)
            return self._vault.open(connection.sealed, place)
        except CannotOpen:
            raise SourceProblem(Problem.UNREADABLE_TOKEN) from None
