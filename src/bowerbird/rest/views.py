"""/v1/views: Smart Views and the bookmarks they show."""

from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import quote

import msgspec
from msgspec import UNSET

from bowerbird.errors import Code
from bowerbird.library.access import plans
from bowerbird.library.bookmarks.list_request import VectorState
from bowerbird.library.views.counts import CountState
from bowerbird.library.views.views import ChangedView, ViewResponse
from bowerbird.model.labels import View
from bowerbird.model.posts.bookmarks import Bookmark
from bowerbird.requests import decoding
from bowerbird.requests.fields import gates_for
from bowerbird.requests.views import NewView, ViewBookmarksQuery, ViewChange
from bowerbird.rest.bulk import changed
from bowerbird.rest.serving import Rest
from bowerbird.storage.database import Transaction
from bowerbird.wire.responses import envelope
from bowerbird.wire.responses.answer_cache import One, RequestTarget
from bowerbird.wire.responses.envelope import ListMeta, UndoMeta, ViewListMeta
from bowerbird.wire.responses.replies import Reply, State, Unsettled, state_of
from bowerbird.wire.routes import ApiRoute, Call, Operation

_CREATED: Final = 201
LIST: Final = Operation(
    route="GET /v1/views",
    name="listViews",
    summary="List the account's Smart Views.",
    data=ViewResponse,
    is_many=True,
    meta=ViewListMeta,
    is_in_sandbox=True,
)
CREATE: Final = Operation(
    route="POST /v1/views",
    name="createView",
    summary="Save a query as a Smart View.",
    data=ViewResponse,
    meta=UndoMeta,
    body=NewView,
    statuses=(_CREATED,),
)
GET: Final = Operation(
    route="GET /v1/views/{slug}",
    name="getView",
    summary="Get one Smart View.",
    data=ViewResponse,
    is_in_sandbox=True,
    is_conditional=True,
)
UPDATE: Final = Operation(
    route="PATCH /v1/views/{slug}",
    name="updateView",
    summary="Change a Smart View. Its slug stays the same.",
    data=ViewResponse,
    meta=UndoMeta,
    body=ViewChange,
    is_conditional=True,
)
DELETE: Final = Operation(
    route="DELETE /v1/views/{slug}",
    name="deleteView",
    summary="Delete a Smart View. Its bookmarks stay.",
    data=ViewResponse,
    meta=UndoMeta,
    is_conditional=True,
)
BOOKMARKS: Final = Operation(
    route="GET /v1/views/{slug}/bookmarks",
    name="listViewBookmarks",
    summary="List the bookmarks of a Smart View, page by page.",
    data=Bookmark,
    is_many=True,
    meta=ListMeta,
    query=ViewBookmarksQuery,
    # The gates of the view's own query.
    refusals=(Code.FILTER_NOT_ALLOWED, Code.VECTOR_SEARCH_NOT_ALLOWED),
    is_in_sandbox=True,
)


def routes(rest: Rest) -> list[ApiRoute]:
    views, answers = rest.services.views, rest.answers

    def target(call: Call, shown: list[View], vectors: VectorState | None) -> RequestTarget:
        tag = "" if vectors is None else vectors.tag
        return msgspec.structs.replace(call.target, minute=views.minute(shown), vectors=tag)

    async def list_views(call: Call) -> Reply:
        found = await views.all(call.account)
        vectors = await views.vector_state(call.account, found)

        async def build() -> bytes | Unsettled:
            listed = await views.responses(call.account, found, vectors)
            body = envelope.success(listed, _list_meta(listed))
            return body if _is_settled(listed) else Unsettled(body)

        return await answers.answer(call.account, target(call, found, vectors), build)

    async def get_view(call: Call) -> Reply:
        view = await views.find(call.account, call.path_params["slug"])
        vectors = await views.vector_state(call.account, [view])

        async def build() -> One:
            shown = await views.response(call.account, view, vectors)
            return One(envelope.success(shown), _state(view), _is_settled([shown]))

        return await answers.answer_one(call.account, target(call, [view], vectors), build)

    async def view_bookmarks(call: Call) -> Reply:
        # The plan is checked first, as for the list.
        sent = decoding.sent_parameters(call.target.query_string, ViewBookmarksQuery)
        plans.check_fields(call.account, gates_for(ViewBookmarksQuery, sent))
        view = await views.find(call.account, call.path_params["slug"])
        vectors = await views.vector_state(call.account, [view])

        async def build() -> bytes | Unsettled:
            await views.admit(call.account, view, vectors)
            query = decoding.from_query(call.target.query_string, ViewBookmarksQuery)
            return envelope.page(await views.bookmarks(call.account, view, query, vectors))

        return await answers.answer(call.account, target(call, [view], vectors), build)

    return [
        LIST.served_by(list_views),
        GET.served_by(get_view),
        BOOKMARKS.served_by(view_bookmarks),
        *_writes(rest),
    ]


def _writes(rest: Rest) -> list[ApiRoute]:
    views, gate = rest.services.views, plans.check_writes

    def new(made: ChangedView) -> Reply:
        location = (b"location", f"/v1/views/{quote(made[0].slug)}".encode())
        return msgspec.structs.replace(changed(made), status=_CREATED).with_headers(location)

    async def current(transaction: Transaction, call: Call) -> State:
        gate(call.account)
        return _state(await views.stored(transaction, call.account, call.path_params["slug"]))

    writing: dict[str, Any] = {"reply": changed, "current": current}
    return [
        rest.write(CREATE, views.create, gate, reply=new, prepare=views.prepare_create),
        rest.write(UPDATE, views.update, gate, prepare=views.prepare_update, **writing),
        rest.write(DELETE, views.delete, prepare=views.prepare_delete, **writing),
    ]


def _state(view: View) -> State:
    """Without the count, which changes with the posts."""
    return state_of(view, view.updated_at)


def _is_settled(views: Sequence[ViewResponse]) -> bool:
    return all(view.count_state is CountState.EXACT for view in views)


def _list_meta(views: Sequence[ViewResponse]) -> ViewListMeta:
    pending = sum(view.count_state.is_pending for view in views)
    return ViewListMeta(counts_pending=pending or UNSET)
