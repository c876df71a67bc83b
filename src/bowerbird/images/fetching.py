"""Fetches one image from another site, and trusts nothing about it.

Only https, only allowed hosts, only public addresses. The name is resolved once and the connection
goes to the address that was checked, so another answer of the name server changes nothing. Every
redirect is checked like the first URL. Size and time are limited while the bytes arrive.
"""

import asyncio
import ssl
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from enum import StrEnum
from functools import cache
from types import TracebackType
from typing import Final, Self
from urllib.parse import urljoin

import httpx2
from msgspec import Struct

from bowerbird.images import addresses, formats
from bowerbird.images.addresses import Resolve
from bowerbird.images.formats import ImageFormat
from bowerbird.images.hosts import AllowedHosts
from bowerbird.model.kept_images import URL_MAX

MAX_BYTES: Final = 16 * 1024 * 1024
MAX_PIXELS: Final = 40_000_000
MAX_REDIRECTS: Final = 3
# Connections to more hosts are closed, those that were used longest ago first.
HOSTS_OPEN_MAX: Final = 8
TIMEOUT_S: Final = 30.0
_SILENCE_S: Final = 10.0
_TIMEOUTS: Final = dict.fromkeys(("connect", "read", "write", "pool"), _SILENCE_S)
# How long cancelled requests may take to end.
_ENDING_S: Final = 1.0
_ADDRESSES_TRIED: Final = 2
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
# The server may answer otherwise a while later.
_TEMPORARY: Final = frozenset({408, 425, 429})
_FIRST_ERROR_OF_SERVER: Final = 500
_HEADERS: Final = {
    "Accept": ", ".join(formats.TYPES),
    # A small compressed answer could become a huge one.
    "Accept-Encoding": "identity",
    "User-Agent": "Bowerbird",
}


class Reason(StrEnum):
    """Why an image was not fetched. The database has these texts."""

    HOST = "host"
    ADDRESS = "address"
    REDIRECTS = "redirects"
    GONE = "gone"
    REFUSED = "refused"
    SIZE = "size"
    TYPE = "type"
    PIXELS = "pixels"
    # Those below may pass.
    BUSY = "busy"
    TIME = "time"
    UNREACHABLE = "unreachable"


TEMPORARY: Final = frozenset({Reason.BUSY, Reason.TIME, Reason.UNREACHABLE})
_GONE: Final = frozenset({404, 410})


class NotFetched(Exception):  # noqa: N818 - named for what it is
    def __init__(self, reason: Reason) -> None:
        super().__init__(reason.value)
        self.reason = reason


class FetchedImage(Struct, frozen=True):
    content: bytes
    format: ImageFormat


class Fetcher:
    """Keeps connections open between fetches; use it as a context manager."""

    def __init__(
        self,
        allowed: AllowedHosts,
        *,
        resolve: Resolve = addresses.resolve,
        connect: Callable[[], httpx2.AsyncBaseTransport] | None = None,
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        self._allowed = allowed
        self._resolve = resolve
        self._connect = connect or _transport
        self._timeout_s = timeout_s
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

    async def fetch(self, url: str, instance: str = "") -> FetchedImage:
        """`instance` is the server of the post, from which pictures may come too."""
        try:
            async with asyncio.timeout(self._timeout_s):
                content = await self._followed(url, instance)
        except (TimeoutError, httpx2.TimeoutException):
            raise NotFetched(Reason.TIME) from None
        except (httpx2.HTTPError, OSError, UnicodeError) as error:
            raise NotFetched(Reason.UNREACHABLE) from error
        found = formats.format_of(content)
        if found is None:
            raise NotFetched(Reason.TYPE)
        if found.width * found.height > MAX_PIXELS:
            raise NotFetched(Reason.PIXELS)
        return FetchedImage(content, found)

    async def _followed(self, url: str, instance: str) -> bytes:
        for _ in range(MAX_REDIRECTS + 1):
            answer = await self._get(url, instance)
            if isinstance(answer, bytes):
                return answer
            url = _joined(url, answer)
        raise NotFetched(Reason.REDIRECTS)

    async def _get(self, url: str, instance: str) -> bytes | str:
        """The content, or the URL of a redirect."""
        parsed = _parsed(url)
        host = parsed.raw_host.decode("ascii").lower()
        if not self._allowed.has(host, instance):
            raise NotFetched(Reason.HOST)
        found = await self._resolve(host)
        # One private address among public ones is an attack or a mistake too.
        if not found or not all(map(addresses.is_public, found)):
            raise NotFetched(Reason.ADDRESS)
        problem: httpx2.TransportError | None = None
        for address in found[:_ADDRESSES_TRIED]:
            try:
                return await self._get_from(address, host, parsed)
            except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
                problem = error
        assert problem is not None
        raise problem

    async def _get_from(self, address: str, host: str, url: httpx2.URL) -> bytes | str:
        """Connects to the address; the certificate must be that of the host."""
        request = httpx2.Request(
            "GET",
            url.copy_with(host=address, port=None, fragment=None),
            headers={**_HEADERS, "Host": host},
            extensions={"sni_hostname": host, "timeout": _TIMEOUTS},
        )
        async with self._connected(host) as transport:
            response = await self._sent(transport, request, host)
            try:
                return await _read(response)
            finally:
                await response.aclose()

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


async def _read(response: httpx2.Response) -> bytes | str:
    status = response.status_code
    if status in _REDIRECTS and "location" in response.headers:
        return str(response.headers["location"])
    if status != httpx2.codes.OK:
        raise NotFetched(_reason_of(status))
    if response.headers.get("content-encoding", "identity") != "identity":
        raise NotFetched(Reason.TYPE)
    content = bytearray()
    async for part in response.aiter_raw():
        content += part
        if len(content) > MAX_BYTES:
            raise NotFetched(Reason.SIZE)
    return bytes(content)


def _parsed(url: str) -> httpx2.URL:
    """A plain https URL. It comes from a post or from another server, so it may be any text."""
    try:
        parsed = httpx2.URL(url)
    except (httpx2.InvalidURL, ValueError):
        raise NotFetched(Reason.HOST) from None
    is_plain = parsed.scheme == "https" and not parsed.userinfo and parsed.port in (None, 443)
    if not is_plain or len(url) > URL_MAX:
        raise NotFetched(Reason.HOST)
    return parsed


def _joined(url: str, location: str) -> str:
    try:
        return urljoin(url, location)
    except ValueError:
        raise NotFetched(Reason.REDIRECTS) from None


def _reason_of(status: int) -> Reason:
    if status in _TEMPORARY or status >= _FIRST_ERROR_OF_SERVER:
        return Reason.BUSY
    return Reason.GONE if status in _GONE else Reason.REFUSED


def _transport() -> httpx2.AsyncBaseTransport:
    return httpx2.AsyncHTTPTransport(verify=_tls(), trust_env=False)


@cache
def _tls() -> ssl.SSLContext:
    # Reading all certificates takes tens of milliseconds.
    return httpx2.create_ssl_context(trust_env=False)
