"""Connects the handlers of /ingest/v1 with the library."""

from collections.abc import Callable

from bowerbird.assembly import Services
from bowerbird.ingest import router
from bowerbird.ingest.files import FileHandlers
from bowerbird.ingest.router import DeviceAuthenticator
from bowerbird.ingest.sending import Sending
from bowerbird.library.ingest.events import IngestEvents
from bowerbird.library.ingest.pages import IngestPages
from bowerbird.library.ingest.runs import IngestRuns
from bowerbird.wire.metrics import RequestMetrics
from bowerbird.wire.pipeline import Authenticate, Pipeline


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
        labels=services.labels.listed,
        saving=services.saving,
        idempotency=services.idempotency,
        rates=rates,
        clock=clock,
        upgrade_url=settings.upgrade_url,
    )
    of_files = FileHandlers(
        services.file_jobs, services.uploads, rates=rates, api_origin=settings.api_origin
    )
    return router.serve(
        [*sending.routes(), *of_files.routes()],
        document,
        authenticate=DeviceAuthenticator(services.devices, by_key, settings.site_origin),
        metrics=metrics,
        upgrade_url=settings.upgrade_url,
    )
