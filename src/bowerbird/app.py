"""Puts the parts together: the only module that knows all of them."""

from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send

from bowerbird.clock import Clock
from bowerbird.errors import Refusal
from bowerbird.jobs.embedding import EmbeddingJobs
from bowerbird.jobs.exports import ExportJobs
from bowerbird.jobs.worker import Worker
from bowerbird.library.account_state import AccountState
from bowerbird.library.bookmarks import Bookmarks
from bowerbird.library.calls import CallCounter
from bowerbird.library.exports import Exports
from bowerbird.library.labels import Labels
from bowerbird.library.marking import Marking
from bowerbird.library.meaning import Meaning
from bowerbird.library.sweeping import Sweeping
from bowerbird.library.trash import Trash
from bowerbird.library.views import Views
from bowerbird.rest import account as account_endpoints
from bowerbird.rest import bookmarks as bookmark_endpoints
from bowerbird.rest import exports as export_endpoints
from bowerbird.rest import labels as label_endpoints
from bowerbird.rest import similar as similar_endpoints
from bowerbird.rest import views as view_endpoints
from bowerbird.search.models import Models
from bowerbird.settings import Settings
from bowerbird.storage.accounts import AccountStore
from bowerbird.storage.database import Database
from bowerbird.storage.files import Files
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
    models: Models


def build(
    settings: Settings, database: Database, clock: Clock, models: Models | None = None
) -> App:
    """`models` are shared where several services run in one process."""
    accounts = AccountStore(database)
    calls = CallCounter(accounts, clock, settings.free_calls_per_month)
    measures = Measures()
    models = models or Models(settings)
    meaning = Meaning(database, models, settings.vector_cache_mb * 1024 * 1024)
    files = Files(settings)
    embedding = EmbeddingJobs(database, models, clock)
    _follow(measures, embedding)
    worker = build_worker(
        settings=settings,
        database=database,
        files=files,
        clock=clock,
        embedding=embedding,
        meaning=meaning,
    )
    answers = AnswerCache(settings.answer_cache_mb * 1024 * 1024)
    state = AccountState(calls, meaning, clock)
    api = Surface(
        [
            *account_endpoints.endpoints(state, answers),
            *_endpoints(
                settings=settings,
                database=database,
                clock=clock,
                files=files,
                worker=worker,
                answers=answers,
                meaning=meaning,
            ),
        ],
        authenticate=Authenticator(accounts, clock, settings.site_origin),
        calls=calls,
        measures=measures,
        upgrade_url=settings.upgrade_url,
    )
    return App(
        asgi=_dispatch(api, _health(database)),
        calls=calls,
        measures=measures,
        sweeping=Sweeping(database, clock),
        worker=worker,
        models=models,
    )


def build_worker(
    *,
    settings: Settings,
    database: Database,
    files: Files,
    clock: Clock,
    embedding: EmbeddingJobs,
    meaning: Meaning,
) -> Worker:
    """What does the jobs: within the server on SQLite, beside it on PostgreSQL."""
    exports = ExportJobs(database, files, clock, settings.data_dir, meaning)
    kinds = [exports.kind, embedding.kind]
    return Worker(database, kinds, [*exports.recurring, *embedding.recurring], clock)


def _follow(measures: Measures, embedding: EmbeddingJobs) -> None:
    measures.follow(
        "bowerbird_posts_pending_embedding",
        "Posts of paid accounts without a vector, at the last look.",
        lambda: embedding.pending,
        is_counter=False,
    )
    measures.follow("bowerbird_posts_embedded", "Posts embedded.", lambda: embedding.embedded)
    measures.follow(
        "bowerbird_embedding_seconds", "Time spent embedding posts.", lambda: embedding.seconds
    )


def _endpoints(
    *,
    settings: Settings,
    database: Database,
    clock: Clock,
    files: Files,
    worker: Worker,
    answers: AnswerCache,
    meaning: Meaning,
) -> list[Endpoint]:
    bookmarks = Bookmarks(database, meaning)
    writes = Writes(database, clock, settings.upgrade_url)
    labels = Labels(database, clock)
    views = Views(database, bookmarks, clock)
    exports = Exports(database, files, clock, settings.api_origin, meaning)
    return [
        *bookmark_endpoints.endpoints(bookmarks, answers),
        *bookmark_endpoints.write_endpoints(
            Marking(database, clock), Trash(database, clock), writes
        ),
        *similar_endpoints.endpoints(bookmarks, answers),
        *label_endpoints.endpoints(labels, answers),
        *label_endpoints.write_endpoints(labels, writes),
        *view_endpoints.endpoints(views, answers),
        *view_endpoints.write_endpoints(views, writes),
        *export_endpoints.endpoints(exports),
        *export_endpoints.write_endpoints(exports, writes, worker.wake),
    ]


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
