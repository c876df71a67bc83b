"""The time zone of an account, for days in filters and results."""

from zoneinfo import ZoneInfo

from bowerbird.model.accounts import Account
from bowerbird.model.instants import zone_of
from bowerbird.requests.filters import FlagFilters, has_days
from bowerbird.storage.database import Database, Reader
from bowerbird.storage.stores import Stores


async def of(
    database: Database, account: Account, query: FlagFilters, reader: Reader | None = None
) -> ZoneInfo | None:
    """None if the query names no day: most lists need no further read."""
    return await zone(database, account, reader) if has_days(query) else None


async def zone(database: Database, account: Account, reader: Reader | None = None) -> ZoneInfo:
    preferences = await Stores.of(database).digests.preferences(account.account_id, reader)
    return zone_of(preferences.time_zone)
