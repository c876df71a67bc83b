"""Reads settings from environment variables, and secrets from the files that these name.

Also checks single values: addresses, origins, keys and contacts.
"""

import difflib
import ipaddress
import os
import re
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

PREFIX: Final = "BOWERBIRD_"
_VISIBLE: Final = re.compile(r"[\x21-\x7e]*")
_ORIGIN: Final = re.compile(r"[a-z]+://[^/?#@\s]+/?")
_HOST_NAME: Final = re.compile(
    r"(?=.{4,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]*[a-z0-9]"
)
LOOPBACK: Final = ("localhost", "127.0.0.1")
_ATOM: Final = r"[A-Za-z0-9!#$%&'*+/=?^_{|}~-]+"
# An address that mail servers accept without extensions, inside another pattern.
MAILBOX: Final = rf"{_ATOM}(?:\.{_ATOM})*@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*"
_CONTACT: Final = re.compile(rf"{MAILBOX}|https://[^\s<>\"]+")


class BadSetting(Exception):  # noqa: N818 - named for what it is
    """A setting has an invalid value. The message names the variable and says what is valid."""


def one_of(name: str, value: str, accepted: tuple[str, ...]) -> None:
    if value not in accepted:
        raise BadSetting(f"{PREFIX}{name}={value!r} must be one of {', '.join(accepted)}.")


def check_address(name: str, value: str) -> None:
    if not value:
        return
    if not is_web_address(value):
        raise BadSetting(
            f"{PREFIX}{name.upper()}={value!r} is not an http:// or https:// URL "
            "(if it has a port, the port must be a number from 1 to 65535)."
        )


def is_web_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        # urlsplit checks the port only when it is read.
        is_sound = parts.port != 0 and _VISIBLE.fullmatch(text) is not None
    except ValueError:
        return False
    return is_sound and parts.scheme in ("http", "https") and bool(parts.hostname)


def check_secure_address(name: str, value: str) -> None:
    if value and not is_secure_address(value):
        raise BadSetting(
            f"{PREFIX}{name.upper()}={value!r} must be an https:// URL without user name, query "
            "and fragment. http:// is allowed only for localhost and 127.0.0.1."
        )


def is_secure_address(text: str) -> bool:
    """Whether nobody between this server and the address can read or change what is sent."""
    if not is_web_address(text) or any(mark in text for mark in "@?#\\"):
        return False
    parts = urlsplit(text)
    return parts.scheme == "https" or parts.hostname in LOOPBACK


def check_origin(name: str, value: str) -> None:
    if value and not (is_web_address(value) and _ORIGIN.fullmatch(value)):
        raise BadSetting(
            f"{PREFIX}{name.upper()}: {value!r} is not an origin such as https://app.example.com."
        )


def check_key(name: str, value: str) -> None:
    # The key is sent in a header. It is a secret, so the error message does not repeat it.
    if not _VISIBLE.fullmatch(value):
        raise BadSetting(
            f"{PREFIX}{name.upper()} contains characters that a key cannot contain; copy it again."
        )


def check_contact(name: str, value: str) -> None:
    # security.txt has one field per line, so a contact must not contain a line break.
    if value and not _CONTACT.fullmatch(value):
        raise BadSetting(
            f"{PREFIX}{name.upper()}={value!r} must be an email address or an https:// URL."
        )


def check_network(name: str, value: str) -> None:
    try:
        ipaddress.ip_network(value or "::1", strict=False)
    except ValueError:
        raise BadSetting(
            f"{PREFIX}{name.upper()}: {value!r} is not an IP address or network such as 10.0.0.0/8."
        ) from None


def is_host_name(text: str) -> bool:
    """Whether it is a name with a dot in it, in small letters, and not an address."""
    return _HOST_NAME.fullmatch(text) is not None


def check_host_name(name: str, value: str) -> None:
    if value and not is_host_name(value.lower()):
        raise BadSetting(
            f"{PREFIX}{name.upper()}: {value!r} is not the name of a host such as "
            "files.example.social."
        )


_GONE: Final = {
    "BOWERBIRD_SIGNUP_PLAN": "was replaced by BOWERBIRD_DEFAULT_PLAN",
    "BOWERBIRD_HTTP2_PORT": "was removed; a proxy reaches the service over HTTP/1.1 only",
}


def read(env: Mapping[str, str], table: Any) -> dict[str, Any]:
    """The values of all variables that start with the prefix, by the name of their field."""
    known = {PREFIX + f.name.upper(): f for f in fields(table)}
    values: dict[str, Any] = {}
    for variable, given in env.items():
        if not variable.startswith(PREFIX):
            continue
        name, text = _resolve(variable, given, known)
        values[known[name].name] = _convert(name, text, type(known[name].default))
    return values


def without_settings() -> dict[str, str]:
    """The environment for another process, which needs none of our secrets."""
    return {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}


def _resolve(variable: str, given: str, known: Mapping[str, Any]) -> tuple[str, str]:
    """The setting of a variable, and its text. NAME_FILE contains the path of a secret's file."""
    if variable in known:
        return variable, given
    if variable in _GONE:
        raise BadSetting(f"{variable} {_GONE[variable]}. See docs/settings.md.")
    name = variable.removesuffix("_FILE")
    if name == variable or name not in known or not known[name].metadata["secret"]:
        near = difflib.get_close_matches(variable, known, n=1, cutoff=0)
        raise BadSetting(
            f"{variable} is not a setting. Did you mean {near[0]}? See docs/settings.md."
        )
    try:
        return name, Path(given).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise BadSetting(f"{variable}: cannot read {given!r}: {error}.") from None


def _convert(name: str, text: str, kind: type) -> object:
    if not text and issubclass(kind, Path):
        raise BadSetting(
            f"{name} is empty. Leave it out for the folder data, or set it to . for the current "
            "folder."
        )
    try:
        return kind(text)
    except ValueError:
        unit = " of seconds" if name.endswith("_S") else ""
        raise BadSetting(f"{name}={text!r} must be a whole number{unit}.") from None
