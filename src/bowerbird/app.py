"""Puts the parts together: the only module that knows all of them."""

from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send

from bowerbird.clock import Clock
from bowerbird.errors import Refusal
from bowerbird.jobs.digests import DigestJobs
from bowerbird.jobs.exports import ExportJobs
from bowerbird.jobs.worker import Worker
from bowerbird.library.bookmarks import Bookmarks
from bowerbird.library.calls import CallCounter
from bowerbird.library.digests import Digests
from bowerbird.library.exports import Exports
from bowerbird.library.labels import Labels
from bowerbird.library.marking import Marking
from bowerbird.library.sweeping import Sweeping
from bowerbird.library.trash import Trash
from bowerbird.library.views import Views
from bowerbird.mail import Mailer
from bowerbird.rest import bookmarks as bookmark_endpoints
from bowerbird.rest import digests as digest_endpoints
from bowerbird.rest import exports as export_endpoints
from bowerbird.rest import labels as label_endpoints
from bowerbird.rest import views as view_endpoints
from bowerbird.settings import Settings
from bowerbird.storage.accounts import AccountStore
from bowerbird.storage.database import Database
from bowerbird.storage.files import Files
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
    worker: Worker


def build(settings: Settings, database: Database, clock: Clock) -> App:
    accounts = AccountStore(database)
    calls = CallCounter(accounts, clock, settings.free_calls_per_month)
    measures = Measures()
    files = Files(settings)
    worker = build_worker(settings, database, files, clock)
    api = Surface(
        _endpoints(settings, database, clock, files, worker),
        authenticate=Authenticator(accounts, clock, settings.site_origin),
        calls=calls,
        measures=measures,
        upgrade_url=settings.upgrade_url,
    )
    letters = unsubscribing.pages(_digests(settings, database, clock))
    asgi = _dispatch(api, letters, _health(database))
    return App(asgi, calls, measures, Sweeping(database, clock), worker)


def build_worker(settings: Settings, database: Database, files: Files, clock: Clock) -> Worker:
    """What does the jobs: within the server on SQLite, beside it on PostgreSQL."""
    exports = ExportJobs(database, files, clock, settings.data_dir)
    digests = DigestJobs(database, settings, clock)
    recurring = [*exports.recurring, *digests.recurring]
    return Worker(database, [exports.kind, digests.kind], recurring, clock)


def _digests(settings: Settings, database: Database, clock: Clock) -> Digests:
    return Digests(database, clock, can_mail=Mailer(settings).is_ready)


def _endpoints(
    settings: Settings, database: Database, clock: Clock, files: Files, worker: Worker
) -> list[Endpoint]:
    answers = AnswerCache(settings.answer_cache_mb * 1024 * 1024)
    writes = Writes(database, clock, settings.upgrade_url)
    bookmarks = Bookmarks(database)
    labels = Labels(database, clock)
    views = Views(database, bookmarks, clock)
    exports = Exports(database, files, clock, settings.api_origin)
    digests = _digests(settings, database, clock)
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
        *export_endpoints.endpoints(exports),
        *export_endpoints.write_endpoints(exports, writes, worker.wake),
    ]


def _dispatch(api: ASGIApp, letters: ASGIApp, others: ASGIApp) -> ASGIApp:
    async def dispatch(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        path = scope["path"]
        if path.startswith("/v1/") or path == "/v1":
            await api(scope, receive, send)
        elif path.startswith(unsubscribing.FOLDER):
            await letters(scope, receive, send)
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
