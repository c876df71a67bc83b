"""A complete answer, and the headers that every answer of the API has.

The state of one resource, which begins its ETag and which conditions of writes are about.
"""

import hashlib
from collections.abc import AsyncIterator
from email.utils import formatdate
from typing import Final, NamedTuple

import msgspec
from msgspec import Struct

from bowerbird.clock import MICROSECONDS

Header = tuple[bytes, bytes]

JSON: Final[Header] = (b"content-type", b"application/json")
PRIVATE: Final[list[Header]] = [
    (b"cache-control", b"private, no-cache"),
    (b"vary", b"Authorization, Accept-Encoding"),
]
CORS: Final[list[Header]] = [
    (b"access-control-allow-origin", b"*"),
    (
        b"access-control-expose-headers",
        (
            b"Location, Retry-After, Idempotency-Replayed, ETag, WWW-Authenticate, "
            b"X-Service-Environment, Deprecation, Sunset, Link, X-Request-Id, "
            b"Accept-Ranges, Content-Disposition, Content-Range"
        ),
    ),
]
ENVIRONMENT: Final[Header] = (b"x-service-environment", b"sandbox")
REPLAYED: Final[Header] = (b"idempotency-replayed", b"true")
PREFLIGHT: Final[list[Header]] = [
    (
        b"access-control-allow-headers",
        (
            b"Authorization, Content-Encoding, Content-Type, Idempotency-Key, If-Match, "
            b"If-None-Match, If-Unmodified-Since, If-Range, Range, X-Request-Id, "
            b"X-Service-Sandbox-Error"
        ),
    ),
    (b"access-control-max-age", b"86400"),
]


class Reply(Struct, frozen=True):
    status: int
    headers: list[Header]
    body: bytes = b""
    # Sent in chunks instead of `body`. The headers contain its length.
    stream: AsyncIterator[bytes] | None = None
    # What is stored under the key of the request instead of `body`, which has a secret.
    stored: bytes | None = None

    def with_headers(self, *more: Header) -> "Reply":
        return msgspec.structs.replace(self, headers=[*self.headers, *more])


class Unsettled(Struct, frozen=True):
    """The body of an answer that changes although the library does not. It is not cached."""

    body: bytes


class Finished(Struct, frozen=True):
    """A body with its own headers, in place of those of an answer of the API."""

    body: bytes
    headers: list[Header]


class State(NamedTuple):
    """What is stored of one resource, and when that was last changed."""

    stored: bytes
    changed_at: int

    @property
    def tag(self) -> bytes:
        """The half of an ETag that shows in which state a resource is."""
        return hashlib.blake2b(self.stored, digest_size=16).hexdigest().encode()

    @property
    def last_modified(self) -> tuple[bytes, bytes]:
        date = formatdate(self.changed_at // MICROSECONDS, usegmt=True)
        return b"last-modified", date.encode()


def state_of(stored: object, changed_at: int) -> State:
    return State(msgspec.json.encode(stored), changed_at)
