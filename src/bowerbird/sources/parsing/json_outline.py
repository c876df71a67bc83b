"""Finds the keys at the beginning of a JSON text, which may be cut anywhere or be broken."""

import re
from typing import Final

_TOKEN: Final = re.compile(r'"([^"\\]*+(?:\\.[^"\\]*+)*+)"|([\[\]{}:,])', re.DOTALL)
_MAX_DEPTH: Final = 8
_MAX_KEY_CHARACTERS: Final = 100
_MAX_PATHS: Final = 2000


class Outline(frozenset[str]):
    """Paths of keys, for example "bookmarks[].content.url". An array adds "[]" to its path."""

    __slots__ = ()

    def has(self, *paths: str) -> bool:
        return all(path in self for path in paths)


def outline(text: str) -> Outline:
    scan = _Scan()
    last_string = ""
    for match in _TOKEN.finditer(text):
        string, mark = match.groups()
        if mark is None:
            last_string = string[:_MAX_KEY_CHARACTERS]
        elif mark == ":":
            scan.name(last_string)
        elif mark in "[{":
            scan.open(mark)
        else:
            scan.end(mark)
        if len(scan.paths) >= _MAX_PATHS:
            break
    return Outline(scan.paths)


class _Scan:
    def __init__(self) -> None:
        self.paths: set[str] = set()
        # The path of each open bracket, and how many are open below the deepest of interest.
        self._open: list[str] = []
        self._hidden = 0
        self._key = ""

    def name(self, key: str) -> None:
        self._key = key
        if self._open and not self._hidden:
            self.paths.add(self._path())

    def open(self, bracket: str) -> None:
        if self._hidden or len(self._open) >= _MAX_DEPTH:
            self._hidden += 1
            return
        path = self._path() + ("[]" if bracket == "[" else "")
        self._open.append(path)
        self.paths.add(path)
        self._key = ""

    def end(self, mark: str) -> None:
        self._key = ""
        if mark == ",":
            return
        if self._hidden:
            self._hidden -= 1
        elif self._open:
            self._open.pop()

    def _path(self) -> str:
        parent = self._open[-1] if self._open else ""
        return f"{parent}.{self._key}" if parent and self._key else parent or self._key
