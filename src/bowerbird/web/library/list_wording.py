"""The words around a list: title and count, order, filters, and what to try next."""

import asyncio
from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import urlencode

from bowerbird.library.bookmarks.authors import Authors
from bowerbird.library.bookmarks.bookmarks import Bookmarks
from bowerbird.library.bookmarks.list_request import BookmarkList
from bowerbird.library.labels.labels import Labels
from bowerbird.model.accounts import Account
from bowerbird.model.labels import name_key
from bowerbird.model.posts.filters import RELEVANCE
from bowerbird.model.posts.media import BITS
from bowerbird.requests.bookmarks import CountQuery, ListQuery
from bowerbird.requests.filters import MEANING, flags_of, readers
from bowerbird.requests.limits import RANKED_MAX
from bowerbird.search.queries import query_language
from bowerbird.search.queries.spelling import nearest
from bowerbird.web.library.addresses import Address
from bowerbird.web.library.filters import CHIPS

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
        for name in removable(query):
            if count := await self._count(account, query, **{name: None}):
                words = filter_words(name, getattr(query, name))
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
        if handle := await self._near_author(account, query, words):
            author = f"@{handle}"
            found.append(
                await self._changed(account, query, address, "Show posts by", author=author)
            )
        return [each for each in found if each["count"]]

    async def _near_author(
        self, account: Account, query: ListQuery, words: Sequence[str]
    ) -> str | None:
        """A filter may be the beginning of a name; too many names begin like a word."""
        if query.author:
            return await self._bookmarks.names.author(account, query.author)
        for word in words:
            if author := await self._authors.nearest(account, word):
                return author.handle
        return None

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


# A filter that no form offers, only a link.
_IMPORT: Final = "import_run"
# (sort_by, sort_order) -> name in the menu, and at the count.
_ORDERS: Final = {
    ("", ""): ("Newest saved first", "newest saved first"),
    ("sort_index", "asc"): ("Oldest saved first", "oldest saved first"),
    ("posted_at", "desc"): ("Newest posted first", "newest posted first"),
    ("posted_at", "asc"): ("Oldest posted first", "oldest posted first"),
    ("author", "asc"): ("Author, A to Z", "by author"),
    ("favorite_count", "desc"): ("Most liked first", "most liked first"),
}
BEST_FIRST: Final = "best first"
_BEST: Final = ("Best match first", BEST_FIRST)
MEDIA_TYPES: Final = tuple(BITS)
# The parameters of a list that a Smart View keeps.
SAVED: Final = (*readers(ListQuery), "sort_by", "sort_order")
_YES: Final = ("true", "1")


def is_unread_only(query: ListQuery) -> bool:
    return flags_of(query).get("is_unread_only", is_on(query.is_unread_only))


def hides_archived(query: ListQuery) -> bool:
    return flags_of(query).get("hide_archived", is_on(query.hide_archived))


def is_on(value: bool | str | None) -> bool:  # noqa: FBT001 - a value of the query
    """Whether a flag is on that was sent."""
    return value in (None, "", True) or str(value).strip().lower() in _YES


def hints(query: ListQuery) -> Sequence[str]:
    """What was not understood in the search."""
    return query_language.parse(query.q).hints if query.q else ()


def has_filters(query: ListQuery) -> bool:
    """Whether more than the two flags selects the posts."""
    return any(getattr(query, name) for name in (*CHIPS, _IMPORT, "q", MEANING))


def is_archive(query: ListQuery) -> bool:
    return bool(query.is_archived_only) and is_on(query.is_archived_only)


def state_name(query: ListQuery) -> str:
    if is_archive(query):
        return "Unread in the archive" if is_unread_only(query) else "Archive"
    if is_unread_only(query):
        return "Unread" if hides_archived(query) else "Unread, with archived"
    return "Not archived" if hides_archived(query) else "All posts"


def search_words(query: ListQuery, account: Account) -> str:
    """What the search box says: it searches the list that is shown."""
    if any(getattr(query, name) for name in (*CHIPS, _IMPORT)):
        return "Search these posts"
    unread, archive, hides = is_unread_only(query), is_archive(query), hides_archived(query)
    count = account.visible(unread_only=unread, hide_archived=hides, archived_only=archive)
    kind = f"{'unread ' if unread else ''}{'archived ' if archive else ''}"
    rest = " that are not archived" if hides and not unread else ""
    return f"Search {count:,} {kind}{'post' if count == 1 else 'posts'}{rest}"


def title(query: ListQuery) -> str:
    search = query.q or query.vector_search_term
    if search:
        return f"Search: {search}"
    return query.tag or query.author or state_name(query)


def is_cut_off(query: ListQuery, found: BookmarkList) -> bool:
    """Whether the list has as many of the best posts as a ranked list can have."""
    is_ranked = bool(query.vector_search_term) or query.sort_by == RELEVANCE or found.is_relaxed
    return is_ranked and found.total_count >= RANKED_MAX


def count_line(query: ListQuery, found: BookmarkList, name: str = "") -> str:
    """The heading of a list, such as "312 unread"."""
    total = found.total_count
    if is_cut_off(query, found):
        return f"The best {total:,} posts"
    if is_archive(query) and not has_filters(query):
        return f"{total:,} archived"
    if not total and not name:
        return "0 unread" if is_unread_only(query) and not has_filters(query) else "No posts"
    if is_unread_only(query) and not has_filters(query) and not name:
        return f"{total:,} unread"
    return f"{total:,} post" if total == 1 else f"{total:,} posts"


def order_words(query: ListQuery) -> str:
    by, order = query.sort_by or "", query.sort_order or ""
    if by == RELEVANCE or (not by and query.vector_search_term):
        return _BEST[1] if order != "asc" else "best last"
    key = ("sort_index", "asc") if order == "asc" and by in ("", "sort_index") else (by, order)
    for (sort, direction), (_, words) in _ORDERS.items():
        if key == (sort, direction) or (sort == by and not order and direction != "asc"):
            return words
    words = by.replace("_", " ") or "saved"
    return f"by {words}, {'ascending' if order == 'asc' else 'descending'}"


def order_choices() -> list[tuple[str, str]]:
    """The orders of a Smart View: the field and the direction, and what to call them."""
    listed = [(" ".join(key).strip(), text) for key, (text, _) in _ORDERS.items()]
    return [*listed, (RELEVANCE, _BEST[0])]


def orders(query: ListQuery, address: Address) -> list[dict[str, Any]]:
    """The entries of the menu that sorts a list."""
    chosen = order_words(query)
    choices = [(("", ""), _ORDERS["", ""]), *list(_ORDERS.items())[1:]]
    if query.vector_search_term:
        # Relevance is the default then, so the order by date needs its name.
        choices[0] = (("sort_index", "desc"), _ORDERS["", ""])
    if query.q or query.vector_search_term:
        choices.insert(0, ((RELEVANCE, ""), _BEST))
    return [
        {
            "text": text,
            "url": address.changed(sort_by=by, sort_order=order).url(),
            "is_chosen": words == chosen,
        }
        for (by, order), (text, words) in choices
    ]


def save_url(query: ListQuery, address: Address) -> str:
    """The page that saves a list as a Smart View, which shows read posts by default."""
    if not has_filters(query):
        return ""
    kept = [(name, value) for name, value in address.fields("limit") if name in SAVED]
    flags = [(n, v) for n, v in kept if n != "is_unread_only"]
    unread = [("is_unread_only", "true")] if is_unread_only(query) else []
    return f"/views/new?{urlencode([*flags, *unread])}"


def removable(query: ListQuery) -> list[str]:
    """The filters whose removal might find something."""
    return [name for name in CHIPS if getattr(query, name)]


def filter_words(name: str, value: str) -> str:
    return f"{CHIPS[name]} {value}"


def without_vector(count: int) -> str:
    """About posts that only a search by words finds, "" if there are none."""
    if not count:
        return ""
    posts, them = ("1 post", "it") if count == 1 else (f"{count:,} posts", "them")
    return f"Search by meaning cannot find {posts} yet. Search by words finds {them}."


def meaning_state(count: int | None) -> dict[str, Any]:
    """The sentence of `without_vector` for the script that updates it until no post is missing.

    None while there are no vectors at all: nothing can be said then.
    """
    if count is None:
        return {"mark": "open", "jobs": []}
    text = without_vector(count) or "Search by meaning finds all your posts now."
    job = {"id": "meaning", "done": 0, "total": count, "text": text}
    return {"mark": "open" if count else "ready", "jobs": [job]}
