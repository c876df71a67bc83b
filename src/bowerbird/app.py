"""Puts the parts together: the only module that knows all of them."""

from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send

from bowerbird.clock import Clock
from bowerbird.errors import Refusal
from bowerbird.library.account_state import AccountState
from bowerbird.library.bookmarks import Bookmarks
from bowerbird.library.calls import CallCounter
from bowerbird.library.labels import Labels
from bowerbird.library.marking import Marking
from bowerbird.library.meaning import Meaning
from bowerbird.library.sweeping import Sweeping
from bowerbird.library.trash import Trash
from bowerbird.library.vector_builds import VectorBuilds
from bowerbird.library.vector_sweeps import VectorSweeps
from bowerbird.library.views import Views
from bowerbird.rest import account as account_endpoints
from bowerbird.rest import bookmarks as bookmark_endpoints
from bowerbird.rest import labels as label_endpoints
from bowerbird.rest import similar as similar_endpoints
from bowerbird.rest import views as view_endpoints
from bowerbird.search.models import Models
from bowerbird.settings import Settings
from bowerbird.storage.accounts import AccountStore
from bowerbird.storage.database import Database
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
    models: Models
    builds: VectorBuilds
    vector_sweeps: VectorSweeps


def build(
    settings: Settings, database: Database, clock: Clock, models: Models | None = None
) -> App:
    """`models` are shared where several services run in one process."""
    accounts = AccountStore(database)
    calls = CallCounter(accounts, clock, settings.free_calls_per_month)
    measures = Measures()
    models = models or Models(settings)
    builds = VectorBuilds(database, models, clock)
    vector_sweeps = VectorSweeps(database, models, clock)
    _follow(measures, builds, vector_sweeps)
    meaning = Meaning(database, models, settings.vector_cache_mb * 1024 * 1024)
    answers = AnswerCache(settings.answer_cache_mb * 1024 * 1024)
    state = AccountState(calls, meaning, clock)
    api = Surface(
        [
            *account_endpoints.endpoints(state, answers),
            *_endpoints(settings, database, clock, answers, Bookmarks(database, meaning)),
        ],
        authenticate=Authenticator(accounts, clock, settings.site_origin),
        calls=calls,
        measures=measures,
        upgrade_url=settings.upgrade_url,
    )
    return App(
        _dispatch(api, _health(database)),
        calls,
        measures,
        Sweeping(database, clock),
        models,
        builds,
        vector_sweeps,
    )


def _follow(measures: Measures, builds: VectorBuilds, sweeps: VectorSweeps) -> None:
    measures.follow(
        "bowerbird_posts_pending_embedding",
        "Posts of paid accounts without a vector, at the last look.",
        lambda: sweeps.pending,
        is_counter=False,
    )
    measures.follow("bowerbird_posts_embedded", "Posts embedded.", lambda: builds.embedded)
    measures.follow(
        "bowerbird_embedding_seconds", "Time spent embedding posts.", lambda: builds.seconds
    )


def _endpoints(
    settings: Settings,
    database: Database,
    clock: Clock,
    answers: AnswerCache,
    bookmarks: Bookmarks,
) -> list[Endpoint]:
    writes = Writes(database, clock, settings.upgrade_url)
    labels = Labels(database, clock)
    views = Views(database, bookmarks, clock)
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
