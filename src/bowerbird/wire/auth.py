"""Authenticates requests by API key. A revoked key stops working at once, on every node.

The account is read for each request, unless the database knows that nothing was committed since
the last read. Then the account from that read is reused.

Also the network address of a client, behind a reverse proxy too.
"""

import ipaddress
from collections.abc import Callable
from functools import partial
from typing import Final

from starlette.types import Scope

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


_FORWARDED: Final = b"x-forwarded-for"
# A chain of proxies is short; a longer header is made up.
_MAX_HOPS: Final = 20

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class ClientAddresses:
    """`trusted` holds addresses and networks of proxies, separated by commas."""

    def __init__(self, trusted: str) -> None:
        texts = [text.strip() for text in trusted.split(",")]
        self._trusted = [ipaddress.ip_network(text, strict=False) for text in texts if text]

    def of(self, scope: Scope) -> str:
        """The address of the client, or '' if it has none."""
        nearest = _nearest(scope)
        if nearest is None:
            return ""
        if not self._is_trusted(nearest):
            return str(nearest)
        return str(self._behind(nearest, scope))

    def is_trusted_proxy(self, scope: Scope) -> bool:
        """Whether the connection comes from one of the proxies."""
        nearest = _nearest(scope)
        return nearest is not None and self._is_trusted(nearest)

    def _behind(self, nearest: Address, scope: Scope) -> Address:
        """Each proxy appends the address that it saw, so the last untrusted one is the client's."""
        values = [value for name, value in scope["headers"] if name == _FORWARDED]
        hops = b",".join(values).decode("latin-1").split(",")[-_MAX_HOPS:]
        for hop in reversed(hops):
            address = _parsed(hop.strip())
            if address is None:
                break
            nearest = address
            if not self._is_trusted(address):
                break
        return nearest

    def _is_trusted(self, address: Address) -> bool:
        return any(address in network for network in self._trusted)


def _nearest(scope: Scope) -> Address | None:
    client = scope.get("client")
    return _parsed(client[0]) if client else None


def _parsed(text: str) -> Address | None:
    try:
        # Without the zone of a link-local address, which can be any text.
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address


def network_of(address: str) -> str:
    """Addresses that one customer of a provider can change at will count as one: a /64 of IPv6."""
    parsed = _parsed(address)
    if isinstance(parsed, ipaddress.IPv6Address):
        return str(ipaddress.ip_network((parsed, 64), strict=False))
    return address
