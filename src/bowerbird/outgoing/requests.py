"""Sends a request to another site, at a public address.

The name is resolved once and the connection goes to the address that was checked, so another
answer of the name server changes nothing. Redirects are not followed here.
"""

import asyncio
import ssl
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import cache
from types import TracebackType
from typing import Final, Self

import httpx2

from bowerbird.outgoing import addresses
from bowerbird.outgoing.addresses import Resolve

# Connections to more hosts are closed, those that were used longest ago first.
HOSTS_OPEN_MAX: Final = 8
_SILENCE_S: Final = 10.0
_TIMEOUTS: Final = dict.fromkeys(("connect", "read", "write", "pool"), _SILENCE_S)
# How long cancelled requests may take to end.
_ENDING_S: Final = 1.0
_ADDRESSES_TRIED: Final = 2
_PORTS: Final = {"https": 443, "http": 80}


Connect = Callable[[], httpx2.AsyncBaseTransport]


class PrivateAddress(Exception):  # noqa: N818 - named for what it is
    """The name of the host leads to an address that is not on the public internet."""


class OutgoingRequests:
    """Keeps connections open between requests; use it as a context manager."""

    def __init__(
        self,
        *,
        resolve: Resolve = addresses.resolve,
        connect: Connect | None = None,
        may_be_private: Callable[[str], bool] | None = None,
    ) -> None:
        """`may_be_private`: whether the operator allows any address for a host and its port."""
        self._resolve = resolve
        self._connect = connect or _transport
        self._may_be_private = may_be_private
        self._transports: dict[str, httpx2.AsyncBaseTransport] = {}
        # How many requests of each host have not ended.
        self._open: Counter[str] = Counter()
        self._ending: set[asyncio.Future[httpx2.Response]] = set()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        async with AsyncExitStack() as closing:
            for transport in self._transports.values():
                closing.push_async_callback(transport.aclose)
            self._transports = {}
            await self._end_all()

    @asynccontextmanager
    async def response(
        self, method: str, url: httpx2.URL, headers: Mapping[str, str], content: bytes = b""
    ) -> AsyncIterator[httpx2.Response]:
        """The response, whose content the caller reads."""
        host = url.raw_host.decode("ascii").lower()
        found = await self._resolve(host)
        # One private address among public ones is an attack or a mistake too.
        is_public = bool(found) and all(map(addresses.is_public, found))
        may_be_private = self._may_be_private is not None and self._may_be_private(host_port(url))
        if not found or not (is_public or may_be_private):
            raise PrivateAddress
        async with self._connected(host) as transport:
            request = _Sent(method, url, host, headers, content)
            response = await self._first_answer(transport, request, found[:_ADDRESSES_TRIED])
            try:
                yield response
            finally:
                await response.aclose()

    async def _first_answer(
        self, transport: httpx2.AsyncBaseTransport, sent: "_Sent", found: Sequence[str]
    ) -> httpx2.Response:
        problem: httpx2.TransportError | None = None
        for address in found:
            try:
                return await self._sent(transport, sent.to(address), sent.host)
            except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
                problem = error
        assert problem is not None
        raise problem

    async def _sent(
        self, transport: httpx2.AsyncBaseTransport, request: httpx2.Request, host: str
    ) -> httpx2.Response:
        """If it is cancelled, it ends later: during a TLS handshake, the socket would stay open."""
        sending = asyncio.ensure_future(transport.handle_async_request(request))
        try:
            return await asyncio.shield(sending)
        except asyncio.CancelledError:
            self._ending.add(sending)
            self._open[host] += 1
            sending.add_done_callback(lambda _: self._open.subtract((host,)))
            raise

    async def _end_all(self) -> None:
        if self._ending:
            await asyncio.wait(self._ending, timeout=_ENDING_S)
        for sending in self._ending:
            sending.cancel()
        for ended in await asyncio.gather(*self._ending, return_exceptions=True):
            if isinstance(ended, httpx2.Response):
                await ended.aclose()

    @asynccontextmanager
    async def _connected(self, host: str) -> AsyncIterator[httpx2.AsyncBaseTransport]:
        """One per host: a connection is reused for the host whose certificate it has shown."""
        transport = self._transports.pop(host, None) or self._connect()
        self._transports[host] = transport
        self._open[host] += 1
        try:
            yield transport
        finally:
            self._open[host] -= 1
            await self._close_some()

    async def _close_some(self) -> None:
        """A library may have images of thousands of hosts, and a process few open sockets."""
        idle = [host for host in self._transports if not self._open[host]]
        for host in idle[: max(len(self._transports) - HOSTS_OPEN_MAX, 0)]:
            del self._open[host]
            await self._transports.pop(host).aclose()


class _Sent:
    """A request, before it is known to which address of its host it goes."""

    def __init__(
        self, method: str, url: httpx2.URL, host: str, headers: Mapping[str, str], content: bytes
    ) -> None:
        self.host = host
        self._method = method
        self._url = url
        named = host if url.port in (None, _PORTS.get(url.scheme)) else f"{host}:{url.port}"
        self._headers = {**headers, "Host": named}
        self._content = content

    def to(self, address: str) -> httpx2.Request:
        """The connection goes to the address; the certificate must be that of the host."""
        return httpx2.Request(
            self._method,
            self._url.copy_with(host=address, fragment=None),
            headers=self._headers,
            content=self._content or None,
            extensions={"sni_hostname": self.host, "timeout": _TIMEOUTS},
        )


def host_port(url: httpx2.URL) -> str:
    """`host:port`, also for the usual port of the scheme."""
    port = url.port or _PORTS.get(url.scheme, 0)
    return f"{url.raw_host.decode('ascii').lower()}:{port}"


def _transport() -> httpx2.AsyncBaseTransport:
    return httpx2.AsyncHTTPTransport(verify=_tls(), trust_env=False)


@cache
def _tls() -> ssl.SSLContext:
    # Reading all certificates takes tens of milliseconds.
    return httpx2.create_ssl_context(trust_env=False)
