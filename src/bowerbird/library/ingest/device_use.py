"""Notes when a device was last used."""

from bowerbird.clock import Clock
from bowerbird.library.ingest.runs import USE_NOTED_EVERY
from bowerbird.model.accounts import Account
from bowerbird.model.devices import DeviceCaller
from bowerbird.storage.accounts.devices import DeviceStore
from bowerbird.storage.database import Database, Transaction


class DeviceUse:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._devices = DeviceStore(database)
        self._clock = clock

    async def note(self, account: Account) -> None:
        """Does nothing for a caller with an API key."""
        if not isinstance(account, DeviceCaller):
            return
        account_id, device_id, now = account.account_id, account.device_id, self._clock()

        async def work(transaction: Transaction) -> None:
            await self._devices.note_use(transaction, account_id, device_id, now, USE_NOTED_EVERY)

        await self._database.write(work, account_id)
