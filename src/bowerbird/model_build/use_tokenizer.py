"""Converts the SentencePiece model of the Universal Sentence Encoder for the tokenizers package."""

import struct
from collections.abc import Iterator
from typing import Any

from tokenizers import Regex, Tokenizer, normalizers, pre_tokenizers
from tokenizers.models import Unigram
from tokenizers.processors import TemplateProcessing

UNKNOWN, FIRST, LAST = 0, 1, 2
# The fields of SentencePiece's own messages.
PIECES, NORMALIZER = 1, 3
TEXT, SCORE, CHARACTERS = 1, 2, 2
# The bit of a byte that says that another byte follows.
MORE = 0x80
VARINT, EIGHT_BYTES, BYTES, FOUR_BYTES = 0, 1, 2, 5


def tokenizer(model: bytes) -> Any:
    vocabulary, characters = [], b""
    for field, value in fields(model):
        if field == PIECES:
            piece = dict(fields(value))
            (score,) = struct.unpack("<f", piece.get(SCORE, bytes(4)))
            vocabulary.append((piece[TEXT].decode(), score))
        elif field == NORMALIZER:
            characters = dict(fields(value))[CHARACTERS]
    built = Tokenizer(Unigram(vocabulary, unk_id=UNKNOWN, byte_fallback=False))
    built.normalizer = normalizers.Sequence(
        [
            normalizers.Precompiled(characters),
            normalizers.Strip(left=True, right=True),
            normalizers.Replace(Regex(" {2,}"), " "),
        ]
    )
    built.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")
    names = [vocabulary[number][0] for number in (FIRST, LAST)]
    built.post_processor = TemplateProcessing(
        single=f"{names[0]} $A {names[1]}",
        special_tokens=list(zip(names, (FIRST, LAST), strict=True)),
    )
    return built


def fields(message: bytes) -> Iterator[tuple[int, bytes]]:
    """The fields of a protobuf message that have a length or four bytes, by number."""
    place = 0
    while place < len(message):
        tag, place = varint(message, place)
        number, kind = tag >> 3, tag & 7
        if kind == VARINT:
            _, place = varint(message, place)
            continue
        if kind == BYTES:
            length, place = varint(message, place)
        else:
            length = {EIGHT_BYTES: 8, FOUR_BYTES: 4}[kind]
        if kind != EIGHT_BYTES:
            yield number, message[place : place + length]
        place += length


def varint(message: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[place]
        value |= (byte & 0x7F) << shift
        place, shift = place + 1, shift + 7
        if not byte & MORE:
            return value, place
