"""When an account's digests and letters want to be looked at."""

from bowerbird.clock import MICROSECONDS
from bowerbird.model.digests import Digest, MailState, Preferences
from bowerbird.model.periods import Period, latest_due, zone_of
from bowerbird.storage.database import Transaction
from bowerbird.storage.digests.digests import NEVER, DigestStore

UNCLEAR_AFTER = 3_600 * MICROSECONDS
"""A letter that has been under way for so long was left behind by a worker that ended."""


def due_period(wanted: Preferences, now: int) -> Period | None:
    """The latest period whose digest is due and not settled; older ones stay missed."""
    if wanted.kind is None:
        return None
    zone = zone_of(wanted.time_zone)
    period = latest_due(wanted.kind, zone, wanted.hour, now)
    return period if period.due(zone, wanted.hour) >= wanted.since else None


def next_due(wanted: Preferences, now: int) -> int:
    """When the next digest is made."""
    if wanted.kind is None:
        return NEVER
    zone = zone_of(wanted.time_zone)
    following = latest_due(wanted.kind, zone, wanted.hour, now).following(zone)
    return following.due(zone, wanted.hour)


def attention_at(letter: Digest) -> int:
    """When a letter in the post wants to be looked at."""
    at = letter.mailing.at
    return at + UNCLEAR_AFTER if letter.mailing.state is MailState.SENDING else at


async def reschedule(
    store: DigestStore, transaction: Transaction, account_id: int, now: int
) -> None:
    """Notes when a worker has to look at the account again."""
    wanted = await store.preferences_within(transaction, account_id)
    letters = await store.in_the_post_within(transaction, account_id)
    due = next_due(wanted, now) if due_period(wanted, now) is None else now
    await store.set_due(transaction, account_id, min([due, *map(attention_at, letters)]))
