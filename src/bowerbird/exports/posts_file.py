"""The files of an export: posts, which are the input of every format, and the index of pictures."""

from collections.abc import AsyncIterable, AsyncIterator, Iterator
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec
from msgspec import Raw, Struct

from bowerbird.model import json_depth
from bowerbird.model.posts.media import image_urls

T = TypeVar("T")

_OPENING: Final = b"[\n"
_BETWEEN: Final = b",\n"
_CLOSING: Final = b"]\n"
_COMMA, _OPEN, _CLOSE = b",[]"
# Several pages, because the beginning of the next one is moved before more is read.
_READ_BYTES: Final = 1 << 22


async def to_json_array(pages: AsyncIterable[bytes]) -> AsyncIterator[bytes]:
    """Yields the file piece by piece. A page is Bookmarks joined by commas; it may be empty."""
    yield _OPENING
    is_first = True
    async for page in pages:
        if page:
            yield page if is_first else _BETWEEN + page
            is_first = False
    yield _CLOSING if is_first else b"\n" + _CLOSING


def read_pages(file: Path, kind: type[T]) -> Iterator[list[T]]:
    """Reads one page of posts at a time. Raises msgspec.MsgspecError for any other file.

    Values that are nested too deeply for the decoder are cut. Only then: looking for them takes
    three times as long as decoding a page.
    """
    decode = msgspec.json.Decoder(list[kind]).decode  # type: ignore[valid-type]  # the caller's type
    for page in _pages(file):
        try:
            # A raw value is a part of the bytes that it was decoded from.
            yield decode(bytes(page) if kind is Raw else page)
        except RecursionError:
            yield decode(json_depth.cut(bytes(page)))


def _pages(file: Path) -> Iterator[memoryview]:
    """Each page as a JSON array, valid until the next one. Lines of the file would be copies."""
    buffer = bytearray(_READ_BYTES)
    # The bytes that are not yet passed on. The one before them becomes a bracket.
    start = end = 1
    with file.open("rb", buffering=0) as source:
        while read := source.readinto(memoryview(buffer)[end:]):
            searched, end = end, end + read
            while (line_end := buffer.find(b"\n", searched, end)) >= 0:
                if line_end - start > 1:
                    # A comma follows each page but the last.
                    last = line_end - 1 if buffer[line_end - 1] == _COMMA else line_end
                    buffer[start - 1], buffer[last] = _OPEN, _CLOSE
                    yield memoryview(buffer)[start - 1 : last + 1]
                start = searched = line_end + 1
            if start > 1:
                rest = buffer[start:end]
                start, end = 1, 1 + len(rest)
                buffer[1:end] = rest
            if end == len(buffer):
                buffer = buffer + bytes(len(buffer))
    if start < end:
        # The file was cut off, which the decoder reports.
        yield memoryview(b"[%b]" % bytes(buffer[start:end]))


_INDEX: Final = "index.json"
# Typesetting holds a picture in memory, with about four bytes per pixel; see `volumes`.
BYTES_PER_PIXEL: Final = 4


_ENDINGS: Final = {
    "image/jpeg": ".jpg",
    "image/png": ".png",
    "image/gif": ".gif",
    "image/webp": ".webp",
    "image/avif": ".avif",
}


class Picture(Struct, frozen=True, array_like=True):
    file: str
    width: int
    height: int
    type: str = ""

    @property
    def name(self) -> str:
        """Its name in an export that has it as a file."""
        return f"{self.file}{_ENDINGS.get(self.type, '')}"


Pictures = dict[str, Picture]


def write(folder: Path, pictures: Pictures) -> None:
    (folder / _INDEX).write_bytes(msgspec.json.encode(pictures))


def read(folder: str) -> Pictures:
    """The pictures of the task; none if it has no folder of them."""
    if not folder:
        return {}
    return msgspec.json.decode((Path(folder) / _INDEX).read_bytes(), type=Pictures)


def of_post(details: dict[str, Any], pictures: Pictures) -> list[str]:
    """The URLs of a post's images that the export has."""
    return [url for url in image_urls(details) if url in pictures] if pictures else []
