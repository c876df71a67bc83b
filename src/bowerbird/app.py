"""Puts the parts together: the only module that knows all of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send

from bowerbird.clock import Clock
from bowerbird.errors import Refusal
from bowerbird.jobs.exports import ExportJobs
from bowerbird.jobs.watching import JobWatch
from bowerbird.jobs.worker import Worker
from bowerbird.library.bookmarks import Bookmarks
from bowerbird.library.calls import CallCounter
from bowerbird.library.exports import Exports
from bowerbird.library.labels import Labels
from bowerbird.library.marking import Marking
from bowerbird.library.sweeping import Sweeping
from bowerbird.library.trash import Trash
from bowerbird.library.views import Views
from bowerbird.rest import bookmarks as bookmark_endpoints
from bowerbird.rest import exports as export_endpoints
from bowerbird.rest import labels as label_endpoints
from bowerbird.rest import openapi, sandboxed
from bowerbird.rest import views as view_endpoints
from bowerbird.sandbox import surface as sandbox
from bowerbird.settings import Settings
from bowerbird.storage.accounts import AccountStore
from bowerbird.storage.database import Database
from bowerbird.storage.files import Files
from bowerbird.toolserver.serving import ToolParts, tool_server
from bowerbird.web.site import site
from bowerbird.wire.answers import AnswerCache
from bowerbird.wire.auth import Authenticator
from bowerbird.wire.calls import Endpoint
from bowerbird.wire.measures import Measures
from bowerbird.wire.surface import Surface
from bowerbird.wire.writes import Writes

_HEALTH: Final = ("/healthz", "/livez", "/readyz")


@dataclass(frozen=True, slots=True)
class App:
    """The service as an ASGI application, and what its server runs beside it."""

    asgi: ASGIApp
    calls: CallCounter
    measures: Measures
    sweeping: Sweeping
    worker: Worker
    watch: JobWatch


def build(settings: Settings, database: Database, clock: Clock) -> App:
    accounts = AccountStore(database)
    calls = CallCounter(accounts, clock, settings.free_calls_per_month)
    measures = Measures()
    files = Files(settings)
    worker = build_worker(settings, database, files, clock)
    authenticate = Authenticator(accounts, clock, settings.site_origin)
    api = Surface(
        _endpoints(settings, database, clock, files, worker),
        authenticate=authenticate,
        calls=calls,
        measures=measures,
        upgrade_url=settings.upgrade_url,
    )
    pages = site(
        settings, lambda: openapi.document(settings.api_origin), sandboxed.ROUTES, clock, measures
    )
    trial = sandbox.build(settings, clock, calls, measures) if settings.sandbox == "on" else api
    tools = tool_server(
        settings,
        _tool_parts(settings, database, clock, files, worker),
        authenticate=authenticate,
        calls=calls,
        measures=measures,
    )
    single: dict[str, ASGIApp] = {**dict.fromkeys(_HEALTH, _health(database)), tools.path: tools}
    return App(
        asgi=_dispatch(single, {sandboxed.PREFIX: trial, "/v1": api}, pages),
        calls=calls,
        measures=measures,
        sweeping=Sweeping(database, clock),
        worker=worker,
        watch=JobWatch(database, clock, measures),
    )


def build_worker(settings: Settings, database: Database, files: Files, clock: Clock) -> Worker:
    """What does the jobs: within the server on SQLite, beside it on PostgreSQL."""
    exports = ExportJobs(database, files, clock, settings.data_dir)
    return Worker(database, [exports.kind], exports.recurring, clock)


def _endpoints(
    settings: Settings, database: Database, clock: Clock, files: Files, worker: Worker
) -> list[Endpoint]:
    answers = AnswerCache(settings.answer_cache_mb * 1024 * 1024)
    writes = Writes(database, clock, settings.upgrade_url)
    bookmarks = Bookmarks(database)
    labels = Labels(database, clock)
    views = Views(database, bookmarks, clock)
    exports = Exports(database, files, clock, settings.api_origin)
    return [
        *bookmark_endpoints.endpoints(bookmarks, answers),
        *bookmark_endpoints.write_endpoints(
            Marking(database, clock), Trash(database, clock), writes
        ),
        *label_endpoints.endpoints(labels, answers),
        *label_endpoints.write_endpoints(labels, writes),
        *view_endpoints.endpoints(views, answers),
        *view_endpoints.write_endpoints(views, writes),
        *export_endpoints.endpoints(exports),
        *export_endpoints.write_endpoints(exports, writes, worker.wake),
    ]


def _tool_parts(
    settings: Settings, database: Database, clock: Clock, files: Files, worker: Worker
) -> ToolParts:
    bookmarks = Bookmarks(database)
    return ToolParts(
        bookmarks=bookmarks,
        marking=Marking(database, clock),
        labels=Labels(database, clock),
        views=Views(database, bookmarks, clock),
        exports=Exports(database, files, clock, settings.api_origin),
        writes=Writes(database, clock, settings.upgrade_url),
        wake_worker=worker.wake,
    )


def _dispatch(
    single: Mapping[str, ASGIApp], surfaces: Mapping[str, ASGIApp], pages: ASGIApp
) -> ASGIApp:
    """A single path comes first. A surface has all that lies under its prefix, inner ones first."""

    async def dispatch(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        path: str = scope["path"]
        if path in single:
            await single[path](scope, receive, send)
            return
        for prefix, surface in surfaces.items():
            if path.startswith(prefix) and path[len(prefix) :][:1] in ("", "/"):
                await surface(scope, receive, send)
                return
        await pages(scope, receive, send)

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
        [Route(path, ready if path == "/readyz" else alive) for path in _HEALTH],
        redirect_slashes=False,
    )
