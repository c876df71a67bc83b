"""/v1/bookmarks: list, counts, one bookmark, flags, similar bookmarks, and highlights."""

import re
from typing import Final

import msgspec
from msgspec import UNSET

from bowerbird.errors import Code, Refusal
from bowerbird.library.access import plans
from bowerbird.library.bookmarks.annotations import BookmarkState, Flags, Highlights
from bowerbird.library.bookmarks.bookmarks import Bookmarks
from bowerbird.library.bookmarks.list_request import BookmarkCounts, VectorState
from bowerbird.library.bookmarks.shown_fields import selected, with_content
from bowerbird.library.bookmarks.trash import Deleted, Trash
from bowerbird.library.bulk.requests import BulkChange
from bowerbird.library.statistics import Facet, FacetCounts
from bowerbird.model.bulk import BulkRow
from bowerbird.model.posts.bookmarks import Bookmark, updated_at
from bowerbird.model.posts.highlights import HighlightedPassage
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
from bowerbird.requests.filters import MEANING, ImportedQuery, WordFilters
from bowerbird.rest import bulk
from bowerbird.rest.bulk import Changing, changed, kept
from bowerbird.search.queries import query_language
from bowerbird.storage.database import Transaction
from bowerbird.wire import query_strings
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
from bowerbird.wire.writes import Current, Writes, done, done_with

# A query with a relative date has one of these.
_MAY_MOVE: Final = re.compile(rb"before|after|_from|_to|_since|_until|%", re.IGNORECASE)

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


def routes(bookmarks: Bookmarks, answers: AnswerCache) -> list[ApiRoute]:
    async def list_bookmarks(call: Call) -> Reply:
        vectors = await vectors_for(call, bookmarks)
        hinted = None if vectors else await _vectors_for_hint(call, bookmarks)
        target = _with_hint(moving(call, vectors, bookmarks), hinted)

        async def build() -> bytes | Unsettled:
            await admit(call, ListQuery, bookmarks, vectors)
            query = query_strings.read(call.target.query_string, ListQuery)
            found = await bookmarks.list(call.account, query, vectors or hinted)
            return envelope.page(
                msgspec.structs.replace(found, body=selected(found.body, query.fields))
            )

        return await answers.answer(call.account, target, build)

    async def count_bookmarks(call: Call) -> Reply:
        vectors = await vectors_for(call, bookmarks)

        async def build() -> bytes:
            await admit(call, CountQuery, bookmarks, vectors)
            query = query_strings.read(call.target.query_string, CountQuery)
            return envelope.success(await bookmarks.count(call.account, query, vectors))

        return await answers.answer(call.account, moving(call, vectors, bookmarks), build)

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
        _similar(bookmarks, answers),
    ]


def _similar(bookmarks: Bookmarks, answers: AnswerCache) -> ApiRoute:
    async def similar_bookmarks(call: Call) -> Reply:
        plans.check_similar(call.account)
        vectors = await bookmarks.vector_state(call.account)

        async def build() -> bytes | Unsettled:
            await bookmarks.require_vectors(call.account, vectors)
            query = query_strings.read(call.target.query_string, SimilarQuery)
            post_id = call.path_params["post_id"]
            return envelope.page(await bookmarks.similar(call.account, post_id, query, vectors))

        return await answers.answer(call.account, _target(call, vectors), build)

    return SIMILAR.served_by(similar_bookmarks)


def write_routes(flags: Flags, trash: Trash, writes: Writes, changing: Changing) -> list[ApiRoute]:
    async def update_many(transaction: Transaction, call: Call, request: StateRequest) -> Reply:
        result = await flags.update(transaction, call.account, request.post_ids or [], request)
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

    def deleted(changed: tuple[Deleted, BulkRow | None]) -> Reply:
        post, row = changed
        return done(post, UndoMeta(kept(row)))

    current = current_post(flags)
    return [
        UPDATE_MANY.served_by(
            changing.handler_of(StateRequest, lambda one: one.change, update_matching, update_many)
        ),
        UPDATE.served_by(writes.of(flags.update_one, UpdateRequest, reply=shown, current=current)),
        DELETE.served_by(
            writes.of(trash.delete, reply=deleted, prepare=trash.prepare, current=current)
        ),
        RESTORE.served_by(writes.of(trash.restore, reply=shown, prepare=trash.prepare_restore)),
    ]


def current_post(flags: Flags) -> Current:
    """The post of a path, for changes of it and of what it contains."""

    async def current(transaction: Transaction, call: Call) -> State:
        return _state(await flags.stored(transaction, call.account, call.path_params["post_id"]))

    return current


def _state(stored: bytes) -> State:
    return State(stored, updated_at(stored))


def _changed(affected: int) -> str:
    return f"Changed {affected} {'bookmark' if affected == 1 else 'bookmarks'}."


async def admit(
    call: Call,
    kind: type[ImportedQuery],
    bookmarks: Bookmarks,
    vectors: VectorState | None,
) -> None:
    """Checks plan and vectors first, so that a client never fixes a filter it cannot use."""
    if call.account.is_free:
        sent = query_strings.sent(call.target.query_string, kind)
        plans.check_fields(call.account, gates_for(kind, sent))
    if vectors is not None:
        await bookmarks.require_vectors(call.account, vectors)


async def vectors_for(call: Call, bookmarks: Bookmarks) -> VectorState | None:
    """The state of the vectors, if the request searches by meaning."""
    query_string = call.target.query_string
    # A parameter name may be percent-encoded; without a %, searching the bytes is enough.
    if b"%" not in query_string and MEANING.encode() not in query_string:
        return None
    if MEANING not in query_strings.names(query_string):
        return None
    return await bookmarks.vector_state(call.account)


async def _vectors_for_hint(call: Call, bookmarks: Bookmarks) -> VectorState | None:
    """The state of the vectors, if `q` is a question that a search by meaning may suit better."""
    query_string = call.target.query_string
    if call.account.is_free or (b"q=" not in query_string and b"%" not in query_string):
        return None
    try:
        text = query_strings.values(query_string, ("q",)).get("q", "")
    except Refusal:
        # It is refused where the query is read.
        return None
    is_question = query_language.parse(text.strip()).is_question
    return await bookmarks.vector_state(call.account) if is_question else None


def _target(call: Call, vectors: VectorState | None) -> RequestTarget:
    """Vectors change without a new version of the library, so they are part of the ETag."""
    if vectors is None:
        return call.target
    return msgspec.structs.replace(call.target, vectors=vectors.tag)


def _with_hint(target: RequestTarget, vectors: VectorState | None) -> RequestTarget:
    """A search by words depends on the vectors only in what its hint says about them."""
    state = None if vectors is None else vectors.by_meaning
    return target if state is None else msgspec.structs.replace(target, vectors=state.name)


def moving(call: Call, vectors: VectorState | None, bookmarks: Bookmarks) -> RequestTarget:
    """The target of the ETag, with the current minute if the query has a relative date."""
    target, query_string = _target(call, vectors), call.target.query_string
    # Letters may be percent-encoded.
    if not _MAY_MOVE.search(query_string):
        return target
    try:
        asked = query_strings.read(query_string, WordFilters)
    except Refusal:
        # It is refused where the query is read, after the plan.
        return target
    return msgspec.structs.replace(target, minute=bookmarks.minute(asked))


FACETS: Final = Operation(
    route="GET /v1/bookmarks/facets",
    name="countBookmarksBy",
    summary="Count the bookmarks that match by author, label, month, linked site or media.",
    data=Facet,
    is_many=True,
    meta=FacetMeta,
    query=FacetsQuery,
)


def facet_routes(facets: FacetCounts, bookmarks: Bookmarks, answers: AnswerCache) -> list[ApiRoute]:
    async def count_by(call: Call) -> Reply:
        vectors = await vectors_for(call, bookmarks)

        async def build() -> bytes:
            await admit(call, FacetsQuery, bookmarks, vectors)
            query = query_strings.read(call.target.query_string, FacetsQuery)
            found = await facets.of(call.account, query, vectors)
            meta = FacetMeta(
                by=query.by,
                count=len(found.facets),
                total_count=found.values,
                bookmarks=found.posts,
                bookmarks_read=UNSET if found.read is None else found.read,
            )
            return envelope.success(found.facets, meta)

        return await answers.answer(call.account, moving(call, vectors, bookmarks), build)

    return [FACETS.served_by(count_by)]


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


def highlight_routes(highlights: Highlights, flags: Flags, writes: Writes) -> list[ApiRoute]:
    current = current_post(flags)
    return [
        ADD_HIGHLIGHT.served_by(writes.of(highlights.add, NewHighlight, reply=changed)),
        UPDATE_HIGHLIGHT.served_by(
            writes.of(highlights.update, HighlightChange, reply=changed, current=current)
        ),
        DELETE_HIGHLIGHT.served_by(writes.of(highlights.remove, reply=changed, current=current)),
    ]
