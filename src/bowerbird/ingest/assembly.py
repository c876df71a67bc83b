"""Connects the handlers of /ingest/v1 with the library."""

from collections.abc import Callable

from bowerbird.clock import Clock
from bowerbird.ingest import router
from bowerbird.ingest.files import FileHandlers
from bowerbird.ingest.router import DeviceAuthenticator
from bowerbird.ingest.sending import Choosing, Sending
from bowerbird.library.accounts.devices import Devices
from bowerbird.library.imports.saving import Saving
from bowerbird.library.ingest.events import IngestEvents
from bowerbird.library.ingest.files import FileJobs
from bowerbird.library.ingest.pages import IngestPages
from bowerbird.library.ingest.rates import DeviceUse, Rates
from bowerbird.library.ingest.runs import IngestRuns
from bowerbird.library.labels.label_list import LabelList
from bowerbird.settings import Settings
from bowerbird.storage.database import Database
from bowerbird.storage.files.uploads import UploadFolders
from bowerbird.wire.idempotency import Idempotency
from bowerbird.wire.metrics import RequestMetrics
from bowerbird.wire.pipeline import Authenticate, Pipeline
from bowerbird.wire.writes import Writes


def ingest(
    settings: Settings,
    database: Database,
    clock: Clock,
    files: FileJobs,
    *,
    rates: Rates,
    document: Callable[[], bytes],
    by_key: Authenticate,
    idempotency: Idempotency,
    metrics: RequestMetrics,
) -> Pipeline:
    runs = IngestRuns(database, clock)
    sending = Sending(
        runs,
        IngestPages(database, clock, runs),
        IngestEvents(database, clock),
        idempotency,
        rates=rates,
        clock=clock,
        upgrade_url=settings.upgrade_url,
    )
    choosing = Choosing(
        LabelList(database),
        Saving(database, clock),
        Writes(idempotency, settings.upgrade_url),
        rates=rates,
        use=DeviceUse(database, clock),
    )
    of_files = FileHandlers(
        files, UploadFolders(settings.data_dir), rates=rates, api_origin=settings.api_origin
    )
    return router.serve(
        [*sending.routes(), *choosing.routes(), *of_files.routes()],
        document,
        authenticate=DeviceAuthenticator(Devices(database, clock), by_key, settings.site_origin),
        metrics=metrics,
        upgrade_url=settings.upgrade_url,
    )
