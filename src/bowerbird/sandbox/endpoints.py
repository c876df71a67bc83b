"""The sandbox's table of routes: rows of the API's own, bound to the fixtures."""

from typing import Final

import msgspec

from bowerbird.clock import Clock
from bowerbird.library.bookmarks import Bookmarks
from bowerbird.library.labels import Labels
from bowerbird.library.views import Views
from bowerbird.rest import bookmarks as bookmark_endpoints
from bowerbird.rest import labels as label_endpoints
from bowerbird.rest import views as view_endpoints
from bowerbird.rest.sandboxed import ROUTES, moved
from bowerbird.storage.database import Database
from bowerbird.wire import envelope
from bowerbird.wire.answers import AnswerCache
from bowerbird.wire.calls import Call, Endpoint, Handler
from bowerbird.wire.replies import Reply
from bowerbird.wire.writes import Writes

_ANSWER_BYTES: Final = 4 * 1024 * 1024


def endpoints(database: Database, clock: Clock, upgrade_url: str) -> list[Endpoint]:
    answers = AnswerCache(_ANSWER_BYTES, finish=envelope.marked)
    writes = Writes(database, clock, upgrade_url)
    bookmarks = Bookmarks(database)
    labels = Labels(database, clock)
    views = Views(database, bookmarks, clock)
    table = [
        *bookmark_endpoints.endpoints(bookmarks, answers),
        *label_endpoints.endpoints(labels, answers),
        *label_endpoints.write_endpoints(labels, writes),
        *view_endpoints.endpoints(views, answers),
    ]
    known = {(endpoint.method, endpoint.path): endpoint for endpoint in table}
    return [_bound(known[route]) for route in ROUTES]


def _bound(endpoint: Endpoint) -> Endpoint:
    # What is read comes out of the cache of answers, and was marked on its way in.
    handle = endpoint.handle if endpoint.method == "GET" else _marking(endpoint.handle)
    return Endpoint(endpoint.method, moved(endpoint.path), handle)


def _marking(handle: Handler) -> Handler:
    async def marked(call: Call) -> Reply:
        # Nothing is kept here, so there is nothing to replay and no key to be wrong.
        reply = await handle(msgspec.structs.replace(call, idempotency_key=None))
        return msgspec.structs.replace(reply, body=envelope.marked(reply.body))

    return marked
