"""The routes of the sandbox: routes of the API that read the fixtures."""

from typing import Any, Final

import msgspec

from bowerbird import errors
from bowerbird.clock import Clock
from bowerbird.library.bookmarks.bookmarks import Bookmarks
from bowerbird.library.bulk.requests import bulk_requests
from bowerbird.library.labels.labels import Labels
from bowerbird.library.vectors.semantic_search import SemanticSearch
from bowerbird.library.views.views import Views
from bowerbird.openapi.sandbox_routes import ROUTES, moved
from bowerbird.requests import decoding
from bowerbird.rest import bookmarks as bookmark_routes
from bowerbird.rest import exports as export_routes
from bowerbird.rest import labels as label_routes
from bowerbird.rest import views as view_routes
from bowerbird.rest.bulk import Changing
from bowerbird.sandbox.exports import SandboxExports
from bowerbird.sandbox.fixtures import Fixtures
from bowerbird.sandbox.meaning import SandboxMeaning
from bowerbird.settings import Settings
from bowerbird.wire import bodies
from bowerbird.wire.idempotency import Idempotency
from bowerbird.wire.responses import envelope
from bowerbird.wire.responses.answer_cache import AnswerCache
from bowerbird.wire.responses.export_response import ExportAddresses
from bowerbird.wire.responses.replies import Reply
from bowerbird.wire.routes import ApiRoute, Call
from bowerbird.wire.writes import Writes

_CACHE_BYTES: Final = 4 * 1024 * 1024
MAX_TOUCHED: Final = 1_000
MAX_ANSWER_BYTES: Final = 2 * 1024 * 1024


def routes(fixtures: Fixtures, clock: Clock, settings: Settings) -> list[ApiRoute]:
    database = fixtures.database
    answers = AnswerCache(_CACHE_BYTES, finish=envelope.marked)
    writes = Writes(Idempotency(database, clock), settings.upgrade_url)
    bookmarks = Bookmarks(database, SandboxMeaning(database), clock)
    labels = Labels(database, clock, is_sandbox=True)
    views = Views(database, bookmarks, clock)
    bulk = bulk_requests(database, clock, views, SemanticSearch(database), lambda: None)
    exports = SandboxExports(fixtures, clock)
    addresses = ExportAddresses(settings.api_origin, moved("/v1/exports"))
    # The answer cache marks these before it stores them.
    marked = [
        *bookmark_routes.routes(bookmarks, answers),
        *label_routes.routes(labels, answers),
        *view_routes.routes(views, answers),
    ]
    unmarked = [
        *label_routes.write_routes(labels, writes, Changing(bulk, writes, lambda: None)),
        *export_routes.routes(exports, addresses),
        *export_routes.write_routes(exports, addresses, writes),
    ]
    table = [*marked, *map(_marking, unmarked)]
    known = {(endpoint.method, endpoint.path): endpoint for endpoint in table}
    return [
        msgspec.structs.replace(known[method, path], path=moved(path)) for method, path in ROUTES
    ]


def _marking(endpoint: ApiRoute) -> ApiRoute:
    async def handle(call: Call) -> Reply:
        # The sandbox stores nothing, so there is no answer to replay.
        await bodies.off_loop(
            len(call.body),
            call.account.account_id,
            lambda: _check_cost(call),
            is_continuing=True,
        )
        reply = await endpoint.handle(msgspec.structs.replace(call, idempotency_key=None))
        if reply.stream is not None:
            return reply
        if len(reply.body) > MAX_ANSWER_BYTES:
            raise errors.invalid(
                "operations", "would get an answer above the sandbox's limit of 2 MiB"
            )
        return msgspec.structs.replace(reply, body=envelope.marked(reply.body))

    return msgspec.structs.replace(endpoint, handle=handle)


def _check_cost(call: Call) -> None:
    """Anyone may call the sandbox, so its limit for a batch is lower than the API's."""
    # The handler refuses any other body.
    sent = (decoding.raw_fields(call.body) or {}).get("operations")
    operations = None if sent is None else decoding.parse(bytes(sent))
    touched = sum(map(_touched, operations)) if isinstance(operations, list) else 0
    if touched > MAX_TOUCHED:
        raise errors.invalid(
            "operations",
            f"change {touched:,} posts in total; the sandbox allows at most {MAX_TOUCHED:,}",
        )


def _touched(operation: Any) -> int:
    ids = operation.get("tweet_ids") if isinstance(operation, dict) else None
    return len(ids) if isinstance(ids, list) else 0
