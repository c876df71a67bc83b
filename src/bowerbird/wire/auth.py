"""Who calls. A revoked key ends with the next call, on every node.

An account is looked up for each request, unless the database can tell that nothing at all was
committed since the last look: then it is the same one, counters and version included.
"""

from typing import Final

from bowerbird.clock import MICROSECONDS, Clock, month_of
from bowerbird.errors import Code, Refusal
from bowerbird.model.accounts import Account
from bowerbird.model.keys import parse_key
from bowerbird.storage.accounts.accounts import AccountStore

_KEPT_MOST: Final = 10_000
_LONGEST_HEADER: Final = 100


class Authenticator:
    def __init__(self, store: AccountStore, clock: Clock, site_origin: str) -> None:
        self._store = store
        self._clock = clock
        self._site_origin = site_origin
        self._moment: tuple[int, int] | None = None
        self._kept: dict[bytes, Account] = {}

    async def __call__(self, header: bytes | None) -> Account:
        """Raises a refusal unless the Authorization header names a live key."""
        now = self._clock()
        moment = self._moment_of(now)
        if moment is not None and moment == self._moment and header in self._kept:
            return self._kept[header]
        account = await self._found(header, month_of(now))
        self._keep(moment, header, account)
        return account

    def _moment_of(self, now: int) -> tuple[int, int] | None:
        """Equal for calls between which nothing changed; a second at most, for foreign writers."""
        generation = self._store.generation()
        return None if generation is None else (generation, now // MICROSECONDS)

    def _keep(self, moment: tuple[int, int] | None, header: bytes | None, account: Account) -> None:
        if moment is None or header is None or len(header) > _LONGEST_HEADER:
            return
        # A write may have ended since `moment` was read; then the next call finds another moment.
        if moment != self._moment or len(self._kept) >= _KEPT_MOST:
            self._moment = moment
            self._kept.clear()
        self._kept[header] = account

    async def _found(self, header: bytes | None, month: int) -> Account:
        if header is None:
            raise self._refused(
                "No API key was sent; send it as Authorization: Bearer <API_KEY>.",
                is_bad_token=False,
            )
        scheme, _, token = header.decode("latin-1").strip().partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            raise self._refused("Authorization must be: Bearer <API_KEY>.", is_bad_token=False)
        key = parse_key(token.strip())
        if key is not None:
            account = await self._store.by_key(key.account_id, key.key_hash, month)
            if account is not None:
                return account
        # One sentence for a malformed, an unknown and a revoked key: nothing can be guessed.
        raise self._refused("The API key is not valid, or was revoked.", is_bad_token=True)

    def _refused(self, sentence: str, *, is_bad_token: bool) -> Refusal:
        return unauthorized(sentence, self._site_origin, is_bad_token=is_bad_token)


def unauthorized(sentence: str, site_origin: str, *, is_bad_token: bool) -> Refusal:
    """Tells where the resource is described, and of a key that was sent that it is no good."""
    challenge = (
        'Bearer realm="bowerbird", '
        f'resource_metadata="{site_origin}/.well-known/oauth-protected-resource"'
    )
    extra = ', error="invalid_token"' if is_bad_token else ""
    return Refusal(Code.UNAUTHORIZED, sentence, {"WWW-Authenticate": challenge + extra})
