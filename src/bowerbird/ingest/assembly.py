"""Connects the handlers of /ingest/v1 with the library."""

from collections.abc import Callable

from bowerbird.assembly import Services
from bowerbird.ingest import router
from bowerbird.ingest.files import FileHandlers
from bowerbird.ingest.router import DeviceAuthenticator
from bowerbird.ingest.sending import Choosing, Sending
from bowerbird.library.ingest.events import IngestEvents
from bowerbird.library.ingest.pages import IngestPages
from bowerbird.library.ingest.runs import IngestRuns
from bowerbird.wire.metrics import RequestMetrics
from bowerbird.wire.pipeline import Authenticate, Pipeline
from bowerbird.wire.writes import Writes


def ingest(
    services: Services,
    *,
    document: Callable[[], bytes],
    by_key: Authenticate,
    metrics: RequestMetrics,
) -> Pipeline:
    database, clock, settings = services.database, services.clock, services.settings
    runs, rates = IngestRuns(database, clock), services.rates
    sending = Sending(
        runs,
        IngestPages(database, clock, runs),
        IngestEvents(database, clock),
        services.idempotency,
        rates=rates,
        clock=clock,
        upgrade_url=settings.upgrade_url,
    )
    choosing = Choosing(
        services.labels.listed,
        services.saving,
        Writes(services.idempotency, settings.upgrade_url),
        rates=rates,
        runs=runs,
    )
    of_files = FileHandlers(
        services.file_jobs, services.uploads, rates=rates, api_origin=settings.api_origin
    )
    return router.serve(
        [*sending.routes(), *choosing.routes(), *of_files.routes()],
        document,
        authenticate=DeviceAuthenticator(services.devices, by_key, settings.site_origin),
        metrics=metrics,
        upgrade_url=settings.upgrade_url,
    )
