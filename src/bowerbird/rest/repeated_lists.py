"""Pages of lists whose query the account has sent before, with another cursor."""

from bowerbird.library.bookmarks.bookmarks import Bookmarks
from bowerbird.library.bookmarks.plain_lists import PlainList, plain_list
from bowerbird.library.bookmarks.results import BookmarkList
from bowerbird.requests.bookmarks import ListQuery
from bowerbird.wire import repeated_queries
from bowerbird.wire.repeated_queries import RepeatedQueries
from bowerbird.wire.routes import Call


class RepeatedLists:
    def __init__(self, bookmarks: Bookmarks) -> None:
        self._bookmarks = bookmarks
        self._queries: RepeatedQueries[PlainList] = RepeatedQueries()

    async def page(self, call: Call) -> BookmarkList | None:
        """None if the query is a new one, or has to be read again."""
        account = call.account
        # The account may have changed its plan since, and the gates read the whole query.
        if account.is_free:
            return None
        split = repeated_queries.without_cursor(call.target.query_string)
        if split is None:
            return None
        query, cursor = split
        plain = self._queries.get(account.account_id, query)
        if plain is None:
            return None
        return await self._bookmarks.plain.page(account, plain, cursor)

    def remember(self, call: Call, query: ListQuery) -> None:
        """Remembers a query that was answered."""
        split = repeated_queries.without_cursor(call.target.query_string)
        if split is None:
            return
        plain = plain_list(call.account, query)
        if plain is not None:
            self._queries.put(call.account.account_id, split[0], plain)
