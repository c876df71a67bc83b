"""Sets of bookmarks' numbers as the bits of an integer. Imports numpy."""

import os
from array import array
from collections.abc import Iterable, Iterator
from typing import Final

# As in search/meaning/arrays.py, which may be imported later.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from bowerbird.storage.sqlite.words.number_texts import let_others_run

# Parsed within a millisecond.
_CHARACTERS: Final = 200_000


def set_in(texts: Iterable[str]) -> int:
    """Numbers in texts that are not empty, where commas separate them.

    The texts of a prefix may have millions of numbers in all, so they are read one after another.
    """
    table = np.zeros(0, np.uint8)
    for text in _together(texts):
        numbers = np.fromstring(text, np.int64, sep=",")
        end = int(numbers.max()) + 1
        if end > len(table):
            table = np.concatenate([table, np.zeros(max(end, 2 * len(table)), np.uint8)])
        table[numbers] = 1
        let_others_run()
    return _set(table)


def _together(texts: Iterable[str]) -> Iterator[str]:
    """The same numbers in texts of about the same length."""
    waiting: list[str] = []
    length = 0
    for text in texts:
        if len(text) > _CHARACTERS:
            yield from _parts(text)
            continue
        waiting.append(text)
        length += len(text)
        if length > _CHARACTERS:
            yield ",".join(waiting)
            waiting, length = [], 0
    if waiting:
        yield ",".join(waiting)


def _parts(text: str) -> Iterator[str]:
    first = 0
    while first < len(text):
        last = text.find(",", first + _CHARACTERS)
        last = len(text) if last < 0 else last
        yield text[first:last]
        first = last + 1


def set_of(table: bytes) -> int:
    """The numbers that have a 1 in a table."""
    return _set(np.frombuffer(table, np.uint8))


def members(numbers: int) -> "array[int]":
    """In ascending order."""
    bits = np.unpackbits(np.frombuffer(packed(numbers), np.uint8), bitorder="little")
    return _array(np.flatnonzero(bits))


def chosen(numbers: "array[int]", among: int) -> "array[int]":
    """Those that are in a set, in the same order."""
    every = np.array(numbers, np.int64)
    bits = np.frombuffer(packed(among), np.uint8)
    known = every[every < 8 * len(bits)]
    return _array(known[(bits[known >> 3] >> (known & 7)) & 1 == 1])


def packed(numbers: int) -> bytes:
    """One bit per number, the lowest one first."""
    return numbers.to_bytes(numbers.bit_length() // 8 + 1, "little")


def _set(table: "np.ndarray[tuple[int, ...], np.dtype[np.uint8]]") -> int:
    return int.from_bytes(np.packbits(table, bitorder="little").tobytes(), "little")


def _array(numbers: "np.ndarray[tuple[int, ...], np.dtype[np.int64]]") -> "array[int]":
    found = array("q")
    found.frombytes(numbers.astype(np.int64).tobytes())
    return found
