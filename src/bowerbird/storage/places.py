"""SQLite's integer key of a bookmark's content and words: account in the high bits, number below.

SQLite finds an integer key in half the time of a composite one. PostgreSQL does not need it, and
its statements do not use these parameters.
"""

from typing import Final

from bowerbird.model.accounts import Account

_NUMBER_BITS: Final = 40
LAST_NUMBER: Final = (1 << _NUMBER_BITS) - 1


def place_of(local_number: int) -> int:
    """The account's part of the key. The number of a bookmark is added to it."""
    return local_number << _NUMBER_BITS


def place_values(account: Account) -> dict[str, int]:
    place = place_of(account.local_number)
    return {"place": place, "place_end": place + LAST_NUMBER}
