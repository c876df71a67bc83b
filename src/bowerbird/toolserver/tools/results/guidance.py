"""Guidance for a model: what a list leaves out, why no post matches, and what to do after an error.

An error message has the code, the problem, and what to do next.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec

from bowerbird.errors import Code, Refusal
from bowerbird.library.bookmarks.bookmarks import Bookmarks
from bowerbird.library.bookmarks.list_request import BookmarkList, ByMeaning, VectorState
from bowerbird.model.accounts import Account
from bowerbird.model.posts.filters import BookmarkFilter
from bowerbird.model.words import Field
from bowerbird.requests import filters
from bowerbird.requests.bookmarks import CountQuery, ListQuery
from bowerbird.requests.filters import FlagFilters, flags_of, readers
from bowerbird.search.queries import query_language
from bowerbird.toolserver.tools import vocabulary
from bowerbird.toolserver.tools.results import response_size
from bowerbird.toolserver.tools.results.quoted_text import shown_name

_SETS: Final = {name: reader.sets for name, reader in readers(FlagFilters).items()}
_STATES: Final = {"is_unread_only": "read", "hide_archived": "archived"}


async def of_list(
    bookmarks: Bookmarks, account: Account, query: ListQuery, listed: BookmarkList
) -> list[str]:
    if not listed.is_wider:
        return await of_query(bookmarks, account, query, listed.total_count)
    flags = by_default(flags_of(query))
    if not flags or _hides_nothing(account, await bookmarks.filter(account, query), flags):
        return []
    # Only the number of its posts is needed.
    whole = msgspec.structs.replace(query, cursor=None, limit=1, **dict.fromkeys(flags, False))
    number = (await bookmarks.list(account, whole)).total_count - listed.total_count
    return included(flags, number)


async def of_query(
    bookmarks: Bookmarks, account: Account, query: ListQuery | CountQuery, shown: int
) -> list[str]:
    flags = by_default(flags_of(query))
    if not flags:
        return []
    filter = await bookmarks.filter(account, query)
    return included(flags, await of_filter(bookmarks, account, filter, flags, shown))


async def of_filter(
    bookmarks: Bookmarks, account: Account, filter: BookmarkFilter, flags: list[str], shown: int
) -> int:
    """How many more posts match without the flags than the `shown` ones."""
    if _hides_nothing(account, filter, flags):
        return 0
    return await bookmarks.total(account, _without(flags, filter)) - shown


def by_default(flags: Mapping[str, bool]) -> list[str]:
    """The flags that leave posts out."""
    return [name for name, is_on in flags.items() if is_on]


def included(flags: list[str], number: int) -> list[str]:
    """How to include the posts that were left out."""
    return said(flags, number, f"Send {_off(flags)} to include")


def uncounted(flags: list[str]) -> str:
    """How to include such posts, if counting them would cost another search."""
    return f"{_states(flags).capitalize()} posts are left out. Send {_off(flags)} to include them."


def said(flags: list[str], number: int, how: str) -> list[str]:
    if number <= 0:
        return []
    state = _states(flags)
    if number == 1:
        return [f"1 {state} post is left out. {how} it."]
    return [f"{number:,} {state} posts are left out. {how} them."]


def _off(flags: list[str]) -> str:
    return " and ".join(f"{name} false" for name in flags)


def _states(flags: list[str]) -> str:
    return " or ".join(_STATES[name] for name in flags)


def _without(flags: list[str], filter: BookmarkFilter) -> BookmarkFilter:
    return msgspec.structs.replace(filter, **{_SETS[name]: False for name in flags})


def _hides_nothing(account: Account, filter: BookmarkFilter, flags: list[str]) -> bool:
    """Whether the counters of the library say that the flags leave no post out."""
    return _visible(account, _without(flags, filter)) == _visible(account, filter)


def _visible(account: Account, filter: BookmarkFilter) -> int:
    return account.visible(
        unread_only=filter.unread_only,
        hide_archived=filter.hide_archived,
        archived_only=filter.archived_only,
    )


_NO_MATCH: Final = "No post matches these filters."
_EMPTY_LIBRARY: Final = "The library is empty. save_bookmarks adds posts."
# Every filter that is tried costs a count.
_TRIED_MAX: Final = 4
_SOME_WORDS: Final = "No post has all of the words. {} some of them; search_bookmarks finds these."
_SHOWN_CHARS: Final = 60
_FLAGS: Final = ("is_unread_only", "hide_archived", "is_archived_only")
_FILTER_OF: Final = {Field.LABEL: "tag", Field.AUTHOR: "author"}
_HYBRID: Final = "Try mode hybrid, which also finds posts by their meaning."
_SEARCH: Final = "search_bookmarks also finds posts by their meaning."
_LABELS: Final = "list_labels returns the labels."


class EmptyLists:
    def __init__(self, bookmarks: Bookmarks) -> None:
        self._bookmarks = bookmarks

    async def advice(
        self, account: Account, query: ListQuery, listed: BookmarkList, *, mode: str | None = None
    ) -> list[str]:
        """Sentences about an empty list. `mode` is that of a search."""
        if not account.total:
            return [_EMPTY_LIBRARY]
        names = await self._names(account, query)
        # A name that no post has is the reason, whatever the words are.
        said = [*listed.hints, *names] if names else [listed.hint] if listed.hint else []
        said += hidden(listed.hidden)
        if not names and not listed.hidden:
            said += await self._without_a_filter(account, query)
        by_meaning = await self.by_meaning(account, listed, mode)
        if mode == "keyword" and not account.is_free and query_language.plain_text(query.q or ""):
            vectors = await self._bookmarks.vector_state(account)
            if vectors.store is not None:
                by_meaning = [_HYBRID]
        return [*said, *by_meaning] or [_NO_MATCH]

    async def by_meaning(
        self, account: Account, listed: BookmarkList, mode: str | None = None
    ) -> list[str]:
        """How to search by meaning, if a question by words found nothing or only some words."""
        if listed.by_meaning is ByMeaning.READY:
            return [_HYBRID if mode == "keyword" else _SEARCH]
        if listed.by_meaning is ByMeaning.BUILDING:
            return await self.not_built(account)
        return []

    async def not_built(self, account: Account) -> list[str]:
        """The progress of the vectors. Without them only words can be searched."""
        try:
            await self._bookmarks.require_vectors(account, VectorState(None))
        except Refusal as refused:
            return [only_words(refused)]
        return []

    async def of_filters(self, account: Account, sent: Mapping[str, Any]) -> str:
        """What a list with these filters would say. For results that are not a list."""
        query = ListQuery(**sent, limit=1)
        listed = await self._bookmarks.list(account, query)
        if listed.total_count:
            # Only lists include posts that have some of the words.
            reason = _SOME_WORDS.format(_posts(listed.total_count))
            by_meaning = await self.by_meaning(account, listed)
            return " ".join([*listed.hints, reason, *by_meaning])
        return " ".join(await self.advice(account, query, listed))

    async def _names(self, account: Account, query: ListQuery) -> list[str]:
        """About labels and authors that no post has."""
        sentences: list[str] = []
        for name, label in _named(query, "label", Field.LABEL):
            if not await self._exists(account, name, label):
                meant = await self._bookmarks.names.label(account, label)
                step = f"Did you mean {_quoted(meant)}?" if meant else _LABELS
                sentences.append(f"No post has the label {_quoted(label)}. {step}")
        for name, author in _named(query, "author", Field.AUTHOR):
            if not await self._exists(account, name, author):
                meant = await self._bookmarks.names.author(account, author)
                step = f" Did you mean {_quoted(meant)}?" if meant else ""
                sentences.append(f"No post is by {_quoted(author)}.{step}")
        return sentences

    async def _without_a_filter(self, account: Account, query: ListQuery) -> list[str]:
        sent = {name: value for name, value in filters.sent(query).items() if name != "import_run"}
        narrowing = [name for name in sent if name not in (*_FLAGS, "q", filters.MEANING)]
        if len(sent.keys() - {*_FLAGS}) == 1:
            # Without the only filter every post would match.
            return []
        for name in narrowing[:_TRIED_MAX]:
            others = {other: value for other, value in sent.items() if other != name}
            counts = await self._bookmarks.count(account, CountQuery(**others))
            if counts.count:
                return [f"Without {vocabulary.published(name)}, {_matching(counts.count)}."]
        return []

    async def _exists(self, account: Account, name: str, value: str) -> bool:
        # The plan was checked with the list itself.
        anywhere: dict[str, Any] = {"is_unread_only": False, "hide_archived": False, name: value}
        return bool(await self._bookmarks.total(account, filters.filter_of(CountQuery(**anywhere))))


def _named(query: ListQuery, published: str, field: Field) -> Iterable[tuple[str, str]]:
    """The names in a filter and in the fields of a query, each with the filter to test it."""
    own = [
        (name, value)
        for name, values in filters.sent(query).items()
        if vocabulary.published(name) == published
        for value in (values if isinstance(values, list) else _split(values))
    ]
    words = query_language.parse(query.q.strip()).conditions if query.q else ()
    named = [one.value for one in words if one.field is field and not one.is_excluded]
    return dict.fromkeys([*own, *((_FILTER_OF[field], name) for name in named)])


def _split(text: str) -> list[str]:
    """Several names are separated by commas."""
    return [name for part in text.split(",") if (name := part.strip())]


def only_words(refused: Refusal) -> str:
    """Why a search did not use the meaning of posts."""
    return f"Only words were searched. {refused.sentence}"


def hidden(number: int) -> list[str]:
    """How to include the posts that only the flags exclude."""
    if not number:
        return []
    read = _matching(number).replace("post", "read or archived post", 1)
    return [f"{read}. Send is_unread_only false and hide_archived false to include them."]


def _posts(number: int) -> str:
    return "1 post has" if number == 1 else f"{number} posts have"


def _matching(number: int) -> str:
    return "1 post matches" if number == 1 else f"{number} posts match"


def _quoted(name: str) -> str:
    return f"'{response_size.truncate(shown_name(name), _SHOWN_CHARS)}'"


_NEXT_STEPS: Final[Mapping[Code, str]] = {
    Code.UNAUTHORIZED: "Do not retry with this key. Ask the user for a valid API key.",
    Code.SUBSCRIPTION_REQUIRED: "Do not retry. Tell the user that they can upgrade at {upgrade}.",
    Code.FILTER_NOT_ALLOWED: (
        "Call again without the filter, or tell the user that they can upgrade at {upgrade}."
    ),
    Code.PAGINATION_NOT_ALLOWED: (
        "Work with the first page, or tell the user that they can upgrade at {upgrade}."
    ),
    Code.VECTOR_SEARCH_NOT_ALLOWED: "Call search_bookmarks with mode keyword instead.",
    Code.INVALID_REQUEST: "Fix the argument and call again.",
    Code.COUNT_MISMATCH: (
        "Call again with dry_run true, tell the user the new count, and send it as expected_count."
    ),
    Code.IDEMPOTENCY_IN_PROGRESS: "Wait a second and call again with the same idempotency_key.",
    Code.IDEMPOTENCY_KEY_REUSED: "Call again with a new idempotency_key.",
    Code.PAYLOAD_TOO_LARGE: "Send less per call.",
    Code.RATE_LIMITED: "Wait {wait} seconds and call again.",
    Code.IDEMPOTENCY_LIMIT: "Call again without idempotency_key.",
    Code.EXPORT_COUNT_LIMIT: "Do not retry today. Tell the user.",
    Code.EXPORT_SIZE_LIMIT: "Do not retry today. Tell the user.",
    Code.INTERNAL_ERROR: (
        "Retry once with the same idempotency_key. If it fails again, tell the user."
    ),
    Code.SERVICE_UNAVAILABLE: "Wait {wait} seconds and call again.",
}


_NAMED: Final = re.compile(r"No (?:deleted )?([A-Za-z ]+?) '")
_SEE: Final[Mapping[str, str]] = {
    "post": "search_bookmarks and list_bookmarks return the ids of posts.",
    "label": "list_labels returns the labels.",
    "Smart View": "list_views returns the slugs.",
    "digest": "list_digests returns the ids of digests.",
    "import": "list_imports returns the ids of imports.",
    "highlight": "get_bookmarks returns the highlights of a post.",
}


class Advised(Refusal):
    """A refusal with a next step of its own. `{upgrade}` in it is the address of the plans."""

    def __init__(self, code: Code, sentence: str, next_step: str) -> None:
        Refusal.__init__(self, code, sentence)
        self.next_step = next_step


def no_selection(refused: Refusal) -> Advised:
    """The plan does not include the filter of a change. Without it every post would change."""
    problem = refused.sentence.replace(" Remove them, or upgrade.", " Nothing was changed.")
    return Advised(
        refused.code,
        problem,
        "Send the ids of the posts as post_ids instead, or tell the user that they can upgrade at "
        "{upgrade}. Do not send a wider filter.",
    )


def sentence(refused: Refusal, upgrade_url: str) -> str:
    """The message in the form `CODE: problem. What to do.`."""
    next_step = _next_step(refused).format(
        upgrade=upgrade_url, wait=refused.headers.get("Retry-After", "5")
    )
    return f"{refused.code}: {refused.sentence} {next_step}".rstrip()


def _next_step(refused: Refusal) -> str:
    if isinstance(refused, Advised):
        return refused.next_step
    if refused.code is Code.NOT_FOUND:
        return _where(refused.sentence)
    return _NEXT_STEPS.get(refused.code, "Tell the user.")


def _where(problem: str) -> str:
    """The tool that returns the values that exist, if there is one."""
    named = _NAMED.match(problem)
    if named is None:
        return "Tell the user." if problem.startswith("No ") else "Do not retry."
    step = "" if "Did you mean" in problem else _SEE.get(named[1], "")
    return f"Do not retry with the same value. {step}".rstrip()
