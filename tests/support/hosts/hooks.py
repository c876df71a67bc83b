"""A receiver of webhooks on loopback, and the worker that sends to it."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from httpx import Response
from standardwebhooks.webhooks import Webhook

from bowerbird.clock import MICROSECONDS
from bowerbird.jobs.account_jobs import webhook_jobs
from bowerbird.library.digests.digests import Digests
from bowerbird.library.webhooks.delivering import Delivering
from bowerbird.library.webhooks.sending import Sender
from bowerbird.settings import Settings
from tests.support import writing
from tests.support.hosts.loopback import listening, read_request
from tests.support.service import Member


@dataclass
class Received:
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def message(self) -> Any:
        return json.loads(self.body)

    def is_signed_with(self, secret: str, place: int = 0) -> bool:
        """As the reference library signs it. `place`: which of several signatures."""
        headers = self.headers
        signed_at = datetime.fromtimestamp(int(headers["webhook-timestamp"]), UTC)
        expected = Webhook(secret).sign(headers["webhook-id"], signed_at, self.body.decode())
        found: list[str] = headers["webhook-signature"].split()
        return found[place] == expected


@dataclass
class Receiver:
    port: int = 0
    received: list[Received] = field(default_factory=list)
    # By path: the status line and more of the head, and the body.
    answers: dict[str, tuple[str, bytes]] = field(default_factory=dict)
    # Paths whose answer waits for an event.
    held: dict[str, asyncio.Event] = field(default_factory=dict)

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    def url(self, path: str = "/hook") -> str:
        return f"http://{self.host}{path}"

    def answer(self, status: str, body: bytes = b"", path: str = "/hook") -> None:
        self.answers[path] = (status, body)

    def types(self, path: str = "/hook") -> list[str]:
        return [one.message["type"] for one in self.received if one.path == path]

    def posts(self, path: str = "/hook") -> list[str]:
        return [one.message["data"]["post_id"] for one in self.received if one.path == path]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            sent = await read_request(reader)
            path = sent.target
            self.received.append(Received(path, sent.headers, sent.body))
            if path in self.held:
                await self.held[path].wait()
            status, content = self.answers.get(path, ("204 No Content", b""))
            length = "" if status.startswith("204") else f"Content-Length: {len(content)}\r\n"
            writer.write(f"HTTP/1.1 {status}\r\n{length}\r\n".encode() + content)
            await writer.drain()


@asynccontextmanager
async def receiving() -> AsyncIterator[Receiver]:
    receiver = Receiver()
    async with listening(receiver.serve) as receiver.port:
        yield receiver


@dataclass
class Post:
    """The worker that delivers the messages of an account."""

    member: Member
    receiver: Receiver
    folder: Path
    more: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        settings: dict[str, Any] = {
            "data_dir": self.folder,
            "webhooks_private_hosts": self.receiver.host,
            **self.more,
        }
        self.settings = Settings(**settings)
        self.delivering = Delivering(
            self.member.database,
            self.member.clock,
            self.settings,
            lambda: Sender([self.receiver.host]),
            digest=partial(
                Digests(self.member.database, self.member.clock, can_mail=False).get, format="json"
            ),
        )
        self.jobs = webhook_jobs(self.member.database, self.delivering, self.member.clock)

    async def add(self, path: str = "/hook", **fields: Any) -> dict[str, Any]:
        body = {"url": self.receiver.url(path), **fields}
        response = await writing.send(self.member, "POST", "/v1/webhooks", body)
        assert response.status_code == 201, response.text
        added: dict[str, Any] = response.json()["data"]
        return added

    async def change(self, webhook: dict[str, Any], **fields: Any) -> Response:
        return await writing.send(self.member, "PATCH", f"/v1/webhooks/{webhook['id']}", fields)

    async def shown(self, webhook: dict[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = (await self.member.get(f"/v1/webhooks/{webhook['id']}")).json()
        return found["data"]  # type: ignore[no-any-return]

    async def messages(self, webhook: dict[str, Any]) -> list[dict[str, Any]]:
        path = f"/v1/webhooks/{webhook['id']}/deliveries"
        found: list[dict[str, Any]] = (await self.member.get(path, limit=100)).json()["data"]
        return found

    async def deliver(self, turn_s: float = 60.0) -> bool:
        """A turn of the worker; whether something is left."""
        return await self.delivering.run(self.member.account_id, turn_s)

    def wait(self, seconds: float) -> None:
        self.member.clock.now += int(seconds * MICROSECONDS)
