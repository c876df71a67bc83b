"""The id of a sandbox export. It encodes the whole job, so nothing has to be stored.

An id consists of the format, the start time, one bit per post of the library, and a checksum. The
checksum detects altered ids. It is not a secret: a forged id only selects public sample posts.
"""

import hashlib
from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from bowerbird.exports.tasks import FORMATS

_FORMATS: Final = tuple(FORMATS)
_TIME_BYTES: Final = 8
_CHECKSUM_BYTES: Final = 8
_HEAD_BYTES: Final = 1 + _TIME_BYTES
_MAX_CHARACTERS: Final = 64


class Ticket(Struct, frozen=True):
    format: str
    started_at: int
    # Bookmark numbers of the selected posts, ascending.
    numbers: tuple[int, ...]


def encode(ticket: Ticket, epoch: int) -> str:
    """With another epoch, and so other sample posts, the id is invalid."""
    body = bytes([_FORMATS.index(ticket.format)])
    body += ticket.started_at.to_bytes(_TIME_BYTES)
    body += _bits(ticket.numbers)
    return (body + _checksum(body, epoch)).hex()


def decode(job_id: str, epoch: int) -> Ticket | None:
    """None if the id was altered or belongs to other sample posts."""
    try:
        raw = bytes.fromhex(job_id[: _MAX_CHARACTERS + 1])
    except ValueError:
        return None
    body, checksum = raw[:-_CHECKSUM_BYTES], raw[-_CHECKSUM_BYTES:]
    # `fromhex` also accepts upper case and spaces; each export has only one id.
    if raw.hex() != job_id or len(body) < _HEAD_BYTES or checksum != _checksum(body, epoch):
        return None
    if body[0] >= len(_FORMATS):
        return None
    return Ticket(
        _FORMATS[body[0]],
        int.from_bytes(body[1:_HEAD_BYTES]),
        tuple(_numbers(int.from_bytes(body[_HEAD_BYTES:]))),
    )


def _bits(numbers: Iterable[int]) -> bytes:
    bits = sum(1 << number for number in numbers)
    return bits.to_bytes((bits.bit_length() + 7) // 8)


def _numbers(bits: int) -> Iterable[int]:
    return (number for number in range(bits.bit_length()) if bits >> number & 1)


def _checksum(body: bytes, epoch: int) -> bytes:
    return hashlib.blake2b(
        body, digest_size=_CHECKSUM_BYTES, key=epoch.to_bytes(8), person=b"sandbox export"
    ).digest()
