"""Splits a file into JSON documents: one, several one after the other, or an array of them."""

import re
from collections.abc import Iterator
from typing import Final

from bowerbird.sources.parsing.json_records import (
    MalformedFile,
    Readable,
    Record,
    Window,
    element,
)

# The bracket of an array around the documents says nothing.
_BETWEEN: Final = re.compile(rb"[ \t\r\n,\[\]]*")
_BOM: Final = b"\xef\xbb\xbf"


def documents(file: Readable) -> Iterator[Record]:
    """Each document with its first line. A broken end of the file is a record with a problem."""
    window = Window(file)
    window.more()
    if window.data.startswith(_BOM):
        window.position = len(_BOM)
    try:
        while True:
            window.skip(_BETWEEN)
            if window.position == len(window.data):
                return
            yield element(window)
    except MalformedFile as problem:
        yield Record(problem.line, b"", str(problem))
