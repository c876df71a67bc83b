"""Request targets: from the bytes after the method to the path and query of an ASGI scope."""

import re
from typing import Final
from urllib.parse import unquote_to_bytes

_SCHEMES: Final = (b"http://", b"https://")
# Of the characters that RFC 3986 allows in a name, only those that names have. A comma could join
# two names.
_HOST: Final = re.compile(rb"(?:[A-Za-z0-9._~%-]*|\[[0-9A-Fa-f:.]+\])(?::[0-9]{0,5})?")


class BadTarget(ValueError):  # noqa: N818 - named for what it is
    """The target is not one that this server answers."""


def is_host(text: bytes) -> bool:
    """Whether the text is a name or an address, with a port or without. It may be empty."""
    return _HOST.fullmatch(text) is not None


def authority_of(target: bytes) -> bytes:
    """The host of a target that is a whole URL, and "" of another."""
    return _split_authority(target)[0]


def split(target: bytes) -> tuple[str, bytes, bytes]:
    """The decoded path, the path as sent, and the query."""
    if b"#" in target or not target.startswith(b"/"):
        target = _split_authority(target)[1].partition(b"#")[0]
    raw_path, _, query = target.partition(b"?")
    if b"%" in raw_path:
        # Bytes that are not UTF-8 become a character that no path contains.
        return unquote_to_bytes(raw_path).decode("utf-8", "replace"), raw_path, query
    return raw_path.decode("ascii", "replace"), raw_path, query


def _split_authority(target: bytes) -> tuple[bytes, bytes]:
    """The host, and the target as a path."""
    if target.startswith(b"/") or target == b"*":
        return b"", target
    # Clients send the whole URL to a proxy.
    for scheme in _SCHEMES:
        if target[: len(scheme)].lower() == scheme:
            rest = target[len(scheme) :]
            ends = [at for at in (rest.find(mark) for mark in (b"/", b"?", b"#")) if at >= 0]
            end = min(ends, default=len(rest))
            host, path = rest[:end], rest[end:]
            if not host or not is_host(host):
                raise BadTarget
            return host, path if path.startswith(b"/") else b"/" + path
    raise BadTarget
