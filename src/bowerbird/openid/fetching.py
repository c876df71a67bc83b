"""Requests to providers: only over TLS, of limited size and time, and without redirects."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import cache
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

import httpx2
import msgspec
from authlib.integrations.httpx_client import AsyncOAuth2Client

from bowerbird.openid.problems import unreachable, unusable
from bowerbird.openid.providers import Provider
from bowerbird.settings.values import LOOPBACK

MAX_RESPONSE_BYTES: Final = 1024 * 1024
_LONGEST_URL: Final = 2048
_HEADERS: Final = {
    "Accept": "application/json",
    # A small compressed answer could become a huge one.
    "Accept-Encoding": "identity",
    "User-Agent": "Bowerbird",
}
T = TypeVar("T")


class _UnusableResponseError(Exception):
    pass


def is_loopback(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme == "http" and parts.hostname in LOOPBACK


def is_safe(url: str, *, may_be_loopback: bool) -> bool:
    """Whether requests may go to a URL. The provider chose it, so it may be any text."""
    try:
        parsed = httpx2.URL(url)
    except (httpx2.InvalidURL, ValueError):
        return False
    is_plain = url.isascii() and url.isprintable() and not set(url) & set(' @#\\"<>')
    if not (is_plain and parsed.host and len(url) <= _LONGEST_URL):
        return False
    if parsed.scheme == "http":
        return may_be_loopback and parsed.host in LOOPBACK
    return parsed.scheme == "https"


class _BoundedStream(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        received = 0
        async for part in self._stream:
            received += len(part)
            if received > MAX_RESPONSE_BYTES:
                raise _UnusableResponseError("response_too_large")
            yield part

    async def aclose(self) -> None:
        await self._stream.aclose()


class _BoundedTransport(httpx2.AsyncBaseTransport):
    """Checks what all requests share, including the request that Authlib makes."""

    def __init__(self) -> None:
        self._inner = httpx2.AsyncHTTPTransport(verify=tls(), trust_env=False)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        response = await self._inner.handle_async_request(request)
        if response.headers.get("content-encoding", "identity") != "identity":
            await response.aclose()
            raise _UnusableResponseError("response_compressed")
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        return httpx2.Response(
            status_code=response.status_code,
            headers=response.headers,
            stream=_BoundedStream(response.stream),
            extensions=response.extensions,
        )

    async def aclose(self) -> None:
        await self._inner.aclose()


@cache
def tls() -> ssl.SSLContext:
    # Reading all certificates takes tens of milliseconds.
    return httpx2.create_ssl_context(trust_env=False)


@asynccontextmanager
async def connection(provider: Provider, timeout_s: float) -> AsyncIterator[Any]:
    """An OAuth 2 client of Authlib; failures of the network become ProviderProblems."""
    try:
        async with (
            asyncio.timeout(timeout_s),
            AsyncOAuth2Client(
                client_id=provider.client_id,
                client_secret=provider.client_secret,
                transport=_BoundedTransport(),
                timeout=timeout_s,
                follow_redirects=False,
                trust_env=False,
                headers=_HEADERS,
                # Used where the caller does not pass `auth`.
                token_endpoint_auth_method="client_secret_post",  # noqa: S106 - a method
            ) as client,
        ):
            yield client
    except _UnusableResponseError as error:
        raise unusable(provider, str(error)) from None
    except (httpx2.RequestError, TimeoutError, OSError) as error:
        raise unreachable(provider, type(error).__name__) from None


class Fetcher:
    """Reads JSON documents of one provider."""

    def __init__(self, provider: Provider, timeout_s: float) -> None:
        self._provider = provider
        self._timeout_s = timeout_s

    async def get(self, url: str, kind: type[T], headers: Mapping[str, str] | None = None) -> T:
        async with connection(self._provider, self._timeout_s) as client:
            response = await client.request("GET", url, headers=headers, withhold_token=True)
        if response.status_code != httpx2.codes.OK:
            raise unusable(self._provider, f"status_{response.status_code}")
        try:
            return msgspec.json.decode(response.content, type=kind)
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            raise unusable(self._provider, type(error).__name__) from None
