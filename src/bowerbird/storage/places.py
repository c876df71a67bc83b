"""Where SQLite keeps content and words of a bookmark: the account above, its number below.

An integer key is found in half the time of a composed one. PostgreSQL has no use for it, and
its statements do not name these parameters.
"""

from typing import Final

from bowerbird.model.accounts import Account

_NUMBER_BITS: Final = 40
LAST_NUMBER: Final = (1 << _NUMBER_BITS) - 1


def place_of(local_number: int) -> int:
    """The place below the account's first bookmark."""
    return local_number << _NUMBER_BITS


def place_values(account: Account) -> dict[str, int]:
    place = place_of(account.local_number)
    return {"place": place, "place_end": place + LAST_NUMBER}
