"""Why a search has no result, with the authors and labels that no bookmark has."""

from collections.abc import Mapping
from itertools import islice
from typing import Final

from bowerbird.library.bookmarks.searching import explaining
from bowerbird.library.bookmarks.searching.ranking import Ranking
from bowerbird.model.accounts import Account
from bowerbird.model.filters import BookmarkFilter
from bowerbird.model.words import Condition, Field, WordQuery
from bowerbird.storage.bookmarks.bookmarks import BookmarkStore
from bowerbird.storage.database import Database

# Each takes a read.
_MOST: Final = 3
_SHOWN_CHARACTERS: Final = 40
_SENTENCES: Final[Mapping[Field, str]] = {
    Field.AUTHOR: 'No post is by "{}".',
    Field.LABEL: 'No post has the label "{}".',
}


class Reasons:
    def __init__(self, database: Database) -> None:
        self._store = BookmarkStore(database)

    async def of_nothing(self, account: Account, filter: BookmarkFilter, ranking: Ranking) -> str:
        """Why a search found nothing; empty if the list is not a search."""
        if filter.words is None and filter.meaning is None:
            return ""
        missing = await self._missing(account, filter.words) if filter.words is not None else ""
        return missing or explaining.nothing_found(account, filter, ranking)

    async def _missing(self, account: Account, query: WordQuery) -> str:
        """One sentence per name that no bookmark has."""
        names = [
            part
            for part in query.parts
            if isinstance(part, Condition) and part.field in _SENTENCES and not part.is_excluded
        ]
        return " ".join(
            [
                _SENTENCES[name.field].format(name.value[:_SHOWN_CHARACTERS])
                for name in islice(names, _MOST)
                if not await self._store.count(account, _filter(name))
            ]
        )


def _filter(name: Condition) -> BookmarkFilter:
    return BookmarkFilter(
        unread_only=False,
        hide_archived=False,
        author=name.value if name.field is Field.AUTHOR else None,
        tag=name.value if name.field is Field.LABEL else None,
    )
