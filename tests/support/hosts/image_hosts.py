"""Hosts of images, played by one TLS server on loopback.

Names resolve to public addresses that a test chooses. The fetcher checks them as usual; only the
connection is led to the server here, which has a certificate for the names.
"""

import asyncio
import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from bowerbird.images.fetching import Fetcher
from bowerbird.images.hosts import AllowedHosts
from bowerbird.outgoing import Streams
from tests.support.hosts.loopback import certificate, http_answer, listening, read_request

X = "pbs.twimg.com"
BLUESKY = "cdn.bsky.app"
REDDIT = "i.redd.it"
INSTANCE = "hachyderm.example"
NAMES = (X, BLUESKY, REDDIT, INSTANCE, f"files.{INSTANCE}", "evil.example", "localhost.example")
PUBLIC = "151.101.1.140"


@dataclass
class ImageHosts:
    folder: Path
    # By host and path.
    answers: dict[str, bytes] = field(default_factory=dict)
    # Addresses of names; others have a public one.
    names: dict[str, list[str]] = field(default_factory=dict)
    # Host and path of each request, and the address to which it was sent.
    requests: list[str] = field(default_factory=list)
    heads: list[dict[str, str]] = field(default_factory=list)
    connected_to: list[str] = field(default_factory=list)
    resolved: list[str] = field(default_factory=list)
    # Host and path of answers that never end: as fast as possible, and one byte at a time.
    endless: set[str] = field(default_factory=set)
    dripping: set[str] = field(default_factory=set)
    # Whether a connection ends with its second request, before that is answered.
    serves_once: bool = False
    open: set[asyncio.Task[None]] = field(default_factory=set)
    port: int = 0
    # Bytes sent of endless answers.
    sent: int = 0

    def put(self, url: str, body: bytes, status: str = "200 OK", headers: str = "") -> str:
        """Answers requests of a URL."""
        self.answers[url.removeprefix("https://")] = http_answer(body, status, headers)
        return url

    def redirect(self, url: str, to: str, status: str = "302 Found") -> str:
        return self.put(url, b"", status, f"Location: {to}\r\n")

    async def resolve(self, name: str) -> Sequence[str]:
        self.resolved.append(name)
        return self.names.get(name, [PUBLIC])

    def fetcher(self, timeout_s: float = 30.0, further: Sequence[str] = ()) -> Fetcher:
        return Fetcher(
            AllowedHosts(further),
            resolve=self.resolve,
            connect=self.connect,
            timeout_s=timeout_s,
        )

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        return ssl.create_default_context(cafile=str(self.folder / "hosts.crt"))

    async def connect(self, address: str, _port: int, name: str) -> Streams:
        """Leads connections to this server, whatever the address."""
        self.connected_to.append(address)
        return await asyncio.open_connection(
            "127.0.0.1", self.port, ssl=self._tls, server_hostname=name
        )

    async def until_idle(self) -> None:
        """Until every connection has ended."""
        while self.open:
            await asyncio.wait(self.open)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await self._answer(reader, writer)
        while not self.serves_once:
            await self._answer(reader, writer)
        await reader.readuntil(b"\r\n\r\n")

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        sent = await read_request(reader)
        place = sent.headers["host"] + sent.target
        self.requests.append(place)
        self.heads.append(sent.headers)
        if place in self.endless or place in self.dripping:
            writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n\x89PNG\r\n\x1a\n")
            part = b" " if place in self.dripping else bytes(1 << 18)
            while True:
                writer.write(part)
                await writer.drain()
                self.sent += len(part)
                await asyncio.sleep(0.02 if place in self.dripping else 0)
        writer.write(self.answers.get(place, http_answer(b"", "404 Not Found")))
        await writer.drain()


@asynccontextmanager
async def image_hosts(
    folder: Path, names: Sequence[str] = NAMES, port: int = 0
) -> AsyncIterator[ImageHosts]:
    hosts = ImageHosts(folder)
    async with listening(
        *(hosts.serve, port, hosts.open),
        ssl=certificate(folder, names),
        # A client that was killed does not say goodbye.
        ssl_shutdown_timeout=1,
    ) as hosts.port:
        yield hosts
