"""The cookies of the website. Scripts cannot read them, and other sites cannot send them along.

On https their names start with `__Host-`, so that no other host can set them. A browser refuses
that name on plain http, and sends cookies to every port of a host: there the name has the port.
"""

from typing import Final
from urllib.parse import urlsplit

from bowerbird.wire.responses.replies import Header

_MAX_HEADER_BYTES: Final = 8 * 1024
_DAY_S: Final = 86_400


class CookieJar:
    """Names, reads and writes the cookies of a site at this origin."""

    def __init__(self, site_origin: str) -> None:
        parts = urlsplit(site_origin)
        self._is_secure = parts.scheme == "https"
        self._start = "__Host-bowerbird" if self._is_secure else f"bowerbird-{parts.port or 80}"

    def read(self, header: bytes | None, purpose: str) -> str:
        """The value of a cookie, or ''."""
        if header is None or len(header) > _MAX_HEADER_BYTES:
            return ""
        name = self._name(purpose)
        for pair in header.decode("latin-1").split(";"):
            found, _, value = pair.partition("=")
            if found.strip() == name:
                return value.strip()
        return ""

    def write(self, purpose: str, value: str, days: float | None = None) -> Header:
        """A header that sets a cookie, until the browser closes unless `days` are given."""
        if not _is_plain(value):
            raise ValueError("a cookie value must be plain ASCII")
        parts = [f"{self._name(purpose)}={value}", "Path=/", "HttpOnly", "SameSite=Lax"]
        if days is not None:
            parts.append(f"Max-Age={int(days * _DAY_S)}")
        if self._is_secure:
            parts.append("Secure")
        return b"set-cookie", "; ".join(parts).encode("ascii")

    def remove(self, purpose: str) -> Header:
        return self.write(purpose, "", 0)

    def _name(self, purpose: str) -> str:
        return f"{self._start}-{purpose}"


def _is_plain(value: str) -> bool:
    return value.isascii() and not set(value) & set(' ",;\\') and value.isprintable()
