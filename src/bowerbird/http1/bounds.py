"""What one connection, and all connections together, may take of the server."""

import resource
from typing import Final

import structlog
from msgspec import Struct

from bowerbird.settings import Settings

# Request line and headers together. The pipeline accepts 32 KiB of headers and answers above that
# in the form of each surface; beyond this bound nothing is read.
MAX_HEAD_BYTES: Final = 64 * 1024
MAX_HEADERS: Final = 200
# A body is read no faster than the application takes it.
MAX_UNREAD_BODY_BYTES: Final = 256 * 1024
# What `writelines` may leave in memory before the application has to wait for the client.
MAX_UNSENT_BYTES: Final = 64 * 1024
# Answers that clients do not read, in all connections together.
MAX_ALL_UNSENT_BYTES: Final = 256 * 1024 * 1024
# Bodies of requests that are arriving or being answered, in all connections together: those of
# callers with an account, and those of strangers.
MAX_ALL_BODY_BYTES: Final = 256 * 1024 * 1024
MAX_STRANGERS_BODY_BYTES: Final = 32 * 1024 * 1024
MAX_PIPELINED: Final = 16
# A client that sends or reads more slowly than this is closed once its time-out has passed.
MIN_BYTES_PER_SECOND: Final = 16 * 1024
# How long the server reads what a refused client still sends, so that the client sees the answer.
LINGER_S: Final = 2.0
# Answered even when every connection is busy.
HEALTH_PATHS: Final = ("/healthz", "/livez", "/readyz")
# Room for health checks when every connection is busy.
RESERVED_CONNECTIONS: Final = 64
# Open files that are not connections: databases, logs, threads, clients of other services.
_OTHER_FILES: Final = 256


class Bounds(Struct, frozen=True, kw_only=True):
    """The bounds that are settings."""

    max_connections: int
    header_timeout_s: float
    body_timeout_s: float
    response_timeout_s: float
    idle_timeout_s: float


def of(settings: Settings) -> Bounds:
    return Bounds(
        max_connections=_within_open_files(settings.max_connections),
        header_timeout_s=settings.header_timeout_s,
        body_timeout_s=settings.body_timeout_s,
        response_timeout_s=settings.response_timeout_s,
        idle_timeout_s=settings.idle_timeout_s,
    )


def _within_open_files(wanted: int) -> int:
    """Raises the process's limit of open files, and returns how many connections fit into it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = wanted + RESERVED_CONNECTIONS + _OTHER_FILES
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return wanted
    possible = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (possible, hard))
    fitting = max(possible - RESERVED_CONNECTIONS - _OTHER_FILES, 1)
    if fitting < wanted:
        structlog.get_logger().warning(
            "fewer connections", wanted=wanted, possible=fitting, open_files_limit=hard
        )
    return min(wanted, fitting)
