"""The file of posts that every export begins with, and that is the JSON export itself.

A JSON array, laid out so that neither side parses more than a page at a time: the brackets have
lines of their own, and each line between them is one page as storage joins it, `{…},{…}`.
"""

from collections.abc import AsyncIterable, AsyncIterator, Iterator
from pathlib import Path
from typing import Final, TypeVar

import msgspec

T = TypeVar("T")

_OPENING: Final = b"[\n"
_BETWEEN: Final = b",\n"
_CLOSING: Final = b"]\n"


async def framed(pages: AsyncIterable[bytes]) -> AsyncIterator[bytes]:
    """The pieces of the file. A page is Bookmarks parted by commas; empty ones leave no trace."""
    yield _OPENING
    is_first = True
    async for page in pages:
        if page:
            yield page if is_first else _BETWEEN + page
            is_first = False
    yield _CLOSING if is_first else b"\n" + _CLOSING


def pages(file: Path, kind: type[T]) -> Iterator[list[T]]:
    """The posts of a file, a page at a time. Raises msgspec.MsgspecError for any other file."""
    decode = msgspec.json.Decoder(list[kind]).decode  # type: ignore[valid-type]  # the caller's
    with file.open("rb") as lines:
        for line in lines:
            if line not in (_OPENING, _CLOSING):
                yield decode(b"[%b]" % line.rstrip(b",\n"))
