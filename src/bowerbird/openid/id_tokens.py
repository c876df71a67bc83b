"""Verifies an ID token: the signature with joserfc, the claims with Authlib."""

import warnings
from typing import Any, Final

from authlib.oidc.core import CodeIDToken
from joserfc import jwt
from joserfc.errors import InvalidKeyIdError, SecurityWarning
from joserfc.jwk import KeySet
from joserfc.jws import JWSRegistry

from bowerbird.openid.discovery import Discovery
from bowerbird.openid.problems import not_asked_again, unverified
from bowerbird.openid.providers import Provider

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
