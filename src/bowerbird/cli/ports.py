"""Finds out whether a port is free, and otherwise whether Bowerbird listens on it."""

import contextlib
import http.client
import socket
from enum import Enum
from typing import Final

_TIMEOUT_S: Final = 2
# Text that identifies our own response at each path.
_OUR_RESPONSES: Final = {"/v1/bookmarks": b'"UNAUTHORIZED"', "/metrics": b"bowerbird_"}


class Port(Enum):
    FREE = "is free"
    OURS = "is served by bowerbird"
    OTHER_PROGRAM = "is used by another program"
    UNUSABLE = "is not an address of this machine, or this user may not listen on it"


def port_state(host: str, port: int, path: str) -> Port:
    """Tries to listen. If a program already does, requests `path` from it to identify it."""
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except OSError:
        return Port.UNUSABLE
    with socket.socket(family, kind) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(address)
            probe.listen()
        except PermissionError:
            return Port.UNUSABLE
        except OSError:
            return _identify_listener(host, port, path)
    return Port.FREE


def _identify_listener(host: str, port: int, path: str) -> Port:
    reachable = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - compared only
    with contextlib.closing(
        http.client.HTTPConnection(reachable, port, timeout=_TIMEOUT_S)
    ) as connection:
        try:
            connection.request("GET", path)
            body = connection.getresponse().read(1 << 20)
        except ConnectionRefusedError:
            return Port.UNUSABLE
        except (OSError, http.client.HTTPException):
            return Port.OTHER_PROGRAM
    return Port.OURS if _OUR_RESPONSES[path] in body else Port.OTHER_PROGRAM
