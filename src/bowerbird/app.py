"""Builds the service from its parts. Only this module imports all of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from starlette.types import ASGIApp

from bowerbird.assembly import Services
from bowerbird.clock import Clock
from bowerbird.http1.bounds import HEALTH_PATHS
from bowerbird.ingest.operations import PREFIX as INGEST
from bowerbird.ingest.router import ingest
from bowerbird.jobs.assembly import build_searching, build_worker, show_embedding
from bowerbird.jobs.worker import JobWatch, Worker
from bowerbird.library.access.call_allowance import CallCounter
from bowerbird.library.accounts.tokens import KeyUse, Uses, VersionUse
from bowerbird.library.ingest.files import FileJobs
from bowerbird.library.sign_in.mailed_links import MailedLinks
from bowerbird.library.upkeep.sweeping import Sweeping
from bowerbird.openapi import ingest_specification, sandbox_routes, specification
from bowerbird.openapi.operations import TAGS
from bowerbird.rest import routes
from bowerbird.rest.serving import Rest
from bowerbird.sandbox import router as sandbox
from bowerbird.search.meaning.models import Models
from bowerbird.settings import Settings
from bowerbird.storage.accounts.accounts import AccountStore
from bowerbird.storage.accounts.credentials import KeyStore, VersionUseStore
from bowerbird.storage.database import Database
from bowerbird.storage.files import Files
from bowerbird.toolserver.assembly import tool_server
from bowerbird.toolserver.protocol.http_endpoint import ToolServer
from bowerbird.web import unsubscribing
from bowerbird.web.account import connect
from bowerbird.web.assembly import visits
from bowerbird.web.sharing import surface as sharing
from bowerbird.web.site import site
from bowerbird.wire import deprecation, pipeline
from bowerbird.wire.auth import Authenticator, ClientAddresses
from bowerbird.wire.deprecation import DEPRECATIONS, Deprecation
from bowerbird.wire.metrics import RequestMetrics
from bowerbird.wire.responses import documents
from bowerbird.wire.responses.answer_cache import AnswerCache
from bowerbird.wire.responses.envelope import SANDBOX
from bowerbird.wire.router import api

if TYPE_CHECKING:
    from bowerbird.telemetry.traces import Traces

VERSION: Final = "v1"


@dataclass(frozen=True, slots=True)
class App:
    """The ASGI application, and the background work that the server runs with it."""

    asgi: ASGIApp
    # Method and path of each operation under /v1.
    routes: Sequence[tuple[str, str]]
    calls: CallCounter
    metrics: RequestMetrics
    sweeping: Sweeping
    uses: VersionUse
    session_uses: Uses[tuple[int, str]]
    key_uses: KeyUse
    worker: Worker
    watch: JobWatch
    models: Models
    file_imports: FileJobs
    mailed_links: MailedLinks
    tools: ToolServer


def build(
    settings: Settings,
    database: Database,
    clock: Clock,
    models: Models | None = None,
    *,
    deprecations: Sequence[Deprecation] = DEPRECATIONS,
    job_database: Database | None = None,
    traces: "Traces | None" = None,
) -> App:
    """`models` may be shared by several services in one process.

    Jobs use `job_database` if it is given: the same library, with longer time limits. If `traces`
    are given, they record what the parts do.
    """
    if traces is not None:
        traces.start()
    metrics = RequestMetrics()
    uses = VersionUse(VersionUseStore(database), clock)
    files = Files(settings)
    searching = build_searching(settings, database, clock, models)
    for_jobs = searching if job_database is None else searching.on(job_database, clock)
    show_embedding(metrics, for_jobs.jobs)
    worker = build_worker(settings, job_database or database, files, clock, for_jobs, traces=traces)
    services = Services(
        settings,
        database,
        clock,
        files=files,
        models=searching.models,
        meaning=searching.meaning,
        wake_worker=worker.wake,
    )
    calls, key_uses = services.calls, KeyUse(KeyStore(database), clock)
    authenticate = Authenticator(
        AccountStore(database), clock, settings.site_origin, key_uses.note_call
    )
    answers = AnswerCache(settings.answer_cache_mb * 1024 * 1024)
    table = routes.routes(Rest(services, answers))
    record_use = partial(uses.note_call, version=VERSION)
    paths = [(route.method, route.path) for route in table]
    deprecated = deprecation.headers_by_route(deprecations, paths, settings.site_origin)
    rest = api(
        table,
        authenticate=authenticate,
        calls=calls,
        metrics=metrics,
        upgrade_url=settings.upgrade_url,
        deprecations=deprecated,
        record_use=record_use,
    )
    tools = tool_server(
        services,
        authenticate=authenticate,
        metrics=metrics,
        record_use=record_use,
        traces=traces,
    )
    has_sandbox = settings.sandbox == "on"
    addresses = ClientAddresses(settings.trusted_proxies)
    pages = site(
        settings,
        lambda: specification.document(
            settings.api_origin,
            site_origin=settings.site_origin,
            deprecations=deprecations,
            has_sandbox=has_sandbox,
        ),
        sandbox_routes.ROUTES if has_sandbox else (),
        clock,
        metrics,
        sections=[tag for tag in TAGS if tag != sandbox_routes.TAG],
        visits=visits(services, addresses, uses=uses, deprecations=deprecations),
    )
    sending = ingest(
        services,
        document=partial(ingest_specification.encoded, settings.api_origin, settings.site_origin),
        by_key=authenticate,
        metrics=metrics,
    )
    single: dict[str, ASGIApp] = {
        **dict.fromkeys(HEALTH_PATHS, routes.health(database, HEALTH_PATHS)),
        **dict.fromkeys(tools.paths, tools),
        documents.card_path(settings): pages,
        connect.REDEEM: connect.surface(settings, services.connect_codes, addresses, metrics),
    }
    operations = rest.routes
    surfaces: dict[str, ASGIApp] = {
        **({} if tools.path == "/" else {tools.path: tools}),
        "/v1": rest,
        INGEST: sending,
        sharing.PREFIX: sharing.surface(services, answers, metrics),
        unsubscribing.PREFIX: unsubscribing.pages(
            services.digests, metrics, is_secure=settings.site_origin.startswith("https://")
        ),
    }
    if has_sandbox:
        twins = sandbox_routes.notices(deprecated)
        keyless = sandbox.build(settings, clock, calls, metrics, deprecations=twins)
        operations = [*operations, *keyless.routes]
        surfaces = {SANDBOX: keyless, **surfaces}
    metrics.registry.register(worker.metrics)
    asgi = pipeline.by_path(single, surfaces, pages, addresses)
    return App(
        asgi=asgi
        if traces is None
        else traces.requests(asgi, untraced=HEALTH_PATHS, is_trusted=addresses.is_trusted_proxy),
        routes=operations,
        calls=calls,
        metrics=metrics,
        sweeping=Sweeping(database, clock),
        uses=uses,
        session_uses=services.sessions.uses,
        key_uses=key_uses,
        worker=worker,
        watch=JobWatch(database, clock, metrics),
        models=searching.models,
        file_imports=services.file_jobs,
        mailed_links=services.mailed_links,
        tools=tools,
    )
