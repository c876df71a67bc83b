"""Reads the address of the server, the API key and the allowed tools from the environment."""

import re
from collections.abc import Mapping
from typing import Final, NamedTuple
from urllib.parse import parse_qs, urlsplit

TOKEN: Final = "SERVICE_TOKEN"  # noqa: S105 - the name of the variable, not a key
ADDRESS: Final = "SERVICE_URL"
READ_ONLY: Final = "SERVICE_READ_ONLY"
TOOLS: Final = "SERVICE_TOOLS"
DEFAULT_ADDRESS: Final = "http://localhost:8080/mcp"
_ON: Final = ("1", "true")
_OFF: Final = ("", "0", "false")
_TOOL_NAME: Final = re.compile(r"[a-z_]{1,64}")


class BadConfigurationError(Exception):
    """An environment variable is invalid. The message says which and why."""


# A NamedTuple, because importing dataclasses makes the start 20 % slower.
class Configuration(NamedTuple):
    scheme: str
    host: str
    port: int | None
    # With the query, if the address has one.
    path: str
    token: str
    is_read_only: bool = False
    # Names of tools; an empty list means all.
    tools: tuple[str, ...] = ()

    @property
    def restrictions(self) -> dict[str, str]:
        """The headers with which the server restricts this connection."""
        headers = {"X-MCP-Readonly": "1"} if self.is_read_only else {}
        return {**headers, "X-MCP-Tools": ",".join(self.tools)} if self.tools else headers

    def allows(self, name: str, *, is_reading: bool) -> bool:
        """Whether the server would list this tool, restricted by variables and by the address."""
        query = parse_qs(self.path.partition("?")[2])
        in_address = any(value.strip().lower() in _ON for value in query.get("read_only", []))
        if (self.is_read_only or in_address) and not is_reading:
            return False
        chosen = [self.tools] if self.tools else []
        chosen += [tuple(part.strip() for part in t.split(",")) for t in query.get("tools", [])]
        return all(name in names for names in chosen)

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
    if "#" in given:
        # It is never sent, so a restriction in it would have no effect.
        raise BadConfigurationError(
            f"{ADDRESS}={given!r} must not contain '#'. Restrictions start with '?', as in "
            f"{DEFAULT_ADDRESS}?read_only=1."
        )
    token = environment.get(TOKEN, "").strip()
    if not (token.isascii() and token.isprintable()):
        # Such a text cannot be sent in a header, and cannot be a key.
        raise BadConfigurationError(
            f"{TOKEN} contains characters that no API key has. Copy the key again."
        )
    path = parts.path if parts.path not in ("", "/") else "/mcp"
    return Configuration(
        parts.scheme,
        parts.hostname,
        port,
        f"{path}?{parts.query}" if parts.query else path,
        token,
        _switch(environment),
        _tools(environment),
    )


def _switch(environment: Mapping[str, str]) -> bool:
    given = environment.get(READ_ONLY, "").strip().lower()
    # Anything else would leave a person in doubt whether the connection can write.
    if given not in (*_ON, *_OFF):
        raise BadConfigurationError(f"{READ_ONLY}={given!r} must be 1 or 0.")
    return given in _ON


def _tools(environment: Mapping[str, str]) -> tuple[str, ...]:
    given = environment.get(TOOLS, "")
    names = tuple(filter(None, (name.strip() for name in given.split(","))))
    has_no_name = bool(given.strip()) and not names
    if has_no_name or not all(_TOOL_NAME.fullmatch(name) for name in names):
        raise BadConfigurationError(
            f"{TOOLS}={given!r} must be names of tools, separated by commas."
        )
    return names
