"""Caches the most recently used results for libraries that have not changed since."""

from collections import OrderedDict
from typing import Any


class LruCache:
    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: OrderedDict[Any, Any] = OrderedDict()

    def get(self, key: Any) -> Any:
        if key in self._kept:
            self._kept.move_to_end(key)
        return self._kept.get(key)

    def peek(self, key: Any) -> Any:
        """A value without marking it as used: one step, so other threads may call it."""
        return self._kept.get(key)

    def put(self, key: Any, value: Any) -> None:
        self._kept[key] = value
        if len(self._kept) > self._most:
            self._kept.popitem(last=False)
