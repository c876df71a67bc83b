"""The files of an export: posts, which are the input of every format, and the index of pictures."""

from collections.abc import AsyncIterable, AsyncIterator, Iterator
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec
from msgspec import Struct

from bowerbird.model import json_depth
from bowerbird.model.posts.media import image_urls

T = TypeVar("T")

_OPENING: Final = b"[\n"
_BETWEEN: Final = b",\n"
_CLOSING: Final = b"]\n"


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
            yield decode(page)
        except RecursionError:
            yield decode(json_depth.cut(page))


def _pages(file: Path) -> Iterator[bytes]:
    """Each page as a JSON array. A page is a line, and a comma follows each but the last."""
    with file.open("rb") as source:
        for line in source:
            if not line.endswith(b"\n"):
                # The file was cut off, which the decoder reports.
                yield b"[%b]" % line
            elif line not in (_OPENING, _CLOSING):
                yield b"[%b]" % line.removesuffix(b"\n").removesuffix(b",")


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
