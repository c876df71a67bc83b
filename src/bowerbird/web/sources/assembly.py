"""Builds the parts of the page of sources."""

from collections.abc import Callable

from bowerbird.clock import Clock
from bowerbird.library.connections.connecting import Connecting
from bowerbird.library.connections.connections import Connections
from bowerbird.library.connections.device_runs import DeviceRuns
from bowerbird.library.connections.revoking import Revoking
from bowerbird.library.ingest.kept_pages import KeptPages
from bowerbird.settings import Settings
from bowerbird.storage.database import Database
from bowerbird.web.sources.pages import SourceParts


def source_parts(
    database: Database, clock: Clock, settings: Settings, wake_worker: Callable[[], None]
) -> SourceParts:
    connections = Connections(database, clock, wake_worker)
    return SourceParts(
        connections,
        Connecting(database, clock, settings, connections),
        DeviceRuns(database, clock),
        KeptPages(database, clock),
        Revoking(clock, settings),
        clock,
    )
