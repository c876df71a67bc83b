"""Detects writes to a SQLite library without a query.

Every process maps a number in the writers' lock file into its memory. The number is odd during a
write and grows with each write. If a reader finds the same even number twice, nothing was
committed in between. A writer that is killed leaves the number odd, and readers ignore it until
the next write has ended. Reading it takes 0.2 µs; reading a row from SQLite takes 5 µs and the
interpreter lock.
"""

import mmap
import os
from typing import IO, Final

_BYTES: Final = 8


class Generation:
    def __init__(self, file: IO[bytes]) -> None:
        if os.fstat(file.fileno()).st_size < _BYTES:
            # Written, not only extended: a full disk then raises an error here, not a signal later.
            os.write(file.fileno(), bytes(_BYTES))
        self._map = mmap.mmap(file.fileno(), _BYTES)

    def begin(self) -> None:
        """Call before a transaction, while the lock is held."""
        self._put(self._number() | 1)

    def end(self) -> None:
        """Call after the commit or rollback, before any answer is delivered."""
        self._put((self._number() | 1) + 1)

    def settled(self) -> int | None:
        """The current number; None during a write, after a writer was killed, or when closed."""
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
