"""Sends a request to another site, at an address on the public internet.

The name is resolved once and the connection goes to the address that was checked, so another
answer of the name server changes nothing. Redirects are not followed here.

HTTP/1.1 on asyncio's streams: the client of httpx2 took most of the CPU time of a kept image.
"""

import asyncio
import ipaddress
import socket
import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from functools import cache, partial
from types import TracebackType
from typing import Final, NamedTuple, Self
from weakref import WeakValueDictionary

import httptools
import httpx2

Resolve = Callable[[str], Awaitable[Sequence[str]]]
"""The addresses of a name. Raises OSError if there are none."""

_PORT: Final = 443
# Other blocks of IPv6 are for links, for groups, or lead to IPv4 addresses (mapped, NAT64).
_UNICAST: Final = ipaddress.IPv6Network("2000::/3")
# 6to4 and Teredo: an IPv4 address, which may be a private one, is part of the address.
_TUNNELS: Final = (ipaddress.IPv6Network("2002::/16"), ipaddress.IPv6Network("2001::/32"))


# A name server that does not answer holds a thread for half a minute, and somebody can ask for
# many names. asyncio would take the few threads that requests use too.
RESOLVERS: Final = 64
# Of one account, so that its names leave others the rest.
RESOLVERS_OF_ACCOUNT: Final = 8
# By account; 0 is the service itself. Those that nobody uses are forgotten.
_free: Final[WeakValueDictionary[int, asyncio.Semaphore]] = WeakValueDictionary()


@cache
def _resolvers() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(RESOLVERS, thread_name_prefix="resolving")


async def resolve(name: str, account_id: int = 0) -> Sequence[str]:
    most = RESOLVERS_OF_ACCOUNT if account_id else RESOLVERS
    free = _free.setdefault(account_id, asyncio.Semaphore(most))
    await free.acquire()
    loop = asyncio.get_running_loop()

    def release(_: object) -> None:
        with suppress(RuntimeError):  # The service has stopped.
            loop.call_soon_threadsafe(free.release)

    look = _resolvers().submit(socket.getaddrinfo, name, _PORT, type=socket.SOCK_STREAM)
    # A lookup goes on if nobody waits for it any more.
    look.add_done_callback(release)
    found = await asyncio.wrap_future(look)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


def is_public(text: str) -> bool:
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return False
    if not address.is_global or address.is_multicast or address.is_reserved:
        return False
    if isinstance(address, ipaddress.IPv4Address):
        return True
    return address in _UNICAST and not any(address in network for network in _TUNNELS)


# Further ones are closed, those that were used longest ago first.
CONNECTIONS_KEPT_MAX: Final = 16
_KEPT_S: Final = 5.0
_SILENCE_S: Final = 10.0
_ADDRESSES_TRIED: Final = 2
_READ_BYTES: Final = 1 << 16
HEAD_BYTES_MAX: Final = 64 * 1024
_HEADERS: Final = {
    # A small compressed answer could become a huge one.
    "Accept-Encoding": "identity",
    "User-Agent": "Bowerbird",
}
_CONTROLS: Final = frozenset(map(chr, (*range(32), 127)))
_PORTS: Final = {"https": 443, "http": 80}


# An address, a port, and the name that the certificate must have; empty without TLS.
Place = tuple[str, int, str]
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Connect = Callable[[str, int, str], Awaitable[Streams]]
"""Opens a connection to an address and a port, with TLS if a name is given."""


class PrivateAddress(Exception):  # noqa: N818 - named for what it is
    """The name of the host leads to an address that is not on the public internet."""


class UnusableAnswer(Exception):  # noqa: N818 - named for what it is
    """The answer is compressed, or larger than the caller takes."""


class Response(NamedTuple):
    status_code: int
    # By names in lower case.
    headers: dict[str, str]
    content: AsyncIterator[bytes]


async def whole(response: Response, most: int) -> bytes:
    """The content of a response."""
    if response.headers.get("content-encoding", "identity") != "identity":
        raise UnusableAnswer("response_compressed")
    content = bytearray()
    async for part in response.content:
        content += part
        if len(content) > most:
            raise UnusableAnswer("response_too_large")
    return bytes(content)


class OutgoingRequests:
    """Keeps connections open between requests; use it as a context manager."""

    def __init__(
        self,
        private_hosts: Collection[str] | None = (),
        *,
        resolve: Resolve = resolve,
        connect: Connect | None = None,
    ) -> None:
        """`private_hosts`: those that the operator allows, as `host` or `host:port`.

        None allows every host, for addresses that the operator has chosen.
        """
        self._private_hosts = None if private_hosts is None else frozenset(private_hosts)
        self._resolve = resolve
        self._connect = connect or _opened
        # Those that no request uses, by the time of their last use.
        self._kept: list[_Connection] = []

    def asked_by(self, account_id: int) -> Self:
        """The names count as those that this account looks up."""
        if self._resolve is resolve:
            self._resolve = partial(resolve, account_id=account_id)
        return self

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        while self._kept:
            self._kept.pop().close()

    def _may_be_private(self, host_and_port: str) -> bool:
        """Whether the operator allows any address for a host and its port."""
        host = host_and_port.rpartition(":")[0]
        allowed = self._private_hosts
        return allowed is None or host in allowed or host_and_port in allowed

    @asynccontextmanager
    async def response(
        self, method: str, url: httpx2.URL, headers: Mapping[str, str], content: bytes = b""
    ) -> AsyncIterator[Response]:
        """The response, whose content the caller reads."""
        host = url.raw_host.decode("ascii").lower()
        found = await self._resolve(host)
        # One private address among public ones is an attack or a mistake too.
        are_public = bool(found) and all(map(is_public, found))
        if not found or not (are_public or self._may_be_private(host_port(url))):
            raise PrivateAddress
        head = _head(method, url, headers, content)
        places = _places(url, host, found[:_ADDRESSES_TRIED])
        kept = self._kept_for(places)
        connection = kept or await self._connected(places)
        try:
            try:
                answer = await connection.answer(head, content)
            except ConnectionError:
                if kept is None or method != "GET":
                    raise
                # The host may have ended a connection that waited.
                connection.close()
                connection = await self._connected(places)
                answer = await connection.answer(head, content)
            yield answer
        finally:
            self._keep_or_close(connection)

    def _kept_for(self, places: Sequence[Place]) -> "_Connection | None":
        """A connection is used again only for the host whose certificate it has shown."""
        for kept in reversed(self._kept):
            if kept.place in places:
                self._kept.remove(kept)
                if kept.is_usable:
                    return kept
                kept.close()
        return None

    async def _connected(self, places: Sequence[Place]) -> "_Connection":
        problem: OSError | None = None
        for place in places:
            try:
                async with asyncio.timeout(_SILENCE_S):
                    return _Connection(place, *await self._connect(*place))
            except OSError as error:
                problem = error
        assert problem is not None
        raise problem

    def _keep_or_close(self, connection: "_Connection") -> None:
        """A library may have images of thousands of hosts, and a process few open sockets."""
        if not connection.has_ended_well():
            connection.close()
            return
        self._kept.append(connection)
        if len(self._kept) > CONNECTIONS_KEPT_MAX:
            self._kept.pop(0).close()


class _Connection:
    def __init__(
        self,
        place: Place,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        self.place = place
        self._reader = reader
        self._writer = writer
        self._answer = _Answer()
        self._without_content = 0
        self._used_at = 0.0

    @property
    def is_usable(self) -> bool:
        is_recent = time.monotonic() - self._used_at < _KEPT_S
        return is_recent and not self._writer.is_closing() and not self._has_received()

    def _has_received(self) -> bool:
        """Whether the host has sent something without a request, or has ended the connection.

        Such an answer, a 408 to a connection that waits for instance, must not be taken for that
        of the next request. Then reading does not wait.
        """
        reading = self._reader.read(1)
        try:
            reading.send(None)
        except (StopIteration, OSError):
            return True
        reading.close()
        return False

    async def answer(self, head: bytes, content: bytes) -> Response:
        self._answer = answer = _Answer()
        self._without_content = 0
        self._writer.write(head + content)
        async with asyncio.timeout(_SILENCE_S):
            await self._writer.drain()
        while not answer.has_head:
            await self._receive()
        return Response(answer.status, answer.headers, self._content(answer))

    async def _content(self, answer: "_Answer") -> AsyncIterator[bytes]:
        while True:
            # Joined, because a part may be a single byte.
            content, answer.parts = b"".join(answer.parts), []
            if content:
                self._without_content = 0
                yield content
            if answer.is_whole:
                return
            await self._receive()

    async def _receive(self) -> None:
        # The parser would keep a header of any length, also one that follows the content.
        if self._without_content >= HEAD_BYTES_MAX:
            raise ConnectionError("The head of the answer is too large.")
        async with asyncio.timeout(_SILENCE_S):
            received = await self._reader.read(_READ_BYTES)
        self._without_content += len(received)
        self._answer.receive(received)

    def has_ended_well(self) -> bool:
        """Whether another request can follow."""
        self._used_at = time.monotonic()
        return self._answer.may_others_follow

    def close(self) -> None:
        # Without a farewell, for which a host could let us wait.
        self._writer.transport.abort()


class _Answer:
    """Takes an answer apart. The methods with other names are those that the parser calls."""

    def __init__(self) -> None:
        self.status = 0
        self.headers: dict[str, str] = {}
        self.parts: list[bytes] = []
        self.has_head = False
        self.is_whole = False
        self.may_others_follow = False
        self._parser = httptools.HttpResponseParser(self)

    def receive(self, received: bytes) -> None:
        if not received:
            # Only an answer that does not say where it ends may end with the connection.
            ends = not {"content-length", "transfer-encoding"} & self.headers.keys()
            if not self.has_head or not ends:
                raise ConnectionError("The connection ended before the answer.")
            self.is_whole = True
            return
        try:
            self._parser.feed_data(received)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as error:
            # Also if a whole answer came before.
            self.may_others_follow = False
            raise ConnectionError("The answer is not HTTP/1.1.") from error

    def on_message_begin(self) -> None:
        if self.is_whole:
            raise ConnectionError("The host sent more than one answer.")

    def on_header(self, name: bytes, value: bytes) -> None:
        if self.has_head:
            # After the content.
            return
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        self.headers[key] = f"{self.headers[key]}, {text}" if key in self.headers else text

    def on_headers_complete(self) -> None:
        self.status = self._parser.get_status_code()
        if self.status < httpx2.codes.OK:
            # The answer itself follows.
            self.headers.clear()
        else:
            self.has_head = True

    def on_body(self, body: bytes) -> None:
        self.parts.append(body)

    def on_message_complete(self) -> None:
        if self.has_head:
            self.is_whole = True
            self.may_others_follow = self._parser.should_keep_alive()


def _places(url: httpx2.URL, host: str, found: Sequence[str]) -> list[Place]:
    if url.scheme not in _PORTS:
        raise ConnectionError("The scheme is neither https nor http.")
    port = url.port or _PORTS[url.scheme]
    return [(address, port, host if url.scheme == "https" else "") for address in found]


def _head(method: str, url: httpx2.URL, headers: Mapping[str, str], content: bytes) -> bytes:
    sent = {"Host": url.netloc.decode("ascii"), **_HEADERS, **headers}
    if content or method == "POST":
        sent["Content-Length"] = str(len(content))
    lines = [f"{method} {url.raw_path.decode('ascii')} HTTP/1.1"]
    lines += [f"{name}: {value}" for name, value in sent.items()]
    if any(set(line) & _CONTROLS for line in lines):
        # A token or an address with a line break could add a request.
        raise ConnectionError("The request has control characters.")
    return "\r\n".join([*lines, "", ""]).encode("ascii")


def host_port(url: httpx2.URL) -> str:
    """`host:port`, also for the usual port of the scheme."""
    port = url.port or _PORTS.get(url.scheme, 0)
    return f"{url.raw_host.decode('ascii').lower()}:{port}"


async def _opened(address: str, port: int, name: str) -> Streams:
    context = tls() if name else None
    return await asyncio.open_connection(address, port, ssl=context, server_hostname=name or None)


@cache
def tls() -> ssl.SSLContext:
    # Reading all certificates takes tens of milliseconds.
    context = httpx2.create_ssl_context(trust_env=False)
    context.set_alpn_protocols(["http/1.1"])
    return context
