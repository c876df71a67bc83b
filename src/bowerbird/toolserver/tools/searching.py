"""The tools that list saved posts, search them, and find similar ones."""

from collections.abc import Awaitable, Sequence
from typing import Annotated, ClassVar, Final, Literal

import msgspec
from msgspec import Meta

from bowerbird import errors
from bowerbird.assembly import Services
from bowerbird.errors import Code, Refusal, TooManyWaiting
from bowerbird.library.access import plans
from bowerbird.library.bookmarks.bookmarks import Bookmarks
from bowerbird.library.bookmarks.list_request import BookmarkList, VectorState
from bowerbird.model.accounts import Account
from bowerbird.model.posts.filters import RELEVANCE
from bowerbird.requests import filters
from bowerbird.requests.bookmarks import (
    Cursor,
    Limit,
    ListQuery,
    SimilarQuery,
    SortBy,
    SortOrder,
)
from bowerbird.requests.fields import Gate, about
from bowerbird.requests.filters import OPERATORS, BookmarkFilters, WordFilters, flags_of
from bowerbird.search.queries import query_language
from bowerbird.toolserver.tools import binding
from bowerbird.toolserver.tools.results import guidance, posts
from bowerbird.toolserver.tools.results.guidance import EmptyLists, only_words
from bowerbird.toolserver.tools.results.posts import Page, ResponseFormat
from bowerbird.toolserver.tools.tool import READS, BoundTool, Json, Tool, ToolCall, ToolResult

_WITHOUT_MEANING: Final = (Code.VECTOR_SEARCH_NOT_ALLOWED, Code.SERVICE_UNAVAILABLE)


class ListArguments(WordFilters, frozen=True, kw_only=True):
    UNLISTED: ClassVar = ("sort_order",)

    sort_by: SortBy = None
    sort_order: SortOrder = None
    limit: Limit = None
    cursor: Cursor = None
    response_format: ResponseFormat = None


class SearchArguments(BookmarkFilters, frozen=True, kw_only=True):
    DEFAULTS: ClassVar[dict[str, bool]] = {"is_unread_only": False, "hide_archived": False}
    UNLISTED: ClassVar = ("sort_order",)

    query: Annotated[
        str,
        about(f"Text to search for. {OPERATORS}"),
    ]
    mode: Annotated[
        Literal["keyword", "semantic", "hybrid"] | None,
        about("Default: hybrid if search by meaning is ready, otherwise keyword."),
    ] = None
    sort_by: Annotated[
        SortBy,
        about(
            "",
            argument={
                "type": "string",
                "description": f"Such as posted_at or favorite_count. Default: {RELEVANCE}.",
            },
        ),
    ] = None
    sort_order: SortOrder = None
    limit: Limit = None
    cursor: Cursor = None
    response_format: ResponseFormat = None


class SimilarArguments(SimilarQuery, frozen=True, kw_only=True):
    post_id: Annotated[Annotated[str, Meta(pattern=r"^[0-9]{1,40}$")], about("Id of the post.")]


LIST: Final = Tool(
    name="list_bookmarks",
    title="List saved posts",
    description=(
        "Lists the user's saved posts, newest first: new ones only, unless is_unread_only and "
        "hide_archived are false. To find posts about a subject, use search_bookmarks."
    ),
    takes=ListArguments,
    returns=Page,
    hints=READS,
)
SEARCH: Final = Tool(
    name="search_bookmarks",
    title="Search saved posts",
    description=(
        "Finds saved posts about a subject, best matches first, read and archived ones too. Mode "
        "keyword finds the words, semantic a similar meaning, hybrid both; semantic and hybrid "
        "need a paid plan and a complete vector store."
    ),
    takes=SearchArguments,
    returns=Page,
    hints=READS,
)
SIMILAR: Final = Tool(
    name="similar_bookmarks",
    title="Find similar posts",
    description=(
        "Finds the saved posts with the most similar meaning to one, best first, read ones too. "
        "Needs a paid plan."
    ),
    takes=SimilarArguments,
    returns=Page,
    hints=READS,
)


def bind(services: Services) -> list[BoundTool]:
    bookmarks = services.bookmarks

    async def list_bookmarks(account: Account, values: ListArguments) -> Page:
        sent = filters.sent(values)
        query = ListQuery(**sent, **posts.paging(values))
        applied = {**filters.flags_of(values), **sent, **posts.sorting(values)}
        return await posts.listed_page(bookmarks, account, query, applied, values.response_format)

    return [
        binding.reads(LIST, list_bookmarks),
        _search_tool(bookmarks),
        _similar_tool(bookmarks),
    ]


def _search_tool(bookmarks: Bookmarks) -> BoundTool:
    async def search_bookmarks(call: ToolCall) -> ToolResult:
        sent_mode = call.sent.get("mode")
        by_meaning = sent_mode in ("semantic", "hybrid")
        gates = {"mode": Gate.MEANING} if by_meaning else {}
        binding.check_plan(call.account, SearchArguments, call.sent, gates)
        vectors = None
        if by_meaning:
            vectors = await bookmarks.vector_state(call.account)
            await bookmarks.require_vectors(call.account, vectors)
        values = binding.read(call, SearchArguments)
        remarks: list[str] = []
        if values.mode is None:
            found = await _by_both(bookmarks, call.account, values)
            if isinstance(found, Page):
                return ToolResult(found)
            remarks = found
        mode = values.mode or "keyword"
        return ToolResult(
            await _page(bookmarks, call.account, values, mode, vectors=vectors, remarks=remarks)
        )

    return BoundTool(SEARCH, search_bookmarks)


async def _by_both(
    bookmarks: Bookmarks, account: Account, values: SearchArguments
) -> Page | list[str]:
    """What words and meaning find, or why only words can be searched."""
    if account.is_free or not query_language.plain_text(values.query):
        return []
    vectors = await bookmarks.vector_state(account)
    try:
        if vectors.store is not None:
            return await _page(bookmarks, account, values, "hybrid", vectors=vectors)
        return await EmptyLists(bookmarks).not_built(account) if vectors.can_build else []
    except Refusal as refused:
        # The model does not work at the moment. Words can still be searched.
        if refused.code not in _WITHOUT_MEANING or isinstance(refused, TooManyWaiting):
            raise
        return [only_words(refused)]


async def _page(
    bookmarks: Bookmarks,
    account: Account,
    values: SearchArguments,
    mode: str,
    *,
    vectors: VectorState | None,
    remarks: Sequence[str] = (),
) -> Page:
    mode = _possible(mode, values.query)
    query, applied = _search(values, mode)
    return await posts.listed_page(
        bookmarks,
        account,
        query,
        applied,
        values.response_format,
        vectors=None if mode == "keyword" else vectors,
        mode=mode,
        remarks=remarks,
    )


def _possible(mode: str, text: str) -> str:
    """The mode, except for text that is only punctuation, which has no meaning."""
    return "keyword" if query_language.parse(text.strip()).is_empty else mode


def _meant(text: str, mode: str) -> str | None:
    if mode == "keyword":
        return None
    # In hybrid mode, q has the fields and operators.
    return query_language.plain_text(text) or None if mode == "hybrid" else text


def _search(values: SearchArguments, mode: str) -> tuple[ListQuery, Json]:
    """The query of a search, and the filters that its result repeats."""
    text = values.query.strip()
    if not text:
        raise errors.invalid("query", "is empty")
    sent = {**SearchArguments.DEFAULTS, **filters.sent(values)}
    sorting = posts.sorting(values)
    if mode == "keyword":
        sorting = {"sort_by": "relevance", **sorting}
    query = ListQuery(
        **sent,
        **{**posts.paging(values), **sorting},
        q=None if mode == "semantic" else text,
        vector_search_term=_meant(text, mode),
        # Shows where the words are in a long text.
        highlight=None if mode == "semantic" else True,
    )
    return query, {"query": values.query, "mode": mode, **sent, **sorting}


def _similar_tool(bookmarks: Bookmarks) -> BoundTool:
    async def similar_bookmarks(account: Account, values: SimilarArguments) -> Page:
        query = SimilarQuery(
            is_unread_only=values.is_unread_only,
            hide_archived=values.hide_archived,
            limit=values.limit,
        )

        def read(asked: SimilarQuery) -> Awaitable[BookmarkList]:
            return bookmarks.similar(account, values.post_id, asked)

        async def remark(listed: BookmarkList) -> list[str]:
            flags = guidance.by_default(flags_of(query))
            if not flags or not account.archived:
                return []
            if listed.count == listed.limit:
                # More posts would not be shown, so they are not worth a second search.
                return [guidance.uncounted(flags)]
            whole = msgspec.structs.replace(query, limit=1, **dict.fromkeys(flags, False))
            near = await read(whole)
            return guidance.included(flags, near.total_count - listed.total_count)

        async def explain(listed: BookmarkList) -> list[str]:
            return await remark(listed) or posts.why_empty(listed, "No post matches.")

        applied = {"post_id": values.post_id}
        return await posts.page(
            *(bookmarks, account, query, read), applied=applied, explain=explain, remark=remark
        )

    return binding.reads(SIMILAR, similar_bookmarks, gate=plans.check_similar)
