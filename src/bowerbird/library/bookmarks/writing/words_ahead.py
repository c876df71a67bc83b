"""The words of stored posts, computed before the transaction that needs them.

Deleting or restoring a post changes the counts of its words. Cutting a long article into words
takes 30 to 50 ms, and other writers would wait for it. Words are found by the texts they come from,
so they cannot be outdated: if a post has changed since, its new words are computed when needed.
"""

import sys
import threading
from collections import OrderedDict
from collections.abc import Sequence
from hashlib import blake2b
from typing import Final

from bowerbird.search.words.tokens import index_text

_MOST_BYTES: Final = 8 << 20
_DIGEST_BYTES: Final = 16
# What nobody has taken after so many other posts belongs to a change that was refused.
_MOST_MISSES: Final = 1_000


class WordsAhead:
    """Threads may share it. What nobody has taken is forgotten, the oldest first."""

    def __init__(self, most_bytes: int = _MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._lock = threading.Lock()
        self._found: OrderedDict[bytes, str] = OrderedDict()
        self._misses = 0
        self.size = 0

    def add(self, texts: Sequence[str], names: Sequence[str]) -> None:
        key, words = _key(texts, names), index_text(texts, names)
        with self._lock:
            self._misses = 0
            self._remove(key)
            self._found[key] = words
            self.size += sys.getsizeof(words)
            while self.size > self._most_bytes:
                self._remove(next(iter(self._found)))

    def take(self, texts: Sequence[str], names: Sequence[str]) -> str:
        """The index text of these texts. It is computed if it was not added before."""
        if not self._found:
            return index_text(texts, names)
        key = _key(texts, names)
        with self._lock:
            words = self._remove(key)
            self._misses = 0 if words is not None else self._misses + 1
            if self._misses > _MOST_MISSES:
                self._found.clear()
                self.size = 0
        return index_text(texts, names) if words is None else words

    def _remove(self, key: bytes) -> str | None:
        words = self._found.pop(key, None)
        if words is not None:
            self.size -= sys.getsizeof(words)
        return words


def _key(texts: Sequence[str], names: Sequence[str]) -> bytes:
    # Unlike the texts one after the other, this says where each of them ends.
    both = repr((list(texts), list(names)))
    return blake2b(both.encode(), digest_size=_DIGEST_BYTES).digest()


words_ahead: Final = WordsAhead()
