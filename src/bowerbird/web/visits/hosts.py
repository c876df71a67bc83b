"""The addresses under which the website may be opened.

A page of somebody else can point its own name at this machine ("DNS rebinding"), so names other
than the configured ones are refused. An IP address cannot be pointed anywhere.
"""

import ipaddress
from typing import Final
from urllib.parse import urlsplit

from msgspec import Struct

from bowerbird.errors import Code, Refusal
from bowerbird.settings import Settings

_LOCAL_NAMES: Final = ("localhost", "127.0.0.1", "[::1]")


class Host(Struct, frozen=True):
    """The address that a browser has opened."""

    origin: str
    # Passkeys belong to a name, so they do not work on an IP address.
    is_ip_address: bool


class OwnHosts:
    def __init__(self, settings: Settings) -> None:
        parts = urlsplit(settings.site_origin)
        self._site = Host(f"{parts.scheme}://{parts.netloc}".lower(), is_ip_address(parts.netloc))
        self._site_netloc = parts.netloc.lower()
        self._is_configured = bool(settings.site_url or settings.base_url)
        self._local = {f"{name}:{settings.port}" for name in _LOCAL_NAMES}

    def of(self, header: bytes | None) -> Host:
        """The host of a request. Raises a refusal if it is not one of ours."""
        name = (header or b"").decode("latin-1").strip().lower()
        if name == self._site_netloc:
            return self._site
        if name in self._local or (is_ip_address(name) and not self._is_configured):
            return Host(f"http://{name}", is_ip_address(name))
        raise Refusal(
            Code.INVALID_REQUEST,
            f"This site is not available under that name. Open {self._site.origin}. If you operate "
            "it, set BOWERBIRD_SITE_URL to the address that you use.",
        )


def is_ip_address(netloc: str) -> bool:
    try:
        ipaddress.ip_address(urlsplit(f"//{netloc}").hostname or "")
    except ValueError:
        return False
    return True
