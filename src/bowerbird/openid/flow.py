"""The authorization code flow with PKCE, for one provider, up to the verified ID token.

Imported with the first sign-in, because httpx2, Authlib and joserfc are slow to import.
"""

import base64
import hmac
import re
import secrets
import warnings
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote

import msgspec
from authlib.oauth2.client import OAuth2Client
from authlib.oidc.core import CodeIDToken
from joserfc import jwt
from joserfc.errors import InvalidKeyIdError, SecurityWarning
from joserfc.jwk import KeySet
from joserfc.jws import JWSRegistry
from msgspec import Struct

from bowerbird.clock import MICROSECONDS, Clock
from bowerbird.openid.fetching import Discovery, Fetcher
from bowerbird.openid.providers import (
    Begun,
    Claims,
    Endpoints,
    GitHubEmail,
    GitHubUser,
    Person,
    Provider,
    Started,
    XAnswer,
    expired,
    from_claims,
    from_github,
    from_x,
    not_asked_again,
    read_claims,
    refused,
    unusable,
    unverified,
)

_LEEWAY_S: Final = 60


class IdTokens:
    def __init__(self, provider: Provider, discovery: Discovery) -> None:
        self._provider = provider
        self._discovery = discovery

    async def verify(
        self, id_token: str, *, nonce: str, access_token: str, now_s: int
    ) -> dict[str, Any]:
        """The claims of a valid ID token. Anything else is a ProviderProblem."""
        decoded = await self._decode(id_token)
        claims = CodeIDToken(
            decoded.claims,
            decoded.header,
            {
                "iss": {"essential": True, "value": self._provider.issuer},
                "aud": {"essential": True, "value": self._provider.client_id},
                "sub": {"essential": True},
            },
            {
                "nonce": nonce,
                "client_id": self._provider.client_id,
                "access_token": access_token,
            },
        )
        try:
            claims.validate(now_s, _LEEWAY_S)
        except Exception as error:  # noqa: BLE001 - see `_decode_with`
            raise unverified(self._provider, _describe(error)) from None
        return decoded.claims

    async def _decode(self, id_token: str) -> jwt.Token:
        keys = await self._discovery.keys()
        algorithms = (await self._discovery.document()).algorithms
        decoded = self._decode_with(keys, id_token, algorithms)
        if decoded is None:
            newer = await self._discovery.newer_keys(keys)
            decoded = self._decode_with(newer, id_token, algorithms) if newer else None
        if decoded is None:
            raise unverified(self._provider, "unknown_key")
        return decoded

    def _decode_with(
        self, keys: KeySet, id_token: str, algorithms: tuple[str, ...]
    ) -> jwt.Token | None:
        """None if the key is unknown: the provider may have published it since."""
        registry = JWSRegistry(algorithms=algorithms, strict_check_header=False)
        try:
            with warnings.catch_warnings():
                # EdDSA is deprecated only as the name of the algorithm.
                warnings.simplefilter("ignore", SecurityWarning)
                return jwt.decode(id_token, keys, registry=registry)
        except InvalidKeyIdError:
            return None
        except Exception as error:  # noqa: BLE001 - the token may make joserfc fail in any way
            raise unverified(self._provider, _describe(error)) from None


def require_asked_since(provider: Provider, claims: dict[str, Any], asked_at_s: int) -> None:
    """Refuses the answer of a provider that has not asked the person to sign in again.

    Somebody at an open browser can remove that wish from the address that it is sent to.
    """
    # Authlib has checked that it is a number.
    signed_in_at = claims.get("auth_time") or 0
    if signed_in_at < asked_at_s - _LEEWAY_S:
        raise not_asked_again(provider)


def _describe(error: Exception) -> str:
    """The kind of error, and the name of the claim. Its message could contain parts of a token."""
    claim = getattr(error, "claim", "")
    return f"id_token_{type(error).__name__}" + (f"_{claim}" if claim else "")


_FIRST_ERROR_OF_SERVER: Final = 500
_CODE: Final = re.compile(r"[\x20-\x7e]{1,4096}")
_SENDABLE: Final = re.compile(r"[\x21-\x7e]{1,16384}")
_GITHUB_HEADERS: Final = {
    "Accept": "application/vnd.github+json",
    "X-GitHub-Api-Version": "2022-11-28",
}


class _Tokens(Struct, frozen=True):
    access_token: str
    id_token: str | None = None


class _Destination(Struct, frozen=True):
    """Where a sign-in goes, found in the settings or by discovery."""

    authorization: str
    token: str
    issuers: tuple[str, ...]
    must_name_issuer: bool = False
    uses_basic_authentication: bool = True


class Flow:
    def __init__(
        self, provider: Provider, redirect_url: str, clock: Clock, timeout_s: float
    ) -> None:
        self._provider = provider
        self._redirect_url = redirect_url
        self._clock = clock
        self._timeout_s = timeout_s
        self._fetcher = Fetcher(provider, timeout_s)
        self._discovery = Discovery(provider, self._fetcher, clock)
        self._id_tokens = IdTokens(provider, self._discovery)

    async def begin(self, *, is_again: bool) -> Begun:
        state, nonce, verifier = (secrets.token_urlsafe(32) for _ in range(3))
        destination = await self._destination()
        client = OAuth2Client(
            session=None,
            client_id=self._provider.client_id,
            scope=self._provider.scope,
            redirect_uri=self._redirect_url,
            code_challenge_method="S256",
        )
        more = {"nonce": nonce} if self._provider.protocol == "openid" else {}
        if is_again and self._provider.prompt_again:
            more["prompt"] = self._provider.prompt_again
        if is_again and self._provider.says_when:
            more["max_age"] = "0"
        url, _ = client.create_authorization_url(
            destination.authorization, state=state, code_verifier=verifier, **more
        )
        return Begun(url=url, state=state, nonce=nonce, verifier=verifier)

    async def finish(
        self, begun: Started, query: Mapping[str, str], *, asked_again_at: int | None
    ) -> Person:
        if not _is_same(begun.state, query.get("state", "")):
            raise expired()
        destination = await self._destination()
        named = query.get("iss")
        if (named is None and destination.must_name_issuer) or (
            named is not None and named not in destination.issuers
        ):
            raise unverified(self._provider, "response_names_another_issuer")
        if "error" in query:
            raise refused(self._provider, query["error"])
        code = query.get("code", "")
        if not _CODE.fullmatch(code):
            raise unusable(self._provider, "code")
        tokens = await self._exchange(destination, code, begun.verifier)
        if self._provider.protocol == "openid":
            return await self._read_id_token(tokens, begun.nonce, asked_again_at)
        assert self._provider.endpoints is not None
        return await self._read_user(self._provider.endpoints, tokens.access_token)

    async def _destination(self) -> _Destination:
        if known := self._provider.endpoints:
            return _Destination(
                authorization=known.authorization,
                token=known.token,
                issuers=known.issuers,
                uses_basic_authentication=self._provider.protocol != "github",
            )
        document = await self._discovery.document()
        return _Destination(
            authorization=document.authorization_endpoint,
            token=document.token_endpoint,
            issuers=(document.issuer,),
            must_name_issuer=bool(document.authorization_response_iss_parameter_supported),
            uses_basic_authentication=document.takes_basic_authentication,
        )

    async def _exchange(self, destination: _Destination, code: str, verifier: str) -> _Tokens:
        provider = self._provider
        fields = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self._redirect_url,
            "code_verifier": verifier,
        }
        headers = {}
        if destination.uses_basic_authentication:
            # RFC 6749, 2.3.1: id and secret are form-encoded first.
            pair = f"{_form(provider.client_id)}:{_form(provider.client_secret)}"
            headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
        else:
            fields |= {"client_id": provider.client_id, "client_secret": provider.client_secret}
        status, content = await self._fetcher.post_form(destination.token, fields, headers)
        if status >= _FIRST_ERROR_OF_SERVER:
            raise unusable(provider, f"status_{status}")
        try:
            answer = msgspec.json.decode(content, type=dict[str, Any])
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            raise unusable(provider, f"token_{type(error).__name__}") from None
        if "error" in answer:
            raise refused(provider, answer["error"])
        return self._read_tokens(answer)

    def _read_tokens(self, answer: dict[str, Any]) -> _Tokens:
        try:
            tokens = msgspec.convert(answer, _Tokens)
        except msgspec.ValidationError:
            raise unusable(self._provider, "tokens") from None
        # It becomes part of a header.
        if not _SENDABLE.fullmatch(tokens.access_token):
            raise unusable(self._provider, "access_token")
        return tokens

    async def _read_id_token(
        self, tokens: _Tokens, nonce: str, asked_again_at: int | None
    ) -> Person:
        if not (tokens.id_token and nonce):
            raise unusable(self._provider, "no_id_token")
        verified = await self._id_tokens.verify(
            tokens.id_token,
            nonce=nonce,
            access_token=tokens.access_token,
            now_s=self._clock() // MICROSECONDS,
        )
        if asked_again_at is not None and self._provider.says_when:
            require_asked_since(self._provider, verified, asked_again_at // MICROSECONDS)
        claims = read_claims(self._provider, verified)
        url = (await self._discovery.document()).userinfo_endpoint
        if claims.email is None and url:
            claims = await self._read_userinfo(url, tokens.access_token, claims.sub)
        return from_claims(self._provider, claims)

    async def _read_userinfo(self, url: str, access_token: str, subject: str) -> Claims:
        """Many providers leave the email address out of the ID token."""
        claims = await self._fetcher.get(url, Claims, _bearer(access_token))
        if claims.sub != subject:
            raise unverified(self._provider, "userinfo_of_another_person")
        return claims

    async def _read_user(self, endpoints: Endpoints, access_token: str) -> Person:
        headers = _bearer(access_token)
        if self._provider.protocol == "x":
            answer = await self._fetcher.get(endpoints.user, XAnswer, headers)
            return from_x(self._provider, answer)
        headers |= _GITHUB_HEADERS
        user = await self._fetcher.get(endpoints.user, GitHubUser, headers)
        emails = await self._fetcher.get(endpoints.emails, list[GitHubEmail], headers)
        return from_github(self._provider, user, emails)


def _is_same(expected: str, given: str) -> bool:
    if not expected:
        return False
    return hmac.compare_digest(
        expected.encode(errors="surrogatepass"), given.encode(errors="surrogatepass")
    )


def _form(text: str) -> str:
    return quote(text, safe="")


def _bearer(access_token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {access_token}"}
