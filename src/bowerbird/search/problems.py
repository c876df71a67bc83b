"""Why an embedder cannot work at present, as far as its process knows."""

import time
from typing import Final

_KEPT_S: Final = 60.0


class Problem:
    """Lapses after a while: a process that asks nothing does not learn that it was mended."""

    def __init__(self, kept_s: float = _KEPT_S) -> None:
        self._kept_s = kept_s
        self._text: str | None = None
        self._until = 0.0

    def note(self, text: str) -> None:
        self._text, self._until = text, time.monotonic() + self._kept_s

    def clear(self) -> None:
        self._text = None

    @property
    def text(self) -> str | None:
        return self._text if time.monotonic() < self._until else None
