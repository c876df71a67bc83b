"""The words of stored posts, computed before the transaction that needs them.

Deleting or restoring a post changes the counts of its words. Cutting a long article into words
takes 30 to 50 ms, and other writers would wait for it. Words are found by the texts they come from,
so they cannot be outdated: if a post has changed since, its new words are computed when needed.
"""

from collections.abc import Sequence
from hashlib import blake2b
from typing import Final

from bowerbird.search.words.tokens import index_text

_MOST_CHARACTERS: Final = 8 << 20
_DIGEST_BYTES: Final = 16


class WordsAhead:
    """Threads may share it: each use is one step. Beyond its room, all that waits is forgotten."""

    def __init__(self, most: int = _MOST_CHARACTERS) -> None:
        self._most = most
        self._found: dict[bytes, str] = {}

    @property
    def size(self) -> int:
        return sum(map(len, tuple(self._found.values())))

    def add(self, *texts: Sequence[str]) -> None:
        """The arguments of `index_text`."""
        self._found[_key(*texts)] = index_text(*texts)
        if self.size > self._most:
            self._found.clear()

    def take(self, *texts: Sequence[str]) -> str:
        """The index text of these texts. It is computed if it was not added before."""
        words = self._found.pop(_key(*texts), None) if self._found else None
        return index_text(*texts) if words is None else words


def _key(*texts: Sequence[str]) -> bytes:
    # Unlike the texts one after the other, this says where each of them ends.
    return blake2b(repr(list(map(list, texts))).encode(), digest_size=_DIGEST_BYTES).digest()


words_ahead: Final = WordsAhead()
