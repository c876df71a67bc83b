"""Clients that disconnect when a test says so, and a read that never ends."""

import asyncio

from starlette.types import Message

from tests.support.service import Member, Service
from tests.support.waiting import PATIENCE_S

# Executed on a connection of SQLite: then reading the posts with a label does not end.
ENDLESS = """
CREATE TEMP VIEW bookmark_label AS
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
SELECT {account_id} AS account_id, 1 AS label_id, i AS number FROM n
"""


class Client:
    """Sends a request of a member, and disconnects when a test says so."""

    def __init__(
        self,
        cast: Service,
        member: Member,
        path: str,
        *,
        query: bytes = b"",
        method: str = "GET",
        headers: dict[str, str] | None = None,
        body: bytes = b"",
    ) -> None:
        self.sent: list[Message] = []
        self._received = [{"type": "http.request", "body": body, "more_body": False}]
        self._leaving = asyncio.Event()
        self.is_noticed = asyncio.Event()
        named = {**(headers or {}), "Authorization": f"Bearer {member.key}"}
        scope = {
            "type": "http",
            "method": method,
            "path": path,
            "query_string": query,
            "headers": [(name.lower().encode(), text.encode()) for name, text in named.items()],
        }
        self.request = asyncio.ensure_future(cast.app.asgi(scope, self._receive, self._send))

    async def leave(self) -> None:
        """Returns once the request has ended."""
        self._leaving.set()
        async with asyncio.timeout(PATIENCE_S):
            await self.request

    async def disconnect(self) -> None:
        """Returns once the application has noticed."""
        self._leaving.set()
        await self.is_noticed.wait()

    async def _receive(self) -> Message:
        if self._received:
            return self._received.pop(0)
        await self._leaving.wait()
        self.is_noticed.set()
        return {"type": "http.disconnect"}

    async def _send(self, message: Message) -> None:
        self.sent.append(message)
