"""The extensions that are connected to an account, as the page for keys lists them."""

from collections.abc import Mapping
from typing import Any

from bowerbird.clock import Clock
from bowerbird.library.accounts.devices import Devices
from bowerbird.library.connections.connections import Connections
from bowerbird.library.ingest.runs import IngestRuns
from bowerbird.model.connections import Network
from bowerbird.model.devices import Device
from bowerbird.model.ingest import IngestRun
from bowerbird.storage.database import Database
from bowerbird.web.sources import rows
from bowerbird.web.visits.moments import Times


class Extensions:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._devices = Devices(database, clock)
        self._runs = IngestRuns(database, clock)
        self._connections = Connections(database, clock)

    async def shown(self, account_id: int, times: Times) -> list[dict[str, Any]]:
        """The extensions that are not disconnected."""
        devices = [one for one in await self._devices.all(account_id) if one.revoked_at is None]
        runs = await self._runs.last_of_devices(account_id) if devices else {}
        sources = await self._connections.all(account_id) if devices else []
        handles = {one.source_user_id: one.name for one in sources if one.network is Network.X}
        return [_extension(one, runs.get(one.device_id), times, handles) for one in devices]

    async def revoke(self, account_id: int, device_id: str) -> str:
        return await self._devices.revoke(account_id, device_id)


def _extension(
    device: Device, run: IngestRun | None, times: Times, handles: Mapping[str, str]
) -> dict[str, Any]:
    number = device.source_user_id
    # When it was used is stored only now and then; a page is a use too.
    uses = [device.last_used_at, run.updated_at if run else None]
    used = max((at for at in uses if at is not None), default=None)
    sentence, kind = _run(run, times)
    return {
        "id": device.device_id,
        "name": device.name,
        "source_user": handles.get(number) or (f"number {number}" if number else ""),
        "created_at": times.day(device.created_at),
        "last_used": None if used is None else times.moment(used),
        "run": sentence,
        "run_kind": kind,
    }


def _run(run: IngestRun | None, times: Times) -> tuple[str, str]:
    """What became of the last run, and how it is marked."""
    if run is None:
        return "none yet", ""
    at = times.moment(run.updated_at).inline
    state, kind = rows.run_state(run)
    return f"{state}, last page {at}" if kind == "busy" else f"{state}, {at}", kind
