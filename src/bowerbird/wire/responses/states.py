"""The state of one resource, which begins its ETag and which conditions of writes are about."""

import hashlib
from email.utils import formatdate
from typing import NamedTuple

import msgspec

from bowerbird.clock import MICROSECONDS


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
