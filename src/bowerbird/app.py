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
from bowerbird.library.digests import Digests
from bowerbird.library.labels import Labels
from bowerbird.library.marking import Marking
from bowerbird.library.sweeping import Sweeping
from bowerbird.library.trash import Trash
from bowerbird.library.views import Views
from bowerbird.mail import Mailer
from bowerbird.rest import bookmarks as bookmark_endpoints
from bowerbird.rest import digests as digest_endpoints
from bowerbird.rest import labels as label_endpoints
from bowerbird.rest import views as view_endpoints
from bowerbird.settings import Settings
from bowerbird.storage.accounts import AccountStore
from bowerbird.storage.database import Database
from bowerbird.web import unsubscribing
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
    digests = Digests(database, clock, can_mail=Mailer(settings).is_ready)
    api = Surface(
        _endpoints(settings, database, clock, digests),
        authenticate=Authenticator(accounts, clock, settings.site_origin),
        calls=calls,
        measures=measures,
        upgrade_url=settings.upgrade_url,
    )
    asgi = _dispatch(api, unsubscribing.pages(digests), _health(database))
    return App(asgi, calls, measures, Sweeping(database, clock))


def _endpoints(
    settings: Settings, database: Database, clock: Clock, digests: Digests
) -> list[Endpoint]:
    answers = AnswerCache(settings.answer_cache_mb * 1024 * 1024)
    writes = Writes(database, clock, settings.upgrade_url)
    bookmarks = Bookmarks(database)
    labels = Labels(database, clock)
    views = Views(database, bookmarks, clock)
    return [
        *bookmark_endpoints.endpoints(bookmarks, answers),
        *bookmark_endpoints.write_endpoints(
            Marking(database, clock), Trash(database, clock), writes
        ),
        *label_endpoints.endpoints(labels, answers),
        *label_endpoints.write_endpoints(labels, writes),
        *view_endpoints.endpoints(views, answers),
        *view_endpoints.write_endpoints(views, writes),
        *digest_endpoints.endpoints(digests, answers),
        *digest_endpoints.write_endpoints(digests, writes),
    ]


def _dispatch(api: ASGIApp, unsubscribe: ASGIApp, others: ASGIApp) -> ASGIApp:
    async def dispatch(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        path = scope["path"]
        if path.startswith("/v1/") or path == "/v1":
            await api(scope, receive, send)
        elif path.startswith(unsubscribing.FOLDER):
            await unsubscribe(scope, receive, send)
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
