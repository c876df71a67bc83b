"""Caches the reason why an embedder does not work."""

import time
from typing import Final

_LIFETIME_S: Final = 60.0


class Problem:
    """Expires, because a process without searches would not notice the fix."""

    def __init__(self, lifetime_s: float = _LIFETIME_S) -> None:
        self._lifetime_s = lifetime_s
        self._text: str | None = None
        self._until = 0.0

    def note(self, text: str) -> None:
        self._text, self._until = text, time.monotonic() + self._lifetime_s

    def clear(self) -> None:
        self._text = None

    @property
    def text(self) -> str | None:
        return self._text if time.monotonic() < self._until else None
