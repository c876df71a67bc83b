"""/v1/changes: what happened to the library."""

from typing import Final

from bowerbird.errors import Code
from bowerbird.library.bookmarks.events import Event, Events
from bowerbird.requests.bookmarks import EventsQuery
from bowerbird.wire import query_strings
from bowerbird.wire.responses import envelope
from bowerbird.wire.responses.answer_cache import AnswerCache
from bowerbird.wire.responses.envelope import ChangesMeta
from bowerbird.wire.responses.replies import Reply
from bowerbird.wire.routes import ApiRoute, Call, Operation

LIST: Final = Operation(
    route="GET /v1/changes",
    name="listEvents",
    summary="List what happened to the library, in order. Without a cursor, all posts come first.",
    data=Event,
    is_many=True,
    meta=ChangesMeta,
    query=EventsQuery,
    refusals=(Code.CURSOR_EXPIRED,),
)
OPERATIONS: Final = (LIST,)


def routes(events: Events, answers: AnswerCache) -> list[ApiRoute]:
    async def list_changes(call: Call) -> Reply:
        query = query_strings.read(call.target.query_string, EventsQuery)
        page = await events.page(call.account, query)
        meta = ChangesMeta(
            next_cursor=page.next_cursor,
            has_more=page.has_more,
            limit=page.limit,
            count=len(page.events),
        )
        return await answers.uncached(call.target, envelope.success(page.events, meta))

    return [LIST.served_by(list_changes)]
