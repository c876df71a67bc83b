"""Writes problems to stderr, because stdout is for protocol messages only."""

import sys
import threading


def log(text: str) -> None:
    sys.stderr.write(f"bowerbird-mcp: {text}\n")
    sys.stderr.flush()


class ProblemLog:
    """Writes each problem once, and again only if the server has responded in between."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._written: set[str] = set()

    def report(self, text: str) -> None:
        with self._lock:
            if text in self._written:
                return
            self._written.add(text)
        log(text)

    def end(self) -> None:
        """The server responds, so a problem that occurs later is a new one."""
        with self._lock:
            self._written.clear()
