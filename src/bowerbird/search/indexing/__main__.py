"""The indexing process: reads the texts of posts, and writes their index texts.

It ends when its input ends, so also when the import was killed.
"""

import os
import sys
from typing import Final

from bowerbird.search.indexing.second_process import (
    LENGTH_BYTES,
    READY,
    decode_fields,
    encode_fields,
    frame,
)
from bowerbird.search.words.tokens import index_text

# A server on the same machine comes first.
_NICENESS: Final = 10


def main() -> None:
    os.nice(_NICENESS)
    received, sent = sys.stdin.buffer, sys.stdout.buffer
    sent.write(READY)
    sent.flush()
    while len(length := received.read(LENGTH_BYTES)) == LENGTH_BYTES:
        posts = decode_fields(received.read(int.from_bytes(length, "big")))
        sent.write(frame(encode_fields([index_text(texts, names) for texts, names in posts])))
        sent.flush()


if __name__ == "__main__":
    try:
        main()
    except BrokenPipeError:
        # The import has ended. Python would report that it cannot flush its output.
        sys.stdout = None
