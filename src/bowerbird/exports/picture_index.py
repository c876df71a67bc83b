"""The pictures of an export: files in a folder, and an index by the URL that posts have."""

from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct

from bowerbird.model.kept_images import image_urls

_INDEX: Final = "index.json"
# Typesetting holds a picture in memory, with about four bytes per pixel; see `volumes`.
BYTES_PER_PIXEL: Final = 4


class Picture(Struct, frozen=True, array_like=True):
    file: str
    width: int
    height: int


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
