"""What to try when nothing was found: changes of the list, each with its count if it is known."""

import asyncio
from typing import Any, Final

from bowerbird.library.bookmarks.authors import Authors
from bowerbird.library.bookmarks.bookmarks import Bookmarks
from bowerbird.library.labels.labels import Labels
from bowerbird.model.accounts import Account
from bowerbird.model.labels import name_key
from bowerbird.requests.bookmarks import CountQuery, ListQuery
from bowerbird.requests.filters import MEANING
from bowerbird.search.queries import query_language
from bowerbird.search.queries.spelling import nearest
from bowerbird.web.library import list_words
from bowerbird.web.library.addresses import Address

# Words of a search that are compared with names.
_WORDS: Final = 4
_SHORTEST: Final = 3


def hidden_list(address: Address) -> Address:
    """The list of the posts that have the words but are read or archived.

    Not by meaning: that finds others too.
    """
    meaning = None if address.values.get("q") else address.values.get(MEANING)
    flags = {"is_unread_only": "false", "hide_archived": "false"}
    return address.changed(**flags, **{MEANING: meaning})


class NoHits:
    def __init__(self, bookmarks: Bookmarks, labels: Labels, authors: Authors) -> None:
        self._bookmarks = bookmarks
        self._labels = labels
        self._authors = authors

    async def suggestions(
        self, account: Account, query: ListQuery, address: Address, hidden: int
    ) -> list[dict[str, Any]]:
        """`hidden` is the number of posts that the flags of the list hide."""
        found: list[dict[str, Any]] = []
        if hidden:
            url = hidden_list(address).url()
            text = "Look in read and archived posts too"
            found.append({"text": text, "url": url, "count": hidden})
        for name in list_words.removable(query):
            if count := await self._count(account, query, **{name: None}):
                words = list_words.filter_words(name, getattr(query, name))
                url = address.changed(**{name: None}).url()
                text = f"Leave out the filter “{words}”"
                found.append({"text": text, "url": url, "count": count})
        if not account.is_free:
            found += await self._near_names(account, query, address)
        if query.q and not query.vector_search_term and not account.is_free:
            vectors = await self._bookmarks.vector_state(account)
            if vectors.store is not None:
                url = address.changed(q=None, vector_search_term=query.q).url()
                found.append({"text": "Search by meaning instead", "url": url, "count": None})
        return found

    async def _count(self, account: Account, query: ListQuery, **changed: str | None) -> int:
        values = {each: getattr(query, each) for each in CountQuery.__struct_fields__}
        return (await self._bookmarks.count(account, CountQuery(**{**values, **changed}))).count

    async def _near_names(
        self, account: Account, query: ListQuery, address: Address
    ) -> list[dict[str, Any]]:
        """The label and the author that may have been meant, by a filter or by a word."""
        words = query_language.plain_text(query.q or "").split()[:_WORDS]
        words = [word for word in words if len(word) >= _SHORTEST]
        found = []
        for name in [query.tag] if query.tag else [w.removeprefix("#") for w in words]:
            if label := await self._near_label(account, name):
                found.append(
                    await self._changed(account, query, address, "Show the label", tag=label)
                )
                break
        for name in [query.author] if query.author else words:
            if author := await self._authors.nearest(account, name):
                handle = f"@{author.handle}"
                found.append(
                    await self._changed(account, query, address, "Show posts by", author=handle)
                )
                break
        return [each for each in found if each["count"]]

    async def _near_label(self, account: Account, name: str) -> str | None:
        uses, _ = await self._labels.listed.uses(account)
        names = {name_key(use.label_name): use.label_name for use in uses if use.count}
        key = name_key(name)
        # A word of a search may be the name itself; a filter of that name found nothing.
        if key in names:
            return names[key]
        # On a thread: there may be a thousand long names.
        found = await asyncio.to_thread(nearest, key, names)
        return None if found is None else names[found]

    async def _changed(
        self, account: Account, query: ListQuery, address: Address, text: str, **changed: str
    ) -> dict[str, Any]:
        """The list with this filter: with the same search if it came from a filter."""
        [(name, value)] = changed.items()
        search = {} if getattr(query, name) else {"q": None, "vector_search_term": None}
        count = await self._count(account, query, **search, **changed)
        url = address.changed(**search, **changed).url()
        return {"text": f"{text} “{value}”", "url": url, "count": count}
