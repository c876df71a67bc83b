"""/v1/bookmarks: list, counts, one bookmark, flags, similar bookmarks, and highlights."""

import re
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

import msgspec
from msgspec import UNSET

from bowerbird.errors import Code, Refusal
from bowerbird.library.access import plans
from bowerbird.library.bookmarks.annotations import BookmarkState
from bowerbird.library.bookmarks.bookmarks import Bookmarks
from bowerbird.library.bookmarks.list_request import BookmarkCounts, VectorState
from bowerbird.library.bookmarks.shown_fields import selected, with_content
from bowerbird.library.bookmarks.trash import Deleted
from bowerbird.library.bulk.requests import BulkChange
from bowerbird.library.statistics import Facet
from bowerbird.model.accounts import Account
from bowerbird.model.bulk import BulkRow
from bowerbird.model.posts.bookmarks import Bookmark, updated_at
from bowerbird.model.posts.highlights import HighlightedPassage
from bowerbird.requests import decoding
from bowerbird.requests.bookmarks import (
    CountQuery,
    FacetsQuery,
    HighlightChange,
    ListQuery,
    NewHighlight,
    SimilarQuery,
    StateRequest,
    UpdateRequest,
)
from bowerbird.requests.fields import gates_for
from bowerbird.requests.filters import MEANING, ImportedQuery
from bowerbird.rest import bulk
from bowerbird.rest.bulk import changed, changing, kept
from bowerbird.rest.serving import Rest
from bowerbird.search.queries import query_language
from bowerbird.storage.database import Transaction
from bowerbird.wire.responses import envelope
from bowerbird.wire.responses.answer_cache import AnswerCache, One, RequestTarget
from bowerbird.wire.responses.envelope import (
    BookmarkMeta,
    ChangeMeta,
    FacetMeta,
    ListMeta,
    UndoMeta,
    content_meta,
)
from bowerbird.wire.responses.replies import Reply, State, Unsettled
from bowerbird.wire.routes import ApiRoute, Call, Operation
from bowerbird.wire.writes import done, done_with

# Only answers to queries with one of these depend on the time or on the vectors. Letters may be
# percent-encoded.
_DEPENDING: Final = re.compile(
    rb"before|after|_from|_to|_since|_until|q=|vector_search_term|%", re.IGNORECASE
)
Q = TypeVar("Q", bound=ImportedQuery)

LIST: Final = Operation(
    route="GET /v1/bookmarks",
    name="listBookmarks",
    summary="List the account's bookmarks, page by page.",
    data=Bookmark,
    is_many=True,
    meta=ListMeta,
    query=ListQuery,
    is_in_sandbox=True,
)
COUNT: Final = Operation(
    route="GET /v1/bookmarks/count",
    name="countBookmarks",
    summary="Count the bookmarks that match. Without parameters it only checks the key.",
    data=BookmarkCounts,
    query=CountQuery,
    # The plain call is how clients check a key, so it is free.
    counts=bool,
)
UPDATE_MANY: Final = Operation(
    route="POST /v1/bookmarks/update",
    name="updateBookmarks",
    summary="Mark many bookmarks read or unread, archived or not: some, or all that match.",
    data=BookmarkState,
    is_many=True,
    meta=ChangeMeta,
    body=StateRequest,
    may_continue=True,
    refusals=bulk.MATCHING_REFUSALS,
)
GET: Final = Operation(
    route="GET /v1/bookmarks/{post_id}",
    name="getBookmark",
    summary="Get one bookmark.",
    data=Bookmark,
    meta=BookmarkMeta,
    is_in_sandbox=True,
    is_conditional=True,
)
SIMILAR: Final = Operation(
    route="GET /v1/bookmarks/{post_id}/similar",
    name="listSimilarBookmarks",
    summary="List the bookmarks nearest to one by meaning.",
    data=Bookmark,
    is_many=True,
    meta=ListMeta,
    query=SimilarQuery,
    refusals=(Code.VECTOR_SEARCH_NOT_ALLOWED,),
)
UPDATE: Final = Operation(
    route="PATCH /v1/bookmarks/{post_id}",
    name="updateBookmark",
    summary="Mark one bookmark read or unread, archived or not, or change its note.",
    data=Bookmark,
    meta=UndoMeta,
    body=UpdateRequest,
    is_conditional=True,
)
DELETE: Final = Operation(
    route="DELETE /v1/bookmarks/{post_id}",
    name="deleteBookmark",
    summary="Move a bookmark to the trash. It can be restored for 30 days.",
    data=Deleted,
    meta=UndoMeta,
    is_conditional=True,
)
RESTORE: Final = Operation(
    route="POST /v1/bookmarks/{post_id}/restore",
    name="restoreBookmark",
    summary="Restore a deleted bookmark.",
    data=Bookmark,
    meta=UndoMeta,
)


FACETS: Final = Operation(
    route="GET /v1/bookmarks/facets",
    name="countBookmarksBy",
    summary="Count the bookmarks that match by author, label, month, linked site or media.",
    data=Facet,
    is_many=True,
    meta=FacetMeta,
    query=FacetsQuery,
)


_HIGHLIGHTS: Final = "/v1/bookmarks/{post_id}/highlights"
ADD_HIGHLIGHT: Final = Operation(
    route=f"POST {_HIGHLIGHTS}",
    name="addHighlight",
    summary="Mark a passage of a post or its article.",
    data=HighlightedPassage,
    meta=UndoMeta,
    body=NewHighlight,
)
UPDATE_HIGHLIGHT: Final = Operation(
    route=f"PATCH {_HIGHLIGHTS}/{{highlight_id}}",
    name="updateHighlight",
    summary="Change the comment of a highlight.",
    data=HighlightedPassage,
    meta=UndoMeta,
    body=HighlightChange,
    # It is a part of its bookmark, whose ETag and updated_at these are.
    is_conditional=True,
)
DELETE_HIGHLIGHT: Final = Operation(
    route=f"DELETE {_HIGHLIGHTS}/{{highlight_id}}",
    name="deleteHighlight",
    summary="Remove a highlight. The post stays as it is.",
    data=HighlightedPassage,
    meta=UndoMeta,
    is_conditional=True,
)


def routes(rest: Rest) -> list[ApiRoute]:
    return [*_reads(rest), _facets(rest), _similar(rest), *_writes(rest)]


def _reads(rest: Rest) -> list[ApiRoute]:
    bookmarks, answers = rest.services.bookmarks, rest.answers

    async def list_bookmarks(call: Call) -> Reply:
        async def build(query: ListQuery, vectors: VectorState | None) -> bytes | Unsettled:
            found = await bookmarks.list(call.account, query, vectors)
            return envelope.page(
                msgspec.structs.replace(found, body=selected(found.body, query.fields))
            )

        return await _answer(call, ListQuery, bookmarks, answers, build)

    async def count_bookmarks(call: Call) -> Reply:
        async def build(query: CountQuery, vectors: VectorState | None) -> bytes:
            return envelope.success(await bookmarks.count(call.account, query, vectors))

        return await _answer(call, CountQuery, bookmarks, answers, build)

    async def get_bookmark(call: Call) -> Reply:
        async def build() -> One:
            post_id = call.path_params["post_id"]
            stored, content = await bookmarks.stored_with_content(call.account, post_id)
            shown = with_content(stored, content)
            body = envelope.success_of_one(shown, content_meta(content))
            return One(body, _state(stored), content.is_settled)

        return await answers.answer_one(call.account, call.target, build)

    return [
        LIST.served_by(list_bookmarks),
        COUNT.served_by(count_bookmarks),
        GET.served_by(get_bookmark),
    ]


def _facets(rest: Rest) -> ApiRoute:
    services = rest.services

    async def count_by(call: Call) -> Reply:
        async def build(query: FacetsQuery, vectors: VectorState | None) -> bytes:
            found = await services.facets.of(call.account, query, vectors)
            meta = FacetMeta(
                by=query.by,
                count=len(found.facets),
                total_count=found.values,
                bookmarks=found.posts,
                bookmarks_read=UNSET if found.read is None else found.read,
            )
            return envelope.success(found.facets, meta)

        return await _answer(call, FacetsQuery, services.bookmarks, rest.answers, build)

    return FACETS.served_by(count_by)


def _similar(rest: Rest) -> ApiRoute:
    bookmarks = rest.services.bookmarks

    async def similar_bookmarks(call: Call) -> Reply:
        plans.check_similar(call.account)
        vectors = await bookmarks.vector_state(call.account)

        async def build() -> bytes | Unsettled:
            await bookmarks.require_vectors(call.account, vectors)
            query = decoding.from_query(call.target.query_string, SimilarQuery)
            post_id = call.path_params["post_id"]
            return envelope.page(await bookmarks.similar(call.account, post_id, query, vectors))

        return await rest.answers.answer(
            call.account, _target(call.target, vectors, is_by_meaning=True), build
        )

    return SIMILAR.served_by(similar_bookmarks)


def _writes(rest: Rest) -> list[ApiRoute]:
    flags, trash, highlights = rest.services.flags, rest.services.trash, rest.services.highlights

    async def update_many(
        transaction: Transaction, account: Account, request: StateRequest
    ) -> Reply:
        result = await flags.update(transaction, account, request.post_ids or [], request)
        meta = ChangeMeta(
            _changed(result.affected),
            result.affected,
            result.not_found,
            change=kept(result.change),
        )
        return done(result.posts, meta)

    def update_matching(change: BulkChange) -> Reply:
        meta = ChangeMeta(_changed(change.changed), change.changed, [], change=change)
        return done([], meta)

    def shown(changed: tuple[bytes, BulkRow | None]) -> Reply:
        bookmark, row = changed
        return done_with(bookmark, UndoMeta(kept(row)))

    async def current(transaction: Transaction, call: Call) -> State:
        """The post of a path, for changes of it and of what it contains."""
        return _state(await flags.stored(transaction, call.account, call.path_params["post_id"]))

    return [
        changing(rest, UPDATE_MANY, lambda one: one.change, update_matching, by_ids=update_many),
        rest.write(UPDATE, flags.update_one, reply=shown, current=current),
        rest.write(DELETE, trash.delete, reply=changed, current=current),
        rest.write(RESTORE, trash.restore, reply=shown),
        rest.write(ADD_HIGHLIGHT, highlights.add, reply=changed),
        rest.write(UPDATE_HIGHLIGHT, highlights.update, reply=changed, current=current),
        rest.write(DELETE_HIGHLIGHT, highlights.remove, reply=changed, current=current),
    ]


def _state(stored: bytes) -> State:
    return State(stored, updated_at(stored))


def _changed(affected: int) -> str:
    return f"Changed {affected} {'bookmark' if affected == 1 else 'bookmarks'}."


async def _answer(
    call: Call,
    kind: type[Q],
    bookmarks: Bookmarks,
    answers: AnswerCache,
    build: Callable[[Q, VectorState | None], Awaitable[bytes | Unsettled]],
) -> Reply:
    """The answer to a query. It is read before the cache only if its answer depends on more."""
    account, target = call.account, call.target
    if not _DEPENDING.search(target.query_string):

        async def build_plain() -> bytes | Unsettled:
            return await build(await _query(call, kind, bookmarks), None)

        return await answers.answer(account, target, build_plain)
    query = await _query(call, kind, bookmarks)
    target = msgspec.structs.replace(target, minute=bookmarks.minute(query))
    vectors = None
    if query.vector_search_term or _may_suit_meaning(account, query):
        vectors = await bookmarks.vector_state(account)
        target = _target(target, vectors, is_by_meaning=bool(query.vector_search_term))

    async def build_depending() -> bytes | Unsettled:
        if vectors is not None and query.vector_search_term and not account.is_free:
            await bookmarks.require_vectors(account, vectors)
        return await build(query, vectors)

    return await answers.answer(account, target, build_depending)


async def _query(call: Call, kind: type[Q], bookmarks: Bookmarks) -> Q:
    """Checks plan and vectors first, so that a client never fixes a filter it cannot use."""
    try:
        return decoding.from_query(call.target.query_string, kind)
    except Refusal:
        sent = decoding.sent_parameters(call.target.query_string, kind)
        plans.check_fields(call.account, gates_for(kind, sent))
        if MEANING in sent:
            await bookmarks.require_vectors(
                call.account, await bookmarks.vector_state(call.account)
            )
        raise


def _may_suit_meaning(account: Account, query: ImportedQuery) -> bool:
    """Whether `q` is a question, for which the hint of a list says what a search by meaning may."""
    if account.is_free or not query.q or not isinstance(query, ListQuery):
        return False
    return query_language.parse(query.q.strip()).is_question


def _target(target: RequestTarget, vectors: VectorState, *, is_by_meaning: bool) -> RequestTarget:
    """Vectors change without a new version of the library, so they are part of the ETag.

    A search by words depends on them only in what its hint says about them.
    """
    if is_by_meaning:
        return msgspec.structs.replace(target, vectors=vectors.tag)
    state = vectors.by_meaning
    return target if state is None else msgspec.structs.replace(target, vectors=state.name)
