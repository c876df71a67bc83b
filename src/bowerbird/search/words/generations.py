"""A bounded cache that forgets what was not used lately."""

from collections.abc import Callable
from typing import Final

# Longer texts rarely repeat: addresses, encoded data, sentences of a script without spaces.
_MAX_KEPT_CHARACTERS: Final = 40

Tokens = tuple[str, ...]


class Generations(dict[str, Tokens]):
    """The tokens of texts, each computed on first use.

    A full generation becomes the older one. What is used again comes back from there, and the rest
    is forgotten with it. Threads may share it: at worst they compute an entry twice.
    """

    def __init__(self, compute: Callable[[str], Tokens], size: int) -> None:
        """`size` is that of one generation."""
        self._compute = compute
        self._size = size
        self._older: dict[str, Tokens] = {}

    def __missing__(self, text: str) -> Tokens:
        return self._new_entry(text)

    def _new_entry(self, text: str) -> Tokens:
        found = self._older.get(text)
        if found is None:
            found = self._compute(text)
            if len(text) > _MAX_KEPT_CHARACTERS:
                return found
        if len(self) >= self._size:
            self._older = dict(self)
            self.clear()
        self[text] = found
        return found
