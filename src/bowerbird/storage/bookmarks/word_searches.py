"""Which searches take the fast path to keyword hits, and what it needs to know of them."""

from collections.abc import Iterable
from typing import Final

import msgspec

from bowerbird.model.accounts import Account
from bowerbird.model.filters import BookmarkFilter
from bowerbird.model.words import WordQuery
from bowerbird.storage.bookmarks.filters import FRAGMENTS, narrowing, with_states
from bowerbird.storage.bookmarks.query_conditions import QueryConditions
from bowerbird.storage.database import Database, WordOrder, WordSearch
from bowerbird.storage.queries import Queries

_FLAGS: Final = ("unread_only", "hide_archived", "archived_only")


def fast_search(
    database: Database, account: Account, filter: BookmarkFilter
) -> tuple[WordOrder, WordSearch] | None:
    """If the database has a word order: the search for the words, whatever else filters them."""
    order = database.word_order
    # Posts that were chosen one by one are few, and looked up. The posts of a run are forgotten
    # without a new version of the library.
    if filter.post_ids is not None or filter.import_run is not None:
        return None
    if order is None or filter.words is None:
        return None
    match = database.match(filter.words)
    labelled = tuple(part for part in match.rest if not WordQuery((part,)).conditions)
    flags = with_states(filter, [part for part in match.rest if part not in labelled])
    if flags is None or match.wanted is None:
        return None
    others = msgspec.structs.replace(flags, words=None, meaning=None)
    fragments, values = narrowing(database, account, others)
    conditions = QueryConditions(database)
    sql = database.queries("bookmarks")
    return order, WordSearch(
        match,
        others,
        _conditions(sql, [*fragments, *(conditions.every(labelled) if labelled else ())]),
        values | conditions.values,
        _conditions(sql, [name for name in fragments if name in _FLAGS]),
        labelled,
        tuple(conditions.expressions),
    )


def _conditions(sql: Queries, fragments: Iterable[str]) -> str:
    texts = [FRAGMENTS.get(name) or sql.get(f"filter_{name}", name) for name in fragments]
    return " AND ".join(texts) or "TRUE"
