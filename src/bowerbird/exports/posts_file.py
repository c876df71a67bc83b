"""Writes and reads the file of posts: the JSON export, and the input of every other format.

The file is a JSON array. The brackets are on their own lines, and each line between them is one
page of posts, `{…},{…}`. So writer and reader never hold more than one page.
"""

from collections.abc import AsyncIterable, AsyncIterator, Iterator
from pathlib import Path
from typing import Final, TypeVar

import msgspec

from bowerbird.model import json_depth

T = TypeVar("T")

_OPENING: Final = b"[\n"
_BETWEEN: Final = b",\n"
_CLOSING: Final = b"]\n"
# About one page, so that a line is not put together from many small pieces.
_READ_BYTES: Final = 1 << 20


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
    with file.open("rb", buffering=_READ_BYTES) as lines:
        for line in lines:
            if line not in (_OPENING, _CLOSING):
                page = b"[%b]" % line.rstrip(b",\n")
                try:
                    yield decode(page)
                except RecursionError:
                    yield decode(json_depth.cut(page))
