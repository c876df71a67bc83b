"""Requests to providers, and their discovery documents and public keys, which are cached.

Requests go over TLS only, are limited in size and time, and follow no redirects.
"""

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
from joserfc.jwk import Key, KeySet, import_key
from msgspec import Struct

from bowerbird.clock import MICROSECONDS, Clock
from bowerbird.openid.providers import Provider, unreachable, unusable
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


_LIFETIME: Final = 3600 * MICROSECONDS
_REFETCH_AFTER: Final = 30 * MICROSECONDS
_WELL_KNOWN: Final = "/.well-known/openid-configuration"
# Signatures of key pairs only. With "none" or a shared secret, others could sign as the provider.
_ALGORITHMS: Final = (
    *("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    *("ES256", "ES384", "ES512", "EdDSA", "Ed25519"),
)
_KEY_TYPES: Final = ("RSA", "EC", "OKP")
_MOST_KEYS: Final = 64


class Document(Struct, frozen=True):
    """The fields of a discovery document that a sign-in needs."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    userinfo_endpoint: str | None = None
    id_token_signing_alg_values_supported: tuple[str, ...] = ("RS256",)
    token_endpoint_auth_methods_supported: tuple[str, ...] | None = None
    authorization_response_iss_parameter_supported: bool | None = False

    @property
    def algorithms(self) -> tuple[str, ...]:
        return tuple(
            name for name in _ALGORITHMS if name in self.id_token_signing_alg_values_supported
        )

    @property
    def takes_basic_authentication(self) -> bool:
        return "client_secret_basic" in (
            self.token_endpoint_auth_methods_supported or ("client_secret_basic",)
        )


class _PublishedKeys(Struct, frozen=True):
    keys: list[dict[str, Any]]


class Discovery:
    """Reads the documents of one provider when they are needed, and keeps them for an hour."""

    def __init__(self, provider: Provider, fetcher: Fetcher, clock: Clock) -> None:
        self._provider = provider
        self._fetcher = fetcher
        self._clock = clock
        self._lock = asyncio.Lock()
        self._document: tuple[int, Document] | None = None
        self._keys: tuple[int, KeySet] | None = None
        self._keys_requested_at = 0

    async def document(self) -> Document:
        async with self._lock:
            now = self._clock()
            if self._document and now - self._document[0] < _LIFETIME:
                return self._document[1]
            url = self._provider.issuer.rstrip("/") + _WELL_KNOWN
            document = await self._fetcher.get(url, Document)
            self._check(document)
            self._document = (now, document)
            return document

    def _check(self, document: Document) -> None:
        if document.issuer != self._provider.issuer:
            raise unusable(self._provider, "discovery_names_another_issuer")
        may_be_loopback = is_loopback(self._provider.issuer)
        endpoints = [document.authorization_endpoint, document.token_endpoint, document.jwks_uri]
        if document.userinfo_endpoint is not None:
            endpoints.append(document.userinfo_endpoint)
        for url in endpoints:
            if not is_safe(url, may_be_loopback=may_be_loopback):
                raise unusable(self._provider, "discovery_names_an_unsafe_url")
        if not document.algorithms:
            raise unusable(self._provider, "discovery_names_no_known_algorithm")

    async def keys(self) -> KeySet:
        url = (await self.document()).jwks_uri
        async with self._lock:
            if self._keys and self._clock() - self._keys[0] < _LIFETIME:
                return self._keys[1]
            return await self._fetch_keys(url)

    async def newer_keys(self, known: KeySet) -> KeySet | None:
        """Keys published after the known ones, or None if they were requested a moment ago."""
        url = (await self.document()).jwks_uri
        async with self._lock:
            if self._keys and self._keys[1] is not known:
                return self._keys[1]
            if self._clock() - self._keys_requested_at < _REFETCH_AFTER:
                return None
            return await self._fetch_keys(url)

    async def _fetch_keys(self, url: str) -> KeySet:
        self._keys_requested_at = self._clock()
        published = await self._fetcher.get(url, _PublishedKeys)
        keys = KeySet([key for data in published.keys[:_MOST_KEYS] for key in _import(data)])
        if not keys:
            raise unusable(self._provider, "no_usable_key")
        self._keys = (self._clock(), keys)
        return keys


def _import(data: dict[str, Any]) -> list[Key]:
    """A key if it is a public key that we know; others in the same set may still be usable."""
    if data.get("kty") not in _KEY_TYPES:
        return []
    try:
        return [import_key(data)]
    except Exception:  # noqa: BLE001 - the key may make joserfc fail in any way
        return []
