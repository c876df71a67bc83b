"""Requests to providers, and their discovery documents and public keys, which are cached.

Requests go over TLS only, are limited in size and time, and follow no redirects.
"""

import asyncio
from collections.abc import Mapping
from typing import Any, Final, TypeVar
from urllib.parse import urlencode, urlsplit

import httpx2
import msgspec
from joserfc.jwk import Key, KeySet, import_key
from msgspec import Struct

from bowerbird.clock import MICROSECONDS, Clock
from bowerbird.openid.providers import Provider, unreachable, unusable
from bowerbird.outgoing import OutgoingRequests, UnusableAnswer, whole
from bowerbird.settings.values import LOOPBACK

MAX_RESPONSE_BYTES: Final = 1024 * 1024
_LONGEST_URL: Final = 2048
T = TypeVar("T")


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


class Fetcher:
    """Reads JSON documents of one provider."""

    def __init__(self, provider: Provider, timeout_s: float) -> None:
        self._provider = provider
        self._timeout_s = timeout_s

    async def get(self, url: str, kind: type[T], headers: Mapping[str, str] | None = None) -> T:
        status, content = await self._answer("GET", url, headers or {})
        if status != httpx2.codes.OK:
            raise unusable(self._provider, f"status_{status}")
        try:
            return msgspec.json.decode(content, type=kind)
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            raise unusable(self._provider, type(error).__name__) from None

    async def post_form(
        self, url: str, fields: Mapping[str, str], headers: Mapping[str, str]
    ) -> tuple[int, bytes]:
        """The status and the content of the answer."""
        kind = {"Content-Type": "application/x-www-form-urlencoded"}
        return await self._answer("POST", url, {**headers, **kind}, urlencode(fields).encode())

    async def _answer(
        self, method: str, url: str, headers: Mapping[str, str], content: bytes = b""
    ) -> tuple[int, bytes]:
        sent = {"Accept": "application/json", **headers}
        try:
            async with (
                asyncio.timeout(self._timeout_s),
                # The operator has chosen the provider, which may be in the same network.
                OutgoingRequests(private_hosts=None) as requests,
                requests.response(method, httpx2.URL(url), sent, content) as found,
            ):
                return found.status_code, await whole(found, MAX_RESPONSE_BYTES)
        except UnusableAnswer as error:
            raise unusable(self._provider, str(error)) from None
        except (TimeoutError, OSError, UnicodeError) as error:
            raise unreachable(self._provider, type(error).__name__) from None


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
