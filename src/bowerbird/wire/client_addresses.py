"""The network address of a client, also behind a reverse proxy."""

import ipaddress
from typing import Final

from starlette.types import Scope

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
