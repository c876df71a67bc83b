"""Who calls. One look-up a request, nothing kept: a revoked key ends with the next call."""

from collections.abc import Awaitable, Callable

from bowerbird.clock import Clock, month_of
from bowerbird.errors import Code, Refusal
from bowerbird.model.accounts import Account
from bowerbird.model.keys import parse_key
from bowerbird.storage.accounts import AccountStore

Authenticate = Callable[[bytes | None], Awaitable[Account]]


def authenticator(store: AccountStore, clock: Clock, site_origin: str) -> Authenticate:
    challenge = (
        'Bearer realm="bowerbird", '
        f'resource_metadata="{site_origin}/.well-known/oauth-protected-resource"'
    )

    def refused(sentence: str, *, is_bad_token: bool) -> Refusal:
        extra = ', error="invalid_token"' if is_bad_token else ""
        return Refusal(Code.UNAUTHORIZED, sentence, {"WWW-Authenticate": challenge + extra})

    async def authenticate(header: bytes | None) -> Account:
        """Raises a refusal unless the Authorization header names a live key."""
        if header is None:
            raise refused(
                "No API key was sent; send it as Authorization: Bearer <API_KEY>.",
                is_bad_token=False,
            )
        scheme, _, token = header.decode("latin-1").strip().partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            raise refused("Authorization must be: Bearer <API_KEY>.", is_bad_token=False)
        key = parse_key(token.strip())
        if key is not None:
            account = await store.by_key(key.account_id, key.key_hash, month_of(clock()))
            if account is not None:
                return account
        # One sentence for a malformed, an unknown and a revoked key: nothing can be guessed.
        raise refused("The API key is not valid, or was revoked.", is_bad_token=True)

    return authenticate
