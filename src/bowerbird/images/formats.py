"""Reads the type and the size of an image from its first bytes.

Only formats that cannot contain a script are known. The name of a file and the type that a server
states are not looked at. Nothing is decoded, so a small file with a huge picture costs nothing.
"""

import struct
from collections.abc import Callable, Iterator
from typing import Final

from msgspec import Struct

Size = tuple[int, int]
# Where the size of an AVIF picture is: box by box, from the outermost.
_AVIF_PATH: Final = (b"meta", b"iprp", b"ipco")
_AVIF_BRANDS: Final = (b"avif", b"avis")
# JPEG: frame headers have these codes, except for three that mean something else.
_FRAMES: Final = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_WITHOUT_LENGTH: Final = frozenset((0x01, *range(0xD0, 0xD9)))
_MARKERS_MAX: Final = 1_000
_BOXES_MAX: Final = 1_000


class ImageFormat(Struct, frozen=True):
    """The media type of an image, and its width and height in pixels."""

    type: str
    width: int
    height: int


def format_of(content: bytes) -> ImageFormat | None:
    """None if the bytes are not an image of a known format."""
    for media_type, is_it, size_of in _READERS:
        if is_it(content):
            try:
                width, height = size_of(content)
            except (struct.error, IndexError, ValueError):
                return None
            return ImageFormat(media_type, width, height) if width and height else None
    return None


def _png(content: bytes) -> Size:
    if content[12:16] != b"IHDR":
        raise ValueError
    width, height = struct.unpack_from(">II", content, 16)
    return width, height


def _gif(content: bytes) -> Size:
    width, height = struct.unpack_from("<HH", content, 6)
    return width, height


def _jpeg(content: bytes) -> Size:
    at = 2
    for _ in range(_MARKERS_MAX):
        if content[at] != 0xFF:  # noqa: PLR2004 - starts every marker
            raise ValueError
        code = content[at + 1]
        if code == 0xFF:  # noqa: PLR2004 - a filling byte
            at += 1
        elif code in _FRAMES:
            height, width = struct.unpack_from(">HH", content, at + 5)
            return width, height
        elif code in _WITHOUT_LENGTH:
            at += 2
        else:
            at += 2 + struct.unpack_from(">H", content, at + 2)[0]
    raise ValueError


def _webp(content: bytes) -> Size:
    kind = content[12:16]
    if kind == b"VP8X":
        return _number24(content, 24) + 1, _number24(content, 27) + 1
    if kind == b"VP8 " and content[23:26] == b"\x9d\x01\x2a":
        width, height = struct.unpack_from("<HH", content, 26)
        return width & 0x3FFF, height & 0x3FFF
    if kind == b"VP8L" and content[20] == 0x2F:  # noqa: PLR2004 - its signature
        bits = struct.unpack_from("<I", content, 21)[0]
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    raise ValueError


def _number24(content: bytes, at: int) -> int:
    return content[at] | content[at + 1] << 8 | content[at + 2] << 16


def _avif(content: bytes) -> Size:
    """The largest size that any of its pictures states: a decoder may have to decode it."""
    first, end = 0, len(content)
    for name in _AVIF_PATH:
        found = [(start, last) for kind, start, last in _boxes(content, first, end) if kind == name]
        first, end = found[0]
        # `meta` starts with a version and flags.
        first += 4 if name == b"meta" else 0
    sizes = [
        struct.unpack_from(">II", content, start + 4)
        for kind, start, _ in _boxes(content, first, end)
        if kind == b"ispe"
    ]
    width, height = max(sizes, key=lambda size: size[0] * size[1])
    return width, height


def _boxes(content: bytes, first: int, end: int) -> Iterator[tuple[bytes, int, int]]:
    """The boxes within a part of a file: name, and where the content starts and ends."""
    for _ in range(_BOXES_MAX):
        if first + 8 > end:
            break
        size, kind = struct.unpack_from(">I4s", content, first)
        start = first + 8
        if size == 1:
            size = struct.unpack_from(">Q", content, start)[0]
            start += 8
        last = first + size if size else end
        if last < start or last > end:
            break
        yield kind, start, last
        first = last


_READERS: Final[tuple[tuple[str, Callable[[bytes], bool], Callable[[bytes], Size]], ...]] = (
    ("image/jpeg", lambda c: c.startswith(b"\xff\xd8\xff"), _jpeg),
    ("image/png", lambda c: c.startswith(b"\x89PNG\r\n\x1a\n"), _png),
    ("image/gif", lambda c: c.startswith((b"GIF87a", b"GIF89a")), _gif),
    ("image/webp", lambda c: c[:4] == b"RIFF" and c[8:12] == b"WEBP", _webp),
    ("image/avif", lambda c: c[4:8] == b"ftyp" and c[8:12] in _AVIF_BRANDS, _avif),
)
# MP4, the only form in which X and Mastodon give videos and animations. Its size is not read.
VIDEO: Final = ImageFormat("video/mp4", 0, 0)
_VIDEO_BRANDS: Final = frozenset(
    {b"isom", b"iso2", b"iso4", b"iso5", b"iso6", b"mp41", b"mp42", b"avc1", b"M4V ", b"dash"}
)


def is_video(content: bytes | bytearray) -> bool:
    return content[4:8] == b"ftyp" and bytes(content[8:12]) in _VIDEO_BRANDS


TYPES: Final = tuple(media_type for media_type, *_ in _READERS)
