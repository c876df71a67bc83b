"""Webhooks: addresses that are told what happens in a library, and the messages sent to them."""

from enum import StrEnum
from typing import Final

from msgspec import Struct

from bowerbird.clock import MICROSECONDS
from bowerbird.model.events import EventType

KIND: Final = "webhooks"
TEST: Final = "webhook.test"
# Those that a webhook can be limited to. The others are of a listing, or for one webhook alone.
TYPES: Final = tuple(
    one for one in EventType if one not in (EventType.POST_LISTED, EventType.POST_SENT)
)
# How long the secret before the last is used too.
FORMER_SECRET: Final = 86_400 * MICROSECONDS


class WebhookState(StrEnum):
    ACTIVE = "active"
    # By a person, until it is resumed.
    PAUSED = "paused"
    # By the service, because nothing could be delivered for days.
    DISABLED = "disabled"


class DeliveryState(StrEnum):
    # Somebody wants it to be sent once.
    WAITING = "waiting"
    # It failed, and later messages wait for it.
    RETRYING = "retrying"
    DELIVERED = "delivered"
    FAILED = "failed"


class Webhook(Struct, frozen=True, kw_only=True):
    webhook_id: str
    url: str
    # The types of its events, separated by spaces; "" for all.
    events: str
    tag: str
    query: str
    state: WebhookState
    # Why the last message was not delivered, or "".
    problem: str
    # Encrypted; see library/webhooks/signing.py.
    sealed: bytes
    rotated_at: int | None
    # The number of the last event that was delivered, or that is not for it.
    delivered: int
    failures: int
    failing_since: int | None
    next_try_at: int
    is_untold: bool
    last_sent_at: int | None
    created_at: int
    updated_at: int

    def __repr__(self) -> str:
        # Addresses may contain a password of the receiver, and the secrets are in here.
        return f"Webhook({self.webhook_id!r})"


class Delivery(Struct, frozen=True, kw_only=True):
    """A message, and what came of the last attempt to deliver it."""

    webhook_id: str
    message_id: str
    type: str
    state: DeliveryState
    tries: int
    created_at: int
    tried_at: int | None = None
    took_ms: int | None = None
    status: int | None = None
    answer: str = ""
    problem: str = ""
    body: bytes = b""
