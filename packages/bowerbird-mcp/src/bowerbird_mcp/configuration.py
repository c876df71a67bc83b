"""Reads the address of the server and the API key from the environment."""

from collections.abc import Mapping
from typing import Final, NamedTuple
from urllib.parse import urlsplit

TOKEN: Final = "SERVICE_TOKEN"  # noqa: S105 - the name of the variable, not a key
ADDRESS: Final = "SERVICE_URL"
DEFAULT_ADDRESS: Final = "http://localhost:8080/mcp"


class BadConfigurationError(Exception):
    """An environment variable is invalid. The message says which and why."""


# A NamedTuple, because importing dataclasses makes the start 20 % slower.
class Configuration(NamedTuple):
    scheme: str
    host: str
    port: int | None
    path: str
    token: str

    @property
    def origin(self) -> str:
        # A URL has an IPv6 address in brackets.
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}{f':{self.port}' if self.port else ''}"

    @property
    def address(self) -> str:
        return self.origin + self.path

    @property
    def key_page(self) -> str:
        return f"{self.origin}/keys"


def read(environment: Mapping[str, str]) -> Configuration:
    given = environment.get(ADDRESS, "").strip() or DEFAULT_ADDRESS
    try:
        parts = urlsplit(given)
        port = parts.port
    except ValueError as error:
        raise BadConfigurationError(f"{ADDRESS}={given!r} is not a URL: {error}.") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise BadConfigurationError(
            f"{ADDRESS}={given!r} is not an http:// or https:// URL, such as {DEFAULT_ADDRESS}."
        )
    token = environment.get(TOKEN, "").strip()
    if not (token.isascii() and token.isprintable()):
        # Such a text cannot be sent in a header, and cannot be a key.
        raise BadConfigurationError(
            f"{TOKEN} contains characters that no API key has. Copy the key again."
        )
    path = parts.path if parts.path not in ("", "/") else "/mcp"
    return Configuration(parts.scheme, parts.hostname, port, path, token)
