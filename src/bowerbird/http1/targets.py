"""Request targets: from the bytes after the method to the path and query of an ASGI scope."""

from typing import Final
from urllib.parse import unquote_to_bytes

_SCHEMES: Final = (b"http://", b"https://")


class BadTarget(ValueError):  # noqa: N818 - named for what it is
    """The target is not one that this server answers."""


def split(target: bytes) -> tuple[str, bytes, bytes]:
    """The decoded path, the path as sent, and the query."""
    if b"#" in target or not target.startswith(b"/"):
        target = _without_authority(target).partition(b"#")[0]
    raw_path, _, query = target.partition(b"?")
    if b"%" in raw_path:
        # Bytes that are not UTF-8 become a character that no path contains.
        return unquote_to_bytes(raw_path).decode("utf-8", "replace"), raw_path, query
    return raw_path.decode("ascii", "replace"), raw_path, query


def _without_authority(target: bytes) -> bytes:
    if target.startswith(b"/") or target == b"*":
        return target
    # Clients send the whole URL to a proxy.
    for scheme in _SCHEMES:
        if target[: len(scheme)].lower() == scheme:
            rest = target[len(scheme) :]
            ends = [at for at in (rest.find(mark) for mark in (b"/", b"?", b"#")) if at >= 0]
            path = rest[min(ends, default=len(rest)) :]
            return path if path.startswith(b"/") else b"/" + path
    raise BadTarget
