"""Messages between an import and its indexing process: a length, then MessagePack."""

from typing import Final

import msgspec

from bowerbird.search.words.tokens import INDEX_FORM

LENGTH_BYTES: Final = 4
# An upgrade during an import may start a process of another release, which must not be used if it
# makes other index texts.
READY: Final = bytes((INDEX_FORM & 0xFF,))

# The texts and the names of a post, as `index_text` takes them.
Fields = tuple[list[str], list[str]]

encode_fields: Final = msgspec.msgpack.Encoder().encode
decode_fields: Final = msgspec.msgpack.Decoder(list[Fields]).decode
decode_texts: Final = msgspec.msgpack.Decoder(list[str]).decode


def frame(data: bytes) -> bytes:
    return len(data).to_bytes(LENGTH_BYTES, "big") + data
