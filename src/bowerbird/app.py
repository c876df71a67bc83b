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
from bowerbird.rest import bookmarks as bookmark_endpoints
from bowerbird.settings import Settings
from bowerbird.storage.accounts import AccountStore
from bowerbird.storage.database import Database
from bowerbird.wire.answers import AnswerCache
from bowerbird.wire.auth import Authenticator
from bowerbird.wire.measures import Measures
from bowerbird.wire.surface import Surface


@dataclass(frozen=True, slots=True)
class App:
    """The service as an ASGI application, and what its server runs beside it."""

    asgi: ASGIApp
    calls: CallCounter
    measures: Measures


def build(settings: Settings, database: Database, clock: Clock) -> App:
    accounts = AccountStore(database)
    calls = CallCounter(accounts, clock, settings.free_calls_per_month)
    measures = Measures()
    api = Surface(
        bookmark_endpoints.endpoints(
            Bookmarks(database), AnswerCache(settings.answer_cache_mb * 1024 * 1024)
        ),
        authenticate=Authenticator(accounts, clock, settings.site_origin),
        calls=calls,
        measures=measures,
        upgrade_url=settings.upgrade_url,
    )
    return App(_dispatch(api, _health(database)), calls, measures)


def _dispatch(api: ASGIApp, others: ASGIApp) -> ASGIApp:
    async def dispatch(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        path = scope["path"]
        if path.startswith("/v1/") or path == "/v1":
            await api(scope, receive, send)
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
