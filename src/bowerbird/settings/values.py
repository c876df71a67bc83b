"""Checks of single values: addresses, origins, keys and contacts."""

import ipaddress
import re
from typing import Final
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
