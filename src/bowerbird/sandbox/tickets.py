"""The id of a sandbox's export: all there is to know of it, so that nothing has to be kept.

Format, moment and one bit for each post of the library, and a seal. The seal is no secret: it
tells an id that was given out from a bent one, and who forges one gets a file of fixtures.
"""

import hashlib
from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from bowerbird.exports.formats import FORMATS

_FORMATS: Final = tuple(FORMATS)
_MOMENT_BYTES: Final = 8
_SEAL_BYTES: Final = 8
_HEAD_BYTES: Final = 1 + _MOMENT_BYTES
_LONGEST: Final = 64


class Ticket(Struct, frozen=True):
    format: str
    started_at: int
    # The numbers of the bookmarks, in their order.
    numbers: tuple[int, ...]


def write(ticket: Ticket, epoch: int) -> str:
    """The epoch binds an id to its fixtures: of others the bits would mean other posts."""
    body = bytes([_FORMATS.index(ticket.format)])
    body += ticket.started_at.to_bytes(_MOMENT_BYTES)
    body += _bits(ticket.numbers)
    return (body + _seal(body, epoch)).hex()


def read(job_id: str, epoch: int) -> Ticket | None:
    """None for what was not given out, or for other fixtures."""
    try:
        raw = bytes.fromhex(job_id[: _LONGEST + 1])
    except ValueError:
        return None
    body, seal = raw[:-_SEAL_BYTES], raw[-_SEAL_BYTES:]
    # One text a ticket: hexadecimal digits can be written in other ways.
    if raw.hex() != job_id or len(body) < _HEAD_BYTES or seal != _seal(body, epoch):
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


def _seal(body: bytes, epoch: int) -> bytes:
    return hashlib.blake2b(
        body, digest_size=_SEAL_BYTES, key=epoch.to_bytes(8), person=b"sandbox export"
    ).digest()
