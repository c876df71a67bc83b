"""Small pictures of every known format, 7 pixels wide and 5 high, and PNG files of any size."""

import struct
import zlib
from base64 import b64decode
from typing import Final

JPEG: Final = b64decode(
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDABsSFBcUERsXFhceHBsgKEIrKCUlKFE6PTBCYFVlZF9VXVtqeJmBanGQc1td"
    "hbWGkJ6jq62rZ4C8ybqmx5moq6T/2wBDARweHigjKE4rK06kbl1upKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSk"
    "pKSkpKSkpKSkpKSkpKSkpKSkpKT/wgARCAAFAAcDASIAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAAAAP/xAAUAQEA"
    "AAAAAAAAAAAAAAAAAAAD/9oADAMBAAIQAxAAAAGAYv/EABQQAQAAAAAAAAAAAAAAAAAAAAD/2gAIAQEAAQUCf//EABQR"
    "AQAAAAAAAAAAAAAAAAAAAAD/2gAIAQMBAT8Bf//EABQRAQAAAAAAAAAAAAAAAAAAAAD/2gAIAQIBAT8Bf//EABQQAQAA"
    "AAAAAAAAAAAAAAAAAAD/2gAIAQEABj8Cf//EABQQAQAAAAAAAAAAAAAAAAAAAAD/2gAIAQEAAT8hf//aAAwDAQACAAMA"
    "AAAQC//EABQRAQAAAAAAAAAAAAAAAAAAAAD/2gAIAQMBAT8Qf//EABQRAQAAAAAAAAAAAAAAAAAAAAD/2gAIAQIBAT8Q"
    "f//EABQQAQAAAAAAAAAAAAAAAAAAAAD/2gAIAQEAAT8Qf//Z"
)
GIF: Final = b64decode("R0lGODdhBwAFAIEAAB5aoAAAAAAAAAAAACwAAAAABwAFAAAIDAABCBxIsKDBgwcDAgA7")
WEBP_LOSSLESS: Final = b64decode("UklGRh4AAABXRUJQVlA4TBEAAAAvBgABAAdQrXoUtP+BiOh/AAA=")
WEBP: Final = b64decode(
    "UklGRjAAAABXRUJQVlA4ICQAAABwAQCdASoHAAUAB0CWJaACdAFAAAD+5AF5HO9n1HcszhXMQAA="
)
WEBP_EXTENDED: Final = b64decode(
    "UklGRlQAAABXRUJQVlA4WAoAAAAQAAAABgAABAAAQUxQSAoAAAABB1CyiAhERP8DVlA4ICQAAABwAQCdASoHAAUAB0CW"
    "JaACdAFAAAD+5AF5HO9n1HcszhXMQAA="
)
AVIF: Final = b64decode(
    "AAAAIGZ0eXBhdmlmAAAAAGF2aWZtaWYxbWlhZk1BMUIAAADrbWV0YQAAAAAAAAAhaGRscgAAAAAAAAAAcGljdAAAAAAA"
    "AAAAAAAAAAAAAAAOcGl0bQAAAAAAAQAAAB5pbG9jAAAAAEQAAAEAAQAAAAEAAAETAAAAJAAAAChpaW5mAAAAAAABAAAA"
    "GmluZmUCAAAAAAEAAGF2MDFDb2xvcgAAAABqaXBycAAAAEtpcGNvAAAAFGlzcGUAAAAAAAAABwAAAAUAAAAQcGl4aQAA"
    "AAADCAgIAAAADGF2MUOBAAwAAAAAE2NvbHJuY2x4AAEADQAGgAAAABdpcG1hAAAAAAAAAAEAAQQBAoMEAAAALG1kYXQS"
    "AAoIGAi0aICGg0IyFh2Hh4Wd3HHHAsAAAJA1jjx8hdjMy0A="
)


def png(width: int = 7, height: int = 5, colour: tuple[int, int, int] = (30, 90, 160)) -> bytes:
    """A picture of one colour."""
    row = b"\0" + bytes(colour) * width
    return _png(width, height, zlib.compress(row * height))


def png_bomb(width: int, height: int) -> bytes:
    """States a size without the pixels for it."""
    return _png(width, height, zlib.compress(b"\0" * 1_000))


def _png(width: int, height: int, pixels: bytes) -> bytes:
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = [(b"IHDR", head), (b"IDAT", pixels), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in parts)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


# The beginning of an MP4 file.
MP4: Final = b"\0\0\0\x18ftypisom\0\0\x02\0isommp42" + bytes(range(200))
