"""Finds the keys at the beginning of a JSON text, which may be cut anywhere or be broken."""

import re
from typing import Final

_TOKEN: Final = re.compile(r'"([^"\\]*+(?:\\.[^"\\]*+)*+)"|([\[\]{}:,])', re.DOTALL)
_MAX_DEPTH: Final = 8
_MAX_PATHS: Final = 2000


class Outline(frozenset[str]):
    """Paths of keys, for example "bookmarks[].content.url". An array adds "[]" to its path."""

    __slots__ = ()

    def has(self, *paths: str) -> bool:
        return all(path in self for path in paths)


def outline(text: str) -> Outline:
    paths: set[str] = set()
    # The path of each open bracket. None is too deep to be of interest.
    open_paths: list[str] = []
    key = ""
    last_string = ""
    hidden = 0
    for match in _TOKEN.finditer(text):
        string, mark = match.groups()
        if mark is None:
            last_string = string
        elif mark == ":":
            key = last_string[:100]
            if not hidden and open_paths:
                paths.add(_join(open_paths[-1], key))
        elif mark in "[{":
            if hidden or len(open_paths) >= _MAX_DEPTH:
                hidden += 1
                continue
            parent = _join(open_paths[-1], key) if open_paths else ""
            open_paths.append(f"{parent}[]" if mark == "[" else parent)
            paths.add(open_paths[-1])
            key = ""
        elif mark in "]}":
            key = ""
            if hidden:
                hidden -= 1
            elif open_paths:
                open_paths.pop()
        else:
            key = ""
        if len(paths) >= _MAX_PATHS:
            break
    return Outline(paths)


def _join(path: str, key: str) -> str:
    return f"{path}.{key}" if path and key else path or key
