"""Resolves the name of a host, and refuses addresses that are not on the public internet."""

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

Resolve = Callable[[str], Awaitable[Sequence[str]]]
"""The addresses of a name. Raises OSError if there are none."""

_PORT: Final = 443
# Other blocks of IPv6 are for links, for groups, or lead to IPv4 addresses (mapped, NAT64).
_UNICAST: Final = ipaddress.IPv6Network("2000::/3")
# 6to4 and Teredo: an IPv4 address, which may be a private one, is part of the address.
_TUNNELS: Final = (ipaddress.IPv6Network("2002::/16"), ipaddress.IPv6Network("2001::/32"))


async def resolve(name: str) -> Sequence[str]:
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(name, _PORT, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


def is_public(text: str) -> bool:
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return False
    if not address.is_global or address.is_multicast or address.is_reserved:
        return False
    if isinstance(address, ipaddress.IPv4Address):
        return True
    return address in _UNICAST and not any(address in network for network in _TUNNELS)
