"""Whether a port can be listened on, or who listens there."""

import contextlib
import http.client
import socket
from enum import Enum
from typing import Final

_LIMIT_S: Final = 2
# What each of our own pages says and a stranger's hardly does.
_SIGNS: Final = {"/v1/bookmarks": b'"UNAUTHORIZED"', "/metrics": b"bowerbird_"}


class Port(Enum):
    FREE = "is free"
    OURS = "is served by bowerbird"
    TAKEN = "is used by another program"
    UNUSABLE = "is no address of this machine, or needs more rights"


def state_of(host: str, port: int, path: str) -> Port:
    """Tries to listen; asks for one of our own pages if somebody already does."""
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
            return _taken(host, port, path)
    return Port.FREE


def _taken(host: str, port: int, path: str) -> Port:
    reachable = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - compared only
    with contextlib.closing(http.client.HTTPConnection(reachable, port, timeout=_LIMIT_S)) as asked:
        try:
            asked.request("GET", path)
            body = asked.getresponse().read(1 << 20)
        except ConnectionRefusedError:
            return Port.UNUSABLE
        except (OSError, http.client.HTTPException):
            return Port.TAKEN
    return Port.OURS if _SIGNS[path] in body else Port.TAKEN
