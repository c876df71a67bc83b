"""Which posts an export selects: a request, narrowed to a Smart View if it names one."""

from collections.abc import Mapping
from typing import Any

import msgspec

from bowerbird import errors
from bowerbird.library.access import plans
from bowerbird.library.vectors.semantic_search import SemanticSearch
from bowerbird.library.views.changes import stored_query
from bowerbird.model import relative_dates
from bowerbird.model.accounts import Account
from bowerbird.model.exports import ExportQuery
from bowerbird.model.filters import BookmarkFilter
from bowerbird.model.views import View
from bowerbird.requests.exports import ExportFilters, ExportRequest
from bowerbird.requests.filters import (
    MEANING,
    filter_of,
    flags_of,
    read_flag,
    read_instant,
    readers,
    sent,
)
from bowerbird.requests.gates import gates_for
from bowerbird.requests.views import ViewQuery
from bowerbird.search import query_language
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.views import ViewStore


class ExportQueries:
    """Reads export requests into the selection that the job stores."""

    def __init__(self, database: Database, meaning: SemanticSearch) -> None:
        self._views = ViewStore(database)
        self._meaning = meaning

    async def read(
        self,
        transaction: Transaction,
        account: Account,
        format: str,
        request: ExportRequest,
        now: int,
    ) -> ExportQuery:
        if request.vector_search_term:
            await self._meaning.require_within(transaction, account)
        view = None
        if request.view:
            views = await self._views.all_within(transaction, account.account_id)
            if request.view not in views:
                raise errors.not_found("Smart View", request.view)
            view = views[request.view]
        query = _query_of(account, format, request, view, now)
        if MEANING in query.given and not request.vector_search_term:
            await self._meaning.require_within(transaction, account)
        return query


def _query_of(
    account: Account, format: str, request: ExportRequest, view: View | None, now: int
) -> ExportQuery:
    """What the export job stores. Relative dates are resolved now, not when the job runs."""
    given = _texts(sent(request), now)
    post_ids = _post_ids(request)
    if view is None:
        return ExportQuery(format=format, given=given, post_ids=post_ids)
    plans.check_fields(account, gates_for(ViewQuery, view.base_query))
    stored = sent(stored_query(view.base_query))
    shown = _texts({**flags_of(stored_query(view.base_query)), **stored}, now)
    return ExportQuery(
        format=format,
        given=_narrowed(shown, given),
        post_ids=post_ids,
        view_slug=view.slug,
        view_name=view.name,
        further=given,
    )


def filter_for(given: Mapping[str, str]) -> BookmarkFilter:
    """The filter of a stored export query."""
    return filter_of(msgspec.convert(dict(given), ExportFilters))


def description_of(query: ExportQuery) -> str:
    """What the export contains, in a sentence for its cover."""
    narrowing = query.further if query.view_name else query.given
    parts = [f"{name} {value}" for name, value in sorted(narrowing.items())]
    if query.post_ids is not None:
        count = len(query.post_ids)
        parts.append(f"{count:,} chosen {'post' if count == 1 else 'posts'}")
    if query.view_name:
        further = f", narrowed by {', '.join(parts)}" if parts else ""
        return f"The Smart View {query.view_name}{further}."
    return f"Narrowed by {', '.join(parts)}." if parts else "The whole library."


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


def _texts(values: Mapping[str, Any], now: int) -> dict[str, str]:
    """The values as the job stores them: all as text, with absolute dates."""
    texts = {
        name: str(value).lower() if isinstance(value, bool) else value
        for name, value in values.items()
    }
    for name, reader in readers(ExportRequest).items():
        if reader.read is read_instant and name in texts:
            texts[name] = relative_dates.resolved(texts[name], now) or texts[name]
    if "q" in texts:
        texts["q"] = query_language.with_fixed_dates(texts["q"], now)
    return texts
