"""When a worker must create an account's next digest or send its emails."""

from bowerbird.clock import MICROSECONDS
from bowerbird.model.digests import Digest, MailState, Preferences
from bowerbird.model.instants import Period, latest_due, zone_of
from bowerbird.storage.database import Transaction
from bowerbird.storage.digests.digests import NEVER, DigestStore

UNCLEAR_AFTER = 3_600 * MICROSECONDS
"""A worker that has been sending an email for this long has stopped."""


def due_period(preferences: Preferences, now: int) -> Period | None:
    """The latest period whose digest is due and not yet handled. Older periods are skipped."""
    if preferences.kind is None:
        return None
    zone = zone_of(preferences.time_zone)
    period = latest_due(preferences.kind, zone, preferences.hour, now)
    return period if period.due(zone, preferences.hour) >= preferences.since else None


def next_due(preferences: Preferences, now: int) -> int:
    """When the next digest is created."""
    if preferences.kind is None:
        return NEVER
    zone = zone_of(preferences.time_zone)
    following = latest_due(preferences.kind, zone, preferences.hour, now).following(zone)
    return following.due(zone, preferences.hour)


def email_due_at(digest: Digest) -> int:
    """When a worker must send a pending email, or check one that is being sent."""
    at = digest.mailing.at
    return at + UNCLEAR_AFTER if digest.mailing.state is MailState.SENDING else at


async def reschedule(
    store: DigestStore, transaction: Transaction, account_id: int, now: int
) -> None:
    """Stores when a worker must handle the account again."""
    preferences = await store.preferences_within(transaction, account_id)
    pending = await store.unsent_within(transaction, account_id)
    due = next_due(preferences, now) if due_period(preferences, now) is None else now
    await store.set_due(transaction, account_id, min([due, *map(email_due_at, pending)]))
