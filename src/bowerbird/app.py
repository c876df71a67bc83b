"""Puts the parts together: the only module that knows all of them."""

from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send

from bowerbird.clock import Clock
from bowerbird.errors import Refusal
from bowerbird.library.bookmarks import Bookmarks
from bowerbird.library.calls import CallCounter
from bowerbird.library.labels import Labels
from bowerbird.library.marking import Marking
from bowerbird.library.sweeping import Sweeping
from bowerbird.library.trash import Trash
from bowerbird.library.views import Views
from bowerbird.rest import bookmarks as bookmark_endpoints
from bowerbird.rest import labels as label_endpoints
from bowerbird.rest import views as view_endpoints
from bowerbird.settings import Settings
from bowerbird.storage.accounts import AccountStore
from bowerbird.storage.database import Database
from bowerbird.toolserver.endpoint import ToolServer
from bowerbird.toolserver.serving import Parts, tool_server
from bowerbird.wire.answers import AnswerCache
from bowerbird.wire.auth import Authenticator
from bowerbird.wire.calls import Endpoint
from bowerbird.wire.measures import Measures
from bowerbird.wire.surface import Surface
from bowerbird.wire.writes import Writes


@dataclass(frozen=True, slots=True)
class App:
    """The service as an ASGI application, and what its server runs beside it."""

    asgi: ASGIApp
    calls: CallCounter
    measures: Measures
    sweeping: Sweeping


def build(settings: Settings, database: Database, clock: Clock) -> App:
    accounts = AccountStore(database)
    calls = CallCounter(accounts, clock, settings.free_calls_per_month)
    measures = Measures()
    authenticate = Authenticator(accounts, clock, settings.site_origin)
    parts = _parts(settings, database, clock)
    api = Surface(
        _endpoints(settings, parts, Trash(database, clock)),
        authenticate=authenticate,
        calls=calls,
        measures=measures,
        upgrade_url=settings.upgrade_url,
    )
    tools = tool_server(settings, parts, authenticate=authenticate, calls=calls, measures=measures)
    asgi = _dispatch(api, tools, _health(database))
    return App(asgi, calls, measures, Sweeping(database, clock))


def _parts(settings: Settings, database: Database, clock: Clock) -> Parts:
    """What of the library more than one surface calls."""
    bookmarks = Bookmarks(database)
    return Parts(
        bookmarks,
        Marking(database, clock),
        Labels(database, clock),
        Views(database, bookmarks, clock),
        Writes(database, clock, settings.upgrade_url),
    )


def _endpoints(settings: Settings, parts: Parts, trash: Trash) -> list[Endpoint]:
    answers = AnswerCache(settings.answer_cache_mb * 1024 * 1024)
    writes = parts.writes
    return [
        *bookmark_endpoints.endpoints(parts.bookmarks, answers),
        *bookmark_endpoints.write_endpoints(parts.marking, trash, writes),
        *label_endpoints.endpoints(parts.labels, answers),
        *label_endpoints.write_endpoints(parts.labels, writes),
        *view_endpoints.endpoints(parts.views, answers),
        *view_endpoints.write_endpoints(parts.views, writes),
    ]


def _dispatch(api: ASGIApp, tools: ToolServer, others: ASGIApp) -> ASGIApp:
    async def dispatch(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        path = scope["path"]
        if path.startswith("/v1/") or path == "/v1":
            await api(scope, receive, send)
        elif path == tools.path:
            await tools(scope, receive, send)
        else:
            await others(scope, receive, send)

    return dispatch


def _health(database: Database) -> Router:
    async def alive(_: Request) -> Response:
        return PlainTextResponse("ok\n")

    async def ready(_: Request) -> Response:
        try:
            await database.require_ready()
        except Refusal as refused:
            return PlainTextResponse(f"{refused}\n", 503, headers=refused.headers)
        return PlainTextResponse("ready\n")

    return Router(
        [Route("/healthz", alive), Route("/livez", alive), Route("/readyz", ready)],
        redirect_slashes=False,
    )
