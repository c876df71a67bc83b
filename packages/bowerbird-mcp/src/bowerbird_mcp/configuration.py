"""What the environment says: where the server is, and the key it is called with."""

from collections.abc import Mapping
from typing import Final, NamedTuple
from urllib.parse import urlsplit

TOKEN: Final = "SERVICE_TOKEN"  # noqa: S105 - the variable's name, not a key
ADDRESS: Final = "SERVICE_URL"
LOCAL: Final = "http://localhost:8080/mcp"


class BadAddressError(Exception):
    """SERVICE_URL cannot be used; says why."""


# Not a dataclass: that would add a fifth to the time of the start.
class Configuration(NamedTuple):
    scheme: str
    host: str
    port: int | None
    path: str
    token: str

    @property
    def origin(self) -> str:
        # An address of IPv6 stands in brackets.
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}{f':{self.port}' if self.port else ''}"

    @property
    def address(self) -> str:
        return self.origin + self.path

    @property
    def key_page(self) -> str:
        return f"{self.origin}/keys"


def read(environment: Mapping[str, str]) -> Configuration:
    given = environment.get(ADDRESS, "").strip() or LOCAL
    try:
        parts = urlsplit(given)
        port = parts.port
    except ValueError as error:
        raise BadAddressError(f"{ADDRESS}={given!r} is not an address: {error}.") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise BadAddressError(
            f"{ADDRESS}={given!r} is not an http:// or https:// address, such as {LOCAL}."
        )
    token = environment.get(TOKEN, "").strip()
    if not (token.isascii() and token.isprintable()):
        # It would not go into a header; the server could not know it either.
        raise BadAddressError(f"{TOKEN} holds characters that no key has; copy the key anew.")
    path = parts.path if parts.path not in ("", "/") else "/mcp"
    return Configuration(parts.scheme, parts.hostname, port, path, token)
