"""What the devices of an account, such as browser extensions, have sent last."""

from collections.abc import Sequence
from contextlib import suppress

from msgspec import Struct

from bowerbird.clock import Clock
from bowerbird.errors import Refusal
from bowerbird.library.accounts.devices import Devices
from bowerbird.library.imports.runs import ImportRuns
from bowerbird.library.ingest.runs import IngestRuns
from bowerbird.model.accounts import Account
from bowerbird.model.devices import Device
from bowerbird.model.imports import RunCounts
from bowerbird.model.ingest import IngestRun
from bowerbird.storage.database import Database


class DeviceRun(Struct, frozen=True):
    device: Device
    # The last run over the list, which may go on; None if the device has sent none for 30 days.
    run: IngestRun | None
    counts: RunCounts


class DeviceRuns:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._devices = Devices(database, clock)
        self._runs = IngestRuns(database, clock)
        self._imports = ImportRuns(database, clock)

    async def all(self, account: Account) -> Sequence[DeviceRun]:
        """The devices that are not revoked, each with its last run."""
        account_id = account.account_id
        devices = [one for one in await self._devices.all(account_id) if one.revoked_at is None]
        if not devices:
            return []
        latest = await self._runs.last_of_devices(account_id)
        return [await self._of(account, one, latest.get(one.device_id)) for one in devices]

    async def disconnect(self, account_id: int, device_id: str) -> None:
        await self._devices.revoke(account_id, device_id)

    async def _of(self, account: Account, device: Device, run: IngestRun | None) -> DeviceRun:
        if run is None:
            return DeviceRun(device, None, RunCounts())
        counts = RunCounts()
        if run.import_id:
            # An account lists only its latest imports.
            with suppress(Refusal):
                counts = (await self._imports.get(account, run.import_id)).counts
        return DeviceRun(device, run, counts)
