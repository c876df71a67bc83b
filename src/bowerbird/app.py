"""Builds the service from its parts. Only this module imports all of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from starlette.types import ASGIApp

from bowerbird.clock import Clock
from bowerbird.http1.bounds import HEALTH_PATHS
from bowerbird.ingest.assembly import ingest
from bowerbird.ingest.operations import PREFIX as INGEST
from bowerbird.jobs.assembly import build_searching, build_worker, show_embedding
from bowerbird.jobs.watching import JobWatch
from bowerbird.jobs.worker import Worker
from bowerbird.library.access.call_allowance import CallCounter
from bowerbird.library.accounts.account_state import AccountState
from bowerbird.library.accounts.accounts import Accounts
from bowerbird.library.accounts.uses import KeyUse, Uses, VersionUse
from bowerbird.library.bookmarks.bookmarks import Bookmarks
from bowerbird.library.bookmarks.flags import Flags
from bowerbird.library.bookmarks.highlights import Highlights
from bowerbird.library.bookmarks.trash import Trash
from bowerbird.library.bulk.requests import bulk_requests
from bowerbird.library.digests.digests import Digests
from bowerbird.library.exports.exports import Exports
from bowerbird.library.imports.runs import ImportRuns
from bowerbird.library.imports.saving import Saving
from bowerbird.library.ingest.files import CheckedFiles, CheckedImports, FileJobs
from bowerbird.library.ingest.kept_pages import KeptPages
from bowerbird.library.ingest.rates import Rates
from bowerbird.library.labels.labels import Labels
from bowerbird.library.labels.post_changes import PostChanges
from bowerbird.library.links.previews import Previews
from bowerbird.library.links.reading import LinkReading
from bowerbird.library.sign_in.mailed_links import MailedLinks
from bowerbird.library.sign_in.one_time_links import OneTimeLinks
from bowerbird.library.sign_in.sessions import Sessions
from bowerbird.library.statistics.facets import FacetCounts
from bowerbird.library.upkeep.sweeping import Sweeping
from bowerbird.library.vectors.semantic_search import SemanticSearch
from bowerbird.library.views.views import Views
from bowerbird.mail import Mailer
from bowerbird.openapi import ingest_specification, sandbox_routes, specification
from bowerbird.rest import account as account_routes
from bowerbird.rest import bookmarks as bookmark_routes
from bowerbird.rest import bulk as bulk_routes
from bowerbird.rest import digests as digest_routes
from bowerbird.rest import exports as export_routes
from bowerbird.rest import facets as facet_routes
from bowerbird.rest import health
from bowerbird.rest import highlights as highlight_routes
from bowerbird.rest import imports as import_routes
from bowerbird.rest import labels as label_routes
from bowerbird.rest import saving as saving_routes
from bowerbird.rest import views as view_routes
from bowerbird.sandbox import router as sandbox
from bowerbird.search.meaning.models import Models
from bowerbird.settings import Settings
from bowerbird.storage.accounts.accounts import AccountStore
from bowerbird.storage.accounts.keys import KeyStore
from bowerbird.storage.accounts.sunset_notices import VersionUseStore
from bowerbird.storage.database import Database
from bowerbird.storage.files.files import Files
from bowerbird.storage.files.uploads import UploadFolders
from bowerbird.toolserver.assembly import ToolParts, tool_server
from bowerbird.toolserver.protocol.http_endpoint import ToolServer
from bowerbird.web import unsubscribing
from bowerbird.web.account.keys import EndingVersions
from bowerbird.web.assembly import Doors, LibraryParts, Transfers, visits
from bowerbird.web.connect import redeeming
from bowerbird.web.exports import ExportParts
from bowerbird.web.imports.pages import ImportParts
from bowerbird.web.media.pages import media_parts
from bowerbird.web.site import site
from bowerbird.wire import deprecation, pipeline
from bowerbird.wire.auth import Authenticator
from bowerbird.wire.client_addresses import ClientAddresses
from bowerbird.wire.deprecation import DEPRECATIONS, Deprecation
from bowerbird.wire.idempotency import Idempotency
from bowerbird.wire.metrics import RequestMetrics
from bowerbird.wire.responses import server_card
from bowerbird.wire.responses.answer_cache import AnswerCache
from bowerbird.wire.responses.export_response import ExportAddresses
from bowerbird.wire.responses.unrouted import SANDBOX
from bowerbird.wire.router import api
from bowerbird.wire.routes import ApiRoute
from bowerbird.wire.writes import Writes

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
        models = models or traces.models()
    accounts = AccountStore(database)
    calls = CallCounter(accounts, clock, settings.free_calls_per_month)
    metrics = RequestMetrics()
    uses = VersionUse(VersionUseStore(database), clock)
    files = Files(settings)
    searching = build_searching(settings, database, clock, models)
    for_jobs = searching if job_database is None else searching.on(job_database, clock)
    show_embedding(metrics, for_jobs.jobs)
    worker = build_worker(settings, job_database or database, files, clock, for_jobs, traces=traces)
    state = AccountState(calls, searching.meaning, clock)
    parts = _parts(
        settings,
        database,
        clock,
        exports=Exports(database, files, clock, searching.meaning),
        state=state,
        meaning=searching.meaning,
        wake_worker=worker.wake,
    )
    key_uses = KeyUse(KeyStore(database), clock)
    authenticate = Authenticator(accounts, clock, settings.site_origin, key_uses.note_call)
    trash = Trash(database, clock)
    # One for pages and programs: it counts the previews of an account.
    links = LinkReading(database, clock, settings)
    table = _routes(
        parts,
        trash,
        AnswerCache(settings.answer_cache_mb * 1024 * 1024),
        settings.upgrade_url,
        Previews(links),
    )
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
        settings,
        parts,
        authenticate=authenticate,
        calls=calls,
        metrics=metrics,
        record_use=record_use,
        traces=traces,
    )
    has_sandbox = settings.sandbox == "on"
    file_imports, rates = FileJobs(database, clock), Rates(clock)
    sessions = Sessions(database, clock)
    people = Accounts(database, clock, settings.default_plan)
    one_time_links = OneTimeLinks(database, people, sessions, clock)
    mailed_links = MailedLinks(database, one_time_links, people, clock, settings)
    doors = Doors(people, sessions, one_time_links, mailed_links)
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
        visits=visits(
            settings,
            database,
            clock,
            doors,
            addresses,
            calls=calls,
            library=LibraryParts(
                parts.bookmarks,
                parts.views,
                parts.labels,
                PostChanges(database, parts.flags, trash, parts.labels),
                parts.digests,
                parts.bulk,
                media_parts(database, files, clock, settings, worker.wake),
                searching.models,
                parts.facets,
            ),
            ending=EndingVersions(uses, deprecations, settings.site_origin),
            deprecations=deprecations,
            transfers=Transfers(
                _import_parts(
                    settings,
                    database,
                    clock,
                    files=files,
                    jobs=file_imports,
                    rates=rates,
                    links=links,
                ),
                ExportParts(database, parts.exports, parts.export_addresses, worker.wake),
                worker.wake,
            ),
        ),
    )
    sending = ingest(
        settings,
        database,
        clock,
        file_imports,
        rates=rates,
        document=partial(ingest_specification.encoded, settings.api_origin, settings.site_origin),
        by_key=authenticate,
        idempotency=parts.idempotency,
        metrics=metrics,
    )
    single: dict[str, ASGIApp] = {
        **dict.fromkeys(HEALTH_PATHS, health.router(database, HEALTH_PATHS)),
        **dict.fromkeys(tools.paths, tools),
        server_card.card_path(settings): pages,
        redeeming.PATH: redeeming.surface(settings, database, clock, addresses, metrics),
    }
    operations = rest.routes
    surfaces: dict[str, ASGIApp] = {
        **({} if tools.path == "/" else {tools.path: tools}),
        "/v1": rest,
        INGEST: sending,
        unsubscribing.PREFIX: unsubscribing.pages(
            parts.digests, metrics, is_secure=settings.site_origin.startswith("https://")
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
        session_uses=sessions.uses,
        key_uses=key_uses,
        worker=worker,
        watch=JobWatch(database, clock, metrics),
        models=searching.models,
        file_imports=file_imports,
        mailed_links=mailed_links,
        tools=tools,
    )


def _parts(
    settings: Settings,
    database: Database,
    clock: Clock,
    *,
    exports: Exports,
    state: AccountState,
    meaning: SemanticSearch,
    wake_worker: Callable[[], None],
) -> ToolParts:
    """The parts that REST and the tools share, including their caches."""
    bookmarks = Bookmarks(database, meaning, clock, fetches_posts=settings.fetch_posts == "on")
    views = Views(database, bookmarks, clock)
    return ToolParts(
        bookmarks=bookmarks,
        flags=Flags(database, clock),
        facets=FacetCounts(database, bookmarks, meaning),
        bulk=bulk_requests(database, clock, views, meaning, wake_worker),
        highlights=Highlights(database, clock),
        saving=Saving(database, clock),
        labels=Labels(database, clock),
        views=views,
        exports=exports,
        digests=Digests(database, clock, can_mail=Mailer(settings).is_ready),
        imports=ImportRuns(database, clock),
        state=state,
        idempotency=Idempotency(database, clock),
        export_addresses=ExportAddresses(settings.api_origin),
        wake_worker=wake_worker,
    )


def _import_parts(
    settings: Settings,
    database: Database,
    clock: Clock,
    *,
    files: Files,
    jobs: FileJobs,
    rates: Rates,
    links: LinkReading,
) -> ImportParts:
    checked = CheckedFiles(files, clock)
    return ImportParts(
        imports=CheckedImports(jobs, UploadFolders(settings.data_dir), checked, rates),
        jobs=jobs,
        files=checked,
        runs=ImportRuns(database, clock),
        saving=Saving(database, clock),
        kept=KeptPages(database, clock),
        links=links,
    )


def _routes(
    parts: ToolParts,
    trash: Trash,
    answers: AnswerCache,
    upgrade_url: str,
    previews: Previews,
) -> list[ApiRoute]:
    writes = Writes(parts.idempotency, upgrade_url)
    exports, addresses = parts.exports, parts.export_addresses
    changing = bulk_routes.Changing(parts.bulk, writes, parts.wake_worker)
    return [
        *account_routes.routes(parts.state, answers),
        *bulk_routes.routes(parts.bulk, writes, parts.wake_worker),
        *bookmark_routes.routes(parts.bookmarks, answers),
        *facet_routes.routes(parts.facets, parts.bookmarks, answers),
        *bookmark_routes.write_routes(parts.flags, trash, writes, changing),
        *highlight_routes.write_routes(parts.highlights, writes),
        *saving_routes.routes(parts.saving, previews, writes),
        *label_routes.routes(parts.labels, answers),
        *label_routes.write_routes(parts.labels, writes, changing),
        *view_routes.routes(parts.views, answers),
        *view_routes.write_routes(parts.views, writes),
        *digest_routes.routes(parts.digests, answers),
        *digest_routes.write_routes(parts.digests, writes),
        *export_routes.routes(exports, addresses),
        *export_routes.write_routes(exports, addresses, writes, parts.wake_worker),
        *import_routes.routes(parts.imports),
        *import_routes.write_routes(parts.imports, writes),
    ]
