"""Ends the access of a source at its network, after it was disconnected here.

Only an attempt: the person may also remove the access at the network. Mastodon ends a token only
for the app that it belongs to, and the secret of that app is not known here.
"""

import asyncio
from typing import TYPE_CHECKING, Final

import structlog

from bowerbird.clock import Clock
from bowerbird.connections.bluesky import Bluesky
from bowerbird.connections.records import SourceProblem, TokenExpired
from bowerbird.connections.sealing import CannotOpen
from bowerbird.connections.x import XApi
from bowerbird.library.connections.access import Vault
from bowerbird.library.connections.connecting import new_fetcher
from bowerbird.model.connections import Connection, Network
from bowerbird.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from bowerbird.connections.fetching import Fetcher

# The person waits for it.
_PATIENCE_S: Final = 5.0


class Revoking:
    def __init__(
        self,
        clock: Clock,
        settings: Settings,
        fetcher: "Callable[[], Fetcher] | None" = None,
        patience_s: float = _PATIENCE_S,
    ) -> None:
        self._clock = clock
        self._fetcher = fetcher or (lambda: new_fetcher(settings))
        self._vault = Vault(settings)
        self._patience_s = patience_s

    async def revoke(self, account_id: int, removed: Connection) -> None:
        """Never fails: the source is disconnected in any case."""
        try:
            async with asyncio.timeout(self._patience_s):
                await self._revoke(account_id, removed)
        except (SourceProblem, TokenExpired, CannotOpen, TimeoutError) as problem:
            structlog.get_logger().warning(
                "access not revoked", network=removed.network, cause=repr(problem)
            )

    async def _revoke(self, account_id: int, removed: Connection) -> None:
        if removed.network is Network.MASTODON:
            return
        tokens = self._vault.open(account_id, removed)
        if not tokens.access:
            return
        async with self._fetcher() as fetcher:
            client = (
                XApi(fetcher, removed.server, self._clock)
                if removed.network is Network.X
                else Bluesky(fetcher, removed.server, self._clock)
            )
            await client.revoke(tokens)
