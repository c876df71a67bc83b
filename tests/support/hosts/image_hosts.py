"""Hosts of images, played by one TLS server on loopback.

Names resolve to public addresses that a test chooses. The fetcher checks them as usual; only the
connection is led to the server here, which has a certificate for the names.
"""

import asyncio
import datetime as dt
import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from bowerbird.images.fetching import Fetcher
from bowerbird.images.hosts import AllowedHosts
from bowerbird.outgoing import Streams

X = "pbs.twimg.com"
BLUESKY = "cdn.bsky.app"
REDDIT = "i.redd.it"
INSTANCE = "hachyderm.example"
NAMES = (X, BLUESKY, REDDIT, INSTANCE, f"files.{INSTANCE}", "evil.example", "localhost.example")
PUBLIC = "151.101.1.140"


def http(body: bytes, status: str = "200 OK", headers: str = "") -> bytes:
    head = f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n{headers}\r\n"
    return head.encode() + body


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
        self.answers[url.removeprefix("https://")] = http(body, status, headers)
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
        task = asyncio.current_task()
        assert task
        self.open.add(task)
        try:
            with suppress(asyncio.IncompleteReadError, ConnectionError):
                await self._answer(reader, writer)
                while not self.serves_once:
                    await self._answer(reader, writer)
                await reader.readuntil(b"\r\n\r\n")
        finally:
            writer.close()
            with suppress(OSError, ssl.SSLError):
                await writer.wait_closed()
            self.open.discard(task)

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        target = head[0].split(" ")[1]
        headers = {k.lower(): v for k, _, v in (line.partition(": ") for line in head[1:] if line)}
        place = headers["host"] + target
        self.requests.append(place)
        self.heads.append(headers)
        if place in self.endless or place in self.dripping:
            writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n\x89PNG\r\n\x1a\n")
            part = b" " if place in self.dripping else bytes(1 << 18)
            while True:
                writer.write(part)
                await writer.drain()
                self.sent += len(part)
                await asyncio.sleep(0.02 if place in self.dripping else 0)
        writer.write(self.answers.get(place, http(b"", "404 Not Found")))
        await writer.drain()


@asynccontextmanager
async def image_hosts(
    folder: Path, names: Sequence[str] = NAMES, port: int = 0
) -> AsyncIterator[ImageHosts]:
    hosts = ImageHosts(folder)
    server = await asyncio.start_server(
        hosts.serve,
        "127.0.0.1",
        port,
        ssl=certificate(folder, names),
        # A client that was killed does not say goodbye.
        ssl_shutdown_timeout=1,
    )
    hosts.port = server.sockets[0].getsockname()[1]
    try:
        yield hosts
    finally:
        server.close()
        for task in list(hosts.open):
            task.cancel()
        await asyncio.gather(*hosts.open, return_exceptions=True)
        await server.wait_closed()


def certificate(folder: Path, names: Sequence[str]) -> ssl.SSLContext:
    """A TLS server whose certificate, in `hosts.crt`, vouches for itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "hosts of images")])
    now = dt.datetime.now(dt.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.DNSName(n) for n in names]), critical=False
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    (folder / "hosts.crt").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    (folder / "hosts.key").write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "hosts.crt", folder / "hosts.key")
    return context
