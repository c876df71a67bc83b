"""Tells whether a SQLite library was written to, without asking SQLite.

A number in the writers' lock file, which every process maps into its memory: odd while somebody
writes, raised when it is done. Whoever finds the same even number twice knows that nothing was
committed between. A writer that is killed leaves it odd, and nobody trusts it until the next
write has ended. Reading it takes 0.2 µs, one row of SQLite 5 µs and a fight for the interpreter.
"""

import mmap
import os
from typing import IO, Final

_BYTES: Final = 8


class Generation:
    def __init__(self, file: IO[bytes]) -> None:
        if os.fstat(file.fileno()).st_size < _BYTES:
            # Written, not only made longer: a full disk then says so here, and not by a signal.
            os.write(file.fileno(), bytes(_BYTES))
        self._map = mmap.mmap(file.fileno(), _BYTES)

    def begin(self) -> None:
        """Before a transaction, while the lock is held."""
        self._put(self._number() | 1)

    def end(self) -> None:
        """After its commit or rollback, before anybody is told of it."""
        self._put((self._number() | 1) + 1)

    def settled(self) -> int | None:
        """The present number; None while somebody writes, or died writing, or after the end."""
        if self._map.closed:
            return None
        number = self._number()
        return None if number & 1 else number

    def close(self) -> None:
        self._map.close()

    def _number(self) -> int:
        return int.from_bytes(self._map[:_BYTES], "little")

    def _put(self, number: int) -> None:
        self._map[:_BYTES] = number.to_bytes(_BYTES, "little")
