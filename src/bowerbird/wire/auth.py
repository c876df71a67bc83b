"""Authenticates requests by API key. A revoked key stops working at once, on every node.

The account is read for each request, unless the database knows that nothing was committed since
the last read. Then the account from that read is reused.
"""

from collections.abc import Callable
from functools import partial
from typing import Final

from bowerbird.clock import MICROSECONDS, Clock, month_of
from bowerbird.errors import Code, Refusal
from bowerbird.model import keys
from bowerbird.model.accounts import Account
from bowerbird.model.bulk import Maker
from bowerbird.model.keys import DEVICE_PREFIX, ParsedKey, parse_key
from bowerbird.storage.accounts.accounts import AccountStore

_MAX_CACHED: Final = 10_000
_MAX_HEADER_BYTES: Final = 100


class Authenticator:
    def __init__(
        self,
        store: AccountStore,
        clock: Clock,
        site_origin: str,
        record_use: Callable[[ParsedKey], None] = lambda _: None,
    ) -> None:
        """`record_use` gets a valid key when it is read, so at least once a second while used."""
        self._store = store
        self._clock = clock
        self._site_origin = site_origin
        self._record_use = record_use
        self._moment: tuple[int, int] | None = None
        self._accounts: dict[bytes, Account] = {}

    async def __call__(self, header: bytes | None, resource_path: str = "") -> Account:
        """Raises a refusal unless the Authorization header contains a valid key.

        The refusal names the metadata of the resource at this path, by default of the origin.
        """
        now = self._clock()
        moment = self._moment_of(now)
        if moment is not None and moment == self._moment and header in self._accounts:
            return self._accounts[header]
        account = await self._found(header, month_of(now), resource_path)
        self._cache(moment, header, account)
        return account

    def _moment_of(self, now: int) -> tuple[int, int] | None:
        """Equal for calls in the same second with no commit in between.

        The second limits how long a write by another program, such as sqlite3, stays unseen.
        """
        generation = self._store.generation()
        return None if generation is None else (generation, now // MICROSECONDS)

    def _cache(
        self, moment: tuple[int, int] | None, header: bytes | None, account: Account
    ) -> None:
        if moment is None or header is None or len(header) > _MAX_HEADER_BYTES:
            return
        # If a write was committed since `moment` was read, the next call has a different moment.
        if moment != self._moment or len(self._accounts) >= _MAX_CACHED:
            self._moment = moment
            self._accounts.clear()
        self._accounts[header] = account

    async def _found(self, header: bytes | None, month: int, resource_path: str) -> Account:
        refused = partial(unauthorized, site_origin=self._site_origin, resource_path=resource_path)
        if header is None:
            raise refused(
                "No API key was sent; send it as Authorization: Bearer <API_KEY>.",
                is_bad_token=False,
            )
        token = bearer_token(header)
        if not token:
            raise refused("Authorization must be: Bearer <API_KEY>.", is_bad_token=False)
        if token.startswith(DEVICE_PREFIX):
            raise refused(
                "A device token cannot be used here, only under /ingest/v1. Use an API key.",
                is_bad_token=True,
            )
        key = parse_key(token)
        if key is not None:
            account = await self._store.by_key(key.account_id, key.key_hash, month)
            if account is not None:
                self._record_use(key)
                return account
        # One sentence for malformed, unknown and revoked keys: it must not reveal which.
        raise refused("The API key is not valid, or was revoked.", is_bad_token=True)


def bearer_token(header: bytes) -> str:
    """The token of an Authorization header, or "" if it has none."""
    scheme, _, token = header.decode("latin-1").strip().partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def maker_of(maker: Maker, header: bytes | None) -> str:
    """Who sends a request, as changes store it: its surface, and the key without its secret."""
    key = None if header is None else parse_key(bearer_token(header))
    return maker.value if key is None else f"{maker.value}:{keys.part_of_hash(key.key_hash)}"


def unauthorized(
    sentence: str, site_origin: str, *, is_bad_token: bool, resource_path: str = ""
) -> Refusal:
    """A refusal with its challenge header. `is_bad_token` means that an invalid key was sent."""
    challenge = (
        'Bearer realm="bowerbird", '
        f'resource_metadata="{site_origin}/.well-known/oauth-protected-resource{resource_path}"'
    )
    extra = ', error="invalid_token"' if is_bad_token else ""
    return Refusal(Code.UNAUTHORIZED, sentence, {"WWW-Authenticate": challenge + extra})
