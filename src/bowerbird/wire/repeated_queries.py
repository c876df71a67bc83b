"""Remembers what queries mean that are sent again and again with another cursor.

Each account has a few entries of its own: one that sends many different queries displaces only its
own. Queries are short, so all entries together take less than 5 MB.
"""

import re
from collections import OrderedDict
from typing import Final, Generic, TypeVar

M = TypeVar("M")

_CURSOR: Final = re.compile(rb"(?:^|&)cursor=([A-Za-z0-9_-]+)(?=&|\Z)")
_ACCOUNTS: Final = 512
_QUERIES_PER_ACCOUNT: Final = 4
_QUERY_BYTES: Final = 256


def without_cursor(query_string: bytes) -> tuple[bytes, str | None] | None:
    """A query and its cursor. None if they cannot be told apart without reading the query."""
    cursor = None
    if found := _CURSOR.search(query_string):
        cursor = found[1].decode()
        query_string = query_string[: found.start()] + query_string[found.end() :]
    # A name may be percent-encoded, and a second cursor is refused.
    if len(query_string) > _QUERY_BYTES or b"%" in query_string or b"cursor" in query_string:
        return None
    return query_string, cursor


class RepeatedQueries(Generic[M]):
    """The meanings of the last few queries of the accounts that called last."""

    def __init__(self) -> None:
        self._accounts: OrderedDict[int, dict[bytes, M]] = OrderedDict()

    def get(self, account_id: int, query: bytes) -> M | None:
        queries = self._accounts.get(account_id)
        if queries is None:
            return None
        self._accounts.move_to_end(account_id)
        return queries.get(query)

    def put(self, account_id: int, query: bytes, meaning: M) -> None:
        queries = self._accounts.setdefault(account_id, {})
        queries[query] = meaning
        if len(queries) > _QUERIES_PER_ACCOUNT:
            del queries[next(iter(queries))]
        if len(self._accounts) > _ACCOUNTS:
            self._accounts.popitem(last=False)
