"""Names that somebody types or may want: labels, authors, places to go to.

What is wrong with the name of a label, the label picker, and the suggestions of the search box and
of the palette. And what to try where a list has no posts.
"""

import asyncio
import unicodedata
from collections.abc import Sequence
from typing import Any, Final

from bowerbird.assembly import Services
from bowerbird.errors import Code, Refusal
from bowerbird.library.access import plans
from bowerbird.library.bookmarks.authors import Authors
from bowerbird.library.bookmarks.bookmarks import Bookmarks, is_post_id
from bowerbird.library.bulk import summaries
from bowerbird.library.bulk.changes import BulkChanges, NewChange, packed_parts
from bowerbird.library.labels.label_list import LabelList
from bowerbird.library.labels.labels import Labels
from bowerbird.library.labels.suggestions import LabelSuggestions, SuggestedLabel
from bowerbird.model.accounts import Account
from bowerbird.model.bulk import BulkAction
from bowerbird.model.labels import MAX_NAME_CHARACTERS, NAME_RULE, clean_name, name_key
from bowerbird.requests import decoding
from bowerbird.requests.bookmarks import CountQuery, ListQuery
from bowerbird.requests.labels import LabelRequest
from bowerbird.requests.limits import PICKED_LABELS_MAX, SUGGESTED_FOR_MAX, SUGGESTED_MAX
from bowerbird.search.queries import query_language
from bowerbird.search.queries.spelling import nearest
from bowerbird.web import pages
from bowerbird.web.library import addresses
from bowerbird.web.library.addresses import LABELS, LIBRARY, Address, of_view
from bowerbird.web.library.filters import CHIPS, hidden_list
from bowerbird.web.visits.pages import VisitPages
from bowerbird.web.visits.router import PageRoute
from bowerbird.web.visits.visit import Visit
from bowerbird.wire.responses.replies import Reply


def name_problem(name: str) -> str:
    """Why no label can have this name, or ''."""
    if clean_name(name) is not None:
        return ""
    length = len(" ".join(unicodedata.normalize("NFC", name).split()))
    if length > MAX_NAME_CHARACTERS:
        return f"A label has at most {MAX_NAME_CHARACTERS} characters; this one has {length:,}."
    return f"A label has {NAME_RULE}."


def in_words(refused: Refusal, name: str) -> str:
    """The sentence of a refusal of the API without its name of the field."""
    field, separator, rest = refused.sentence.partition("label_name: ")
    if not separator or field:
        return refused.sentence
    return name_problem(name) or rest[:1].upper() + rest[1:]


async def suggested(
    suggestions: LabelSuggestions, account: Account, post_id: str
) -> list[dict[str, Any]]:
    """None where they cannot be had: the page is worth opening without them."""
    if account.is_free:
        return []
    try:
        found = await suggestions.of_post(account, post_id)
    except Refusal:
        return []
    return shown(found)


def shown(found: list[SuggestedLabel]) -> list[dict[str, Any]]:
    return [
        {**addresses.label(each.label_name, each.color), "reason": _reason(each), "count": None}
        for each in found
    ]


def _reason(label: SuggestedLabel) -> str:
    if label.reason == "author":
        return f"like {label.posts} by this author"
    return "near in meaning" if label.reason == "meaning" else "named in the text"


_ACTIONS: Final = {"add": BulkAction.ADD_LABEL, "remove": BulkAction.REMOVE_LABEL}


class LabelPicking:
    def __init__(
        self,
        listed: LabelList,
        bulk: BulkChanges,
        suggestions: LabelSuggestions,
        pages: VisitPages,
    ) -> None:
        self._listed = listed
        self._suggestions = suggestions
        self._bulk = bulk
        self._pages = pages

    def routes(self) -> list[PageRoute]:
        return [
            PageRoute("GET", f"{LABELS}/matching", self.matching, is_json=True, page=LIBRARY),
            PageRoute("POST", f"{LABELS}/apply", self.apply, is_json=True, page=LIBRARY),
        ]

    async def matching(self, visit: Visit) -> Reply:
        """Labels that contain a text, the best first, and the name that a new one would get.

        Without a text, also those that fit a post.
        """
        text = visit.asked("q")
        found = await self._listed.matching(visit.account, text, PICKED_LABELS_MAX)
        is_known = any(name_key(each.label_name) == name_key(text) for each in found)
        labels = [_label(each.label_name, each.count, each.color) for each in found]
        new = None if is_known else clean_name(text)
        fitting: list[dict[str, Any]] = []
        if not text and (post_id := visit.asked("post")):
            fitting = await suggested(self._suggestions, visit.account, post_id)
        return self._pages.json(
            {"labels": labels, "new": new, "rule": name_problem(text), "suggested": fitting}
        )

    async def apply(self, visit: Visit) -> Reply:
        """Adds a label to posts or removes it."""
        account = visit.account
        plans.check_writes(account)
        action = _ACTIONS.get(visit.sent("op"))
        if action is None:
            raise Refusal(Code.INVALID_REQUEST, "The form has no action.")
        request = _request(visit)
        post_ids = request.post_ids or []
        new = NewChange(action, packed_parts(post_ids), len(post_ids), request.label_name)
        row = await self._bulk.run(account, new)
        assert row.label is not None
        if row.label.is_new and not row.changed:
            # The posts are gone: nobody needs their label.
            await self._bulk.run_undo(account, row.change_id)
        colours = await self._listed.colors(account)
        return self._pages.json(
            {
                "said": summaries.sentence(row),
                "changed": row.changed,
                "change": row.change_id if row.changed else None,
                "label": _label(row.label.name, None, colours.get(row.label.name)),
            }
        )


def _request(visit: Visit) -> LabelRequest:
    posts = [each for each in visit.sent("posts").split() if is_post_id(each)]
    name = visit.sent("label")
    fields = {"tweet_ids": posts, "label_name": name}
    try:
        return decoding.convert(fields, LabelRequest)
    except Refusal as refused:
        raise Refusal(refused.code, in_words(refused, name)) from None


SUGGEST: Final = f"{LIBRARY}/suggest"
PLACES: Final = f"{LIBRARY}/places"
HELP: Final = "/help/keys"
_MARKS: Final = ("#", "@")


class SuggestingPages:
    def __init__(self, services: Services, pages: VisitPages) -> None:
        self._labels = services.labels
        self._views = services.views
        self._authors = services.authors
        self._pages = pages

    def routes(self) -> list[PageRoute]:
        return [
            PageRoute("GET", SUGGEST, self.suggest, is_json=True, page=LIBRARY),
            PageRoute("GET", PLACES, self.places, is_json=True, page=LIBRARY),
            PageRoute("GET", HELP, self.help),
        ]

    async def suggest(self, visit: Visit) -> Reply:
        """Labels and authors for a word. `#` asks for labels only, and `@` for authors only."""
        account, text = visit.account, visit.asked("text").strip()
        name = text[1:] if text.startswith(_MARKS) else text
        if not name or len(text) > SUGGESTED_FOR_MAX:
            return self._pages.json({"labels": [], "authors": []})
        labels, authors = [], []
        # The filter by label needs a paid plan.
        if not text.startswith("@") and not account.is_free:
            labels = await self._labels.listed.matching(account, name, SUGGESTED_MAX)
        if not text.startswith("#"):
            authors = await self._authors.matching(account, text, SUGGESTED_MAX)
        return self._pages.json(
            {
                "filters": not account.is_free,
                "labels": [_label(each.label_name, each.count, each.color) for each in labels],
                "authors": [{"handle": each.handle, "name": each.name} for each in authors],
            }
        )

    async def places(self, visit: Visit) -> Reply:
        """Settings, Smart Views and labels for the palette. It has the links of the sidebar."""
        account = visit.account
        views = await self._views.all(account)
        uses, _ = await self._labels.listed.uses(account)
        colors = await self._labels.listed.colors(account)
        tabs = pages.settings(is_owner=visit.signed_in.is_owner)
        return self._pages.json(
            {
                "pages": [{"name": place.name, "url": place.path} for place in (*tabs, pages.DOCS)],
                "views": [{"name": view.name, "url": of_view(view.slug)} for view in views],
                "labels": [
                    _label(use.label_name, use.count, colors.get(use.label_name)) for use in uses
                ],
            }
        )

    async def help(self, visit: Visit) -> Reply:
        return self._pages.show(visit, "help_keys.html", title="Keyboard", here=HELP)


def _label(name: str, count: int | None, color: str | None) -> dict[str, Any]:
    return {**addresses.label(name, color), "count": count}


# Words of a search that are compared with names.
_WORDS: Final = 4
_SHORTEST: Final = 3


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
        for name in (each for each in CHIPS if getattr(query, each)):
            if count := await self._count(account, query, **{name: None}):
                words = f"{CHIPS[name]} {getattr(query, name)}"
                url = address.changed(**{name: None}).url()
                text = f"Leave out the filter “{words}”"
                found.append({"text": text, "url": url, "count": count})
        if not account.is_free:
            found += await self._near_names(account, query, address)
        # Fields alone have no meaning to search by.
        has_words = query.q and query_language.plain_text(query.q)
        if has_words and not query.vector_search_term and not account.is_free:
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
