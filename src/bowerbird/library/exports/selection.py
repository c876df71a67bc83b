"""Which posts an export selects: a request, narrowed to a Smart View if it names one."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import msgspec

from bowerbird import errors
from bowerbird.library.access import plans
from bowerbird.library.bookmarks.searching.label_words import LabelWords
from bowerbird.library.bookmarks.searching.ranking import Rankings
from bowerbird.library.vectors.semantic_search import SemanticSearch
from bowerbird.library.views.changes import stored_query
from bowerbird.model import instants
from bowerbird.model.accounts import Account
from bowerbird.model.jobs import ExportQuery
from bowerbird.model.labels import View
from bowerbird.model.posts.filters import BookmarkFilter
from bowerbird.requests.exports import ExportFilters, ExportRequest, as_listed
from bowerbird.requests.fields import gates_for
from bowerbird.requests.filter_values import read_flag
from bowerbird.requests.filters import (
    DATES,
    MEANING,
    check_order,
    filter_of,
    flags_of,
    has_days,
    sent,
)
from bowerbird.requests.views import ViewQuery
from bowerbird.search.queries import query_language
from bowerbird.storage.database import Database, Readable, Reader
from bowerbird.storage.stores import Service


class ExportQueries(Service):
    """Reads export requests into the selection that the job stores."""

    def __init__(self, database: Database, meaning: SemanticSearch) -> None:
        super().__init__(database)
        self._meaning = meaning

    async def read(
        self, reader: Reader, account: Account, format: str, request: ExportRequest, now: int
    ) -> ExportQuery:
        if request.vector_search_term:
            await self._meaning.require(account, reader)
        view = None
        if request.view:
            views = await self._stores.views.all(Readable(reader, account.account_id))
            if request.view not in views:
                raise errors.not_found("Smart View", request.view)
            view = views[request.view]
        zone = await self.zone(account, reader) if has_days(request) else None
        check_order(filter_of(ExportFilters(**sent(request)), now, zone))
        query = _query_of(account, format, request, view, _Moment(now, zone))
        if MEANING in query.given and not request.vector_search_term:
            await self._meaning.require(account, reader)
        return query


class _Moment(NamedTuple):
    """When and where a request was sent."""

    now: int
    zone: ZoneInfo | None


def _query_of(
    account: Account, format: str, request: ExportRequest, view: View | None, moment: _Moment
) -> ExportQuery:
    """What the export job stores. Relative dates are resolved now, not when the job runs."""
    given = _texts(sent(request) if view else as_listed(sent(request)), moment)
    post_ids = _post_ids(request)
    if view is None:
        return ExportQuery(format=format, given=given, post_ids=post_ids)
    plans.check_fields(account, gates_for(ViewQuery, view.base_query))
    stored = sent(stored_query(view.base_query))
    shown = _texts({**flags_of(stored_query(view.base_query)), **stored}, moment)
    return ExportQuery(
        format=format,
        given=_narrowed(shown, given),
        post_ids=post_ids,
        view_slug=view.slug,
        view_name=view.name,
        further=given,
    )


async def filter_for(
    database: Database, account: Account, given: Mapping[str, str]
) -> BookmarkFilter:
    """The filter of a stored export query."""
    query = msgspec.convert(dict(given), ExportFilters)
    zone = await Service(database).zone(account) if has_days(query) else None
    return filter_of(query, zone=zone)


def description_of(query: ExportQuery) -> str:
    """What the export contains, in a sentence for its cover."""
    narrowing = query.further if query.view_name else query.given
    parts = [f"{name} {_shown(value)}" for name, value in sorted(narrowing.items())]
    if query.post_ids is not None:
        count = len(query.post_ids)
        parts.append(f"{count:,} chosen {'post' if count == 1 else 'posts'}")
    if query.view_name:
        further = f", narrowed by {', '.join(parts)}" if parts else ""
        return f"The Smart View {query.view_name}{further}."
    return f"Narrowed by {', '.join(parts)}." if parts else "The whole library."


def _shown(value: str | int | list[str]) -> str:
    return ", ".join(value) if isinstance(value, list) else str(value)


def _narrowed(shown: dict[str, str], given: dict[str, str]) -> dict[str, str]:
    """Combines both. An export never contains more than the view shows."""
    flags = ExportRequest.DEFAULTS
    for name in sorted((given.keys() & shown.keys()) - {"q", *flags}):
        raise errors.invalid(name, "is already set by the view")
    for name in flags:
        if _is_on(shown, name) and name in given and not _is_on(given, name):
            raise errors.invalid(name, "would include more than the view shows")
    words = [text for text in (shown.get("q"), given.get("q")) if text]
    return shown | given | ({"q": query_language.joined(words)} if words else {})


def _is_on(given: Mapping[str, str], name: str) -> bool:
    return read_flag(name, given.get(name, "false"))


def _post_ids(request: ExportRequest) -> list[str] | None:
    """Ids are digits. Other text is never an id, and databases reject some characters."""
    if request.post_ids is None:
        return None
    return [text for text in request.post_ids if text.isascii() and text.isdigit()]


def _texts(values: Mapping[str, Any], moment: _Moment) -> dict[str, Any]:
    """The values as the job stores them: flags as text, with absolute dates."""
    texts = {
        name: str(value).lower() if isinstance(value, bool) else value
        for name, value in values.items()
    }
    for name in DATES:
        if name in texts:
            texts[name] = _fixed(texts[name], moment)
    if "q" in texts:
        texts["q"] = query_language.with_fixed_dates(texts["q"], moment.now)
    return texts


def _fixed(text: str, moment: _Moment) -> str:
    """The date itself if it is relative."""
    day = instants.day_of(text, moment.now, moment.zone or ZoneInfo("UTC"))
    if day is not None:
        return day.isoformat()
    return instants.resolved(text, moment.now) or text


class ExportPosts(Service):
    def __init__(self, database: Database, meaning: SemanticSearch) -> None:
        super().__init__(database)
        self._meaning = meaning
        self._rankings = Rankings(database, meaning)
        self._labels = LabelWords(database)

    async def numbers(self, account: Account, query: ExportQuery) -> Sequence[int]:
        """In the order they were saved, or the nearest first in a search by meaning."""
        filter = await filter_for(self._database, account, query.given)
        filter = await self._labels.resolved(account, filter)
        if filter.meaning is not None:
            chosen = None if query.post_ids is None else tuple(query.post_ids)
            narrowed = msgspec.structs.replace(filter, post_ids=chosen)
            store = await self._meaning.require(account)
            return await self._rankings.numbers(account, narrowed, store, is_ordered=True)
        if filter.words is not None and filter.words.is_empty:
            return ()
        return await self._stores.bookmarks.numbers(account, filter, query.post_ids)
