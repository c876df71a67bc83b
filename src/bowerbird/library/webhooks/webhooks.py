"""The webhooks of an account: adds, changes and removes them, and shows what was sent."""

import asyncio
import secrets
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

import msgspec
from msgspec import UNSET, Struct, UnsetType

from bowerbird import errors
from bowerbird.clock import Clock
from bowerbird.connections.records import CannotOpen
from bowerbird.errors import Code, Refusal
from bowerbird.library.access import activity, plans
from bowerbird.library.bulk.rule_references import RuleReferences
from bowerbird.library.webhooks import messages
from bowerbird.library.webhooks.messages import Secrets, new_secret, replaced
from bowerbird.model.accounts import Account, ActivityKind
from bowerbird.model.events import (
    FORMER_SECRET,
    KIND,
    Delivery,
    DeliveryState,
    EventType,
    Webhook,
    WebhookState,
)
from bowerbird.model.instants import with_offset
from bowerbird.model.jobs import WEBHOOKS
from bowerbird.requests import limits
from bowerbird.requests.rules import NewWebhook, WebhookChange
from bowerbird.settings import Settings
from bowerbird.storage.database import Database, Readable, Reader, Transaction, Writable
from bowerbird.storage.stores import TimedService

if TYPE_CHECKING:
    from bowerbird.library.webhooks.sending import Sender

_ID_BYTES: Final = 12
# How long a request waits for what came of a message that it sends.
WAIT_S: Final = 5.0
_LOOK_S: Final = 0.1


class WebhookResponse(Struct, frozen=True, kw_only=True):
    id: str
    """Identifier of the webhook."""
    url: str
    """Where messages are sent."""
    events: Sequence[str]
    """Types of the events that are sent; empty for all."""
    tag: str | None
    """The label that a post must have."""
    q: str | None
    """The query that a post must match."""
    state: WebhookState
    """paused: nothing is sent for now. disabled: nothing could be delivered for three days."""
    problem: str | None
    """Why the last message was not delivered."""
    failing_since: str | None
    """When the first message in a row was not delivered."""
    next_try_at: str | None
    """When it is sent again. Later messages wait for it."""
    last_delivered_at: str | None
    """When a message was delivered last."""
    former_secret_until: str | None
    """Until when messages are signed with the secret before the last too."""
    created_at: str
    """When it was added."""
    updated_at: str
    """When it was changed last."""
    secret: str | UnsetType = UNSET
    """Only in the answer that creates it: the secret that messages are signed with."""


class DeliveryResponse(Struct, frozen=True, kw_only=True):
    """A message, and what came of the last attempt to deliver it."""

    id: str
    """Sent as webhook-id. It is the same whenever the message is sent."""
    type: str
    """Type of the event, or webhook.test."""
    state: DeliveryState
    """waiting: it is sent soon. retrying: it is sent again later. failed: it is not sent again."""
    tries: int
    """How many times it was sent."""
    created_at: str
    """When it was sent first, or asked for."""
    tried_at: str | None
    """When it was sent last."""
    took_ms: int | None
    """How long the last attempt took, in milliseconds."""
    status: int | None
    """The HTTP status of the answer; null if there was none."""
    answer: str | None
    """The beginning of the answer."""
    problem: str | None
    """Why it was not delivered."""
    message: dict[str, Any] | UnsetType = UNSET
    """What was sent. Only in the answer about one message."""


class Webhooks(TimedService):
    def __init__(
        self,
        database: Database,
        clock: Clock,
        settings: Settings,
        wake_worker: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__(database, clock)
        self._settings = settings
        self._wake = wake_worker
        self._rules = RuleReferences(database, clock)
        self._vault = messages.vault_of(settings)

    async def all(self, account: Account) -> list[WebhookResponse]:
        return [self.shown(one) for one in await self._stores.webhooks.all(account.account_id)]

    async def find(
        self, account: Account, webhook_id: str, reader: Reader | None = None
    ) -> Webhook:
        reader = reader or self._database
        hook = await self._stores.webhooks.one(Readable(reader, account.account_id), webhook_id)
        if hook is None:
            raise errors.not_found("webhook", webhook_id)
        return hook

    async def create(
        self, transaction: Transaction, account: Account, request: NewWebhook
    ) -> WebhookResponse:
        """It is sent what happens from now on."""
        plans.check_webhooks(account)
        self._sender().check(request.url)
        now, webhook_id = self._clock(), secrets.token_hex(_ID_BYTES)
        _check_filter(_joined(request.events), _clean(request.tag), _clean(request.q), now)
        found = Secrets(new_secret())
        new = Webhook(
            webhook_id=webhook_id,
            url=request.url,
            events=_joined(request.events),
            tag=_clean(request.tag),
            query=_clean(request.q),
            sealed=self._vault.seal(found, messages.place_of(account.account_id, webhook_id)),
            next_try_at=now,
            created_at=now,
            updated_at=now,
        )
        # Two requests at the same time must not exceed the number.
        library = await self._stores.libraries.lock(transaction, account.account_id)
        if not await self._stores.webhooks.insert(library, new, limits.WEBHOOKS_MAX):
            most = limits.WEBHOOKS_MAX
            raise errors.invalid("url", f"an account can have at most {most} webhooks")
        await self._note(library, ActivityKind.WEBHOOK_ADDED, new)
        return self.shown(new, found.current)

    async def change(
        self, transaction: Transaction, account: Account, webhook_id: str, request: WebhookChange
    ) -> WebhookResponse:
        plans.check_webhooks(account)
        library = await self._stores.libraries.lock(transaction, account.account_id)
        hook = await self.find(account, webhook_id, transaction)
        now = self._clock()
        if request.url is not UNSET:
            self._sender().check(request.url)
        changed = msgspec.structs.replace(
            hook,
            url=hook.url if request.url is UNSET else request.url,
            events=hook.events if request.events is UNSET else _joined(request.events),
            tag=hook.tag if request.tag is UNSET else _clean(request.tag),
            query=hook.query if request.q is UNSET else _clean(request.q),
            updated_at=now,
        )
        _check_filter(changed.events, changed.tag, changed.query, now)
        if request.is_active is False and hook.state is WebhookState.ACTIVE:
            changed = msgspec.structs.replace(changed, state=WebhookState.PAUSED)
        elif request.is_active is True and hook.state is not WebhookState.ACTIVE:
            if self._secrets(account, hook) is None:
                raise Refusal(Code.INVALID_REQUEST, messages.UNREADABLE)
            changed = msgspec.structs.replace(changed, state=WebhookState.ACTIVE)
        if changed.state is WebhookState.ACTIVE and (
            hook.state is not WebhookState.ACTIVE or changed.url != hook.url
        ):
            changed = _fresh(changed)
        await self._stores.webhooks.change(library, changed)
        return self.shown(changed)

    async def rotate(
        self, transaction: Transaction, account: Account, webhook_id: str
    ) -> WebhookResponse:
        """Another secret. Messages are signed with both for a day.

        A webhook that was turned off because its secret is unreadable is turned on.
        """
        plans.check_webhooks(account)
        library = await self._stores.libraries.lock(transaction, account.account_id)
        hook = await self.find(account, webhook_id, transaction)
        account_id, now = account.account_id, self._clock()
        found = replaced(self._secrets(account, hook))
        changed = msgspec.structs.replace(
            hook,
            sealed=self._vault.seal(found, messages.place_of(account_id, webhook_id)),
            rotated_at=now if found.former else None,
            updated_at=now,
        )
        await self._stores.webhooks.put_secrets(library, changed)
        if hook.problem == messages.UNREADABLE:
            is_off = hook.state is WebhookState.DISABLED
            state = WebhookState.ACTIVE if is_off else hook.state
            changed = _fresh(msgspec.structs.replace(changed, state=state))
            await self._stores.webhooks.change(library, changed)
        return self.shown(changed, found.current)

    def _secrets(self, account: Account, hook: Webhook) -> Secrets | None:
        try:
            place = messages.place_of(account.account_id, hook.webhook_id)
            return self._vault.open(hook.sealed, place)
        except CannotOpen:
            return None

    async def delete(
        self, transaction: Transaction, account: Account, webhook_id: str
    ) -> WebhookResponse:
        library = await self._stores.libraries.lock(transaction, account.account_id)
        hook = await self.find(account, webhook_id, transaction)
        await self._stores.webhooks.delete(library, webhook_id)
        await self._rules.webhook_deleted(library, webhook_id)
        await self._note(library, ActivityKind.WEBHOOK_REMOVED, hook)
        return self.shown(hook)

    async def test(
        self, transaction: Transaction, account: Account, webhook_id: str
    ) -> DeliveryResponse:
        """Sends a test message once, also to a webhook that is paused or fails."""
        plans.check_webhooks(account)
        hook = await self.find(account, webhook_id, transaction)
        return await self._ask(
            Writable(transaction, account.account_id), messages.of_test(hook, self._clock())
        )

    async def send_again(
        self, transaction: Transaction, account: Account, webhook_id: str, message_id: str
    ) -> DeliveryResponse:
        """Sends the same message once more, with the same id."""
        plans.check_webhooks(account)
        await self.find(account, webhook_id, transaction)
        library = Writable(transaction, account.account_id)
        found = await self._stores.webhooks.delivery(library, webhook_id, message_id)
        if found is None:
            raise _no_message(message_id)
        if found.state is DeliveryState.RETRYING:
            # Others wait for it, so it is not sent besides them.
            await self._stores.webhooks.hurry(library, webhook_id, self._clock())
            await self._add_job(library)
            return delivery_response(found)
        if found.state is DeliveryState.WAITING:
            return delivery_response(found)
        asked = msgspec.structs.replace(found, state=DeliveryState.WAITING, tries=0)
        answer = await self._ask(library, asked)
        return msgspec.structs.replace(answer, tries=found.tries)

    async def deliveries(
        self, account: Account, webhook_id: str, limit: int
    ) -> list[DeliveryResponse]:
        """The latest messages to a webhook, latest first."""
        await self.find(account, webhook_id)
        found = await self._stores.webhooks.deliveries(account.account_id, webhook_id, limit)
        return [delivery_response(one) for one in found]

    async def latest(self, account: Account, limit: int) -> Sequence[Delivery]:
        """The latest messages to all webhooks."""
        return await self._stores.webhooks.latest(account.account_id, limit)

    async def delivery(
        self, account: Account, webhook_id: str, message_id: str
    ) -> DeliveryResponse:
        library = self._library(account.account_id)
        found = await self._stores.webhooks.delivery(library, webhook_id, message_id)
        if found is None:
            raise _no_message(message_id)
        shown = delivery_response(found)
        return msgspec.structs.replace(shown, message=msgspec.json.decode(found.body))

    async def settled_soon(
        self, account: Account, webhook_id: str, message_id: str
    ) -> DeliveryResponse | None:
        """What came of a message, if a worker has sent it within some seconds."""
        self._wake()
        end = time.monotonic() + WAIT_S
        while time.monotonic() < end:
            library = self._library(account.account_id)
            found = await self._stores.webhooks.delivery(library, webhook_id, message_id)
            if found is None:
                return None
            if found.state is not DeliveryState.WAITING:
                return delivery_response(found)
            await asyncio.sleep(_LOOK_S)
        return None

    async def _ask(self, library: Writable, delivery: Delivery) -> DeliveryResponse:
        waiting = await self._stores.webhooks.count_waiting(library)
        if waiting >= limits.WAITING_DELIVERIES_MAX:
            raise Refusal(
                Code.RATE_LIMITED,
                f"{waiting} messages are still to be sent. Wait until they are.",
                {"Retry-After": "10"},
            )
        await self._stores.webhooks.put_delivery(library, delivery, limits.DELIVERIES_KEPT)
        await self._add_job(library)
        return delivery_response(delivery)

    async def _add_job(self, library: Writable) -> None:
        await self._stores.jobs.add_own(library, KIND, WEBHOOKS, self._clock())

    async def _note(self, library: Writable, kind: ActivityKind, hook: Webhook) -> None:
        entry = activity.entry(self._clock, kind, host_of(hook.url))
        await self._stores.activity.add(library, entry)

    def _sender(self) -> "Sender":
        from bowerbird.library.webhooks.sending import Sender  # noqa: PLC0415 - imports httpx2

        return Sender.of(self._settings)

    def shown(self, hook: Webhook, secret: str | UnsetType = UNSET) -> WebhookResponse:
        until = None if hook.rotated_at is None else hook.rotated_at + FORMER_SECRET
        is_failing = hook.failing_since is not None and hook.state is WebhookState.ACTIVE
        return WebhookResponse(
            id=hook.webhook_id,
            url=hook.url,
            events=hook.events.split(),
            tag=hook.tag or None,
            q=hook.query or None,
            state=hook.state,
            problem=hook.problem or None,
            failing_since=_moment(hook.failing_since),
            next_try_at=_moment(hook.next_try_at) if is_failing else None,
            last_delivered_at=_moment(hook.last_sent_at),
            former_secret_until=_moment(until if until and until > self._clock() else None),
            created_at=with_offset(hook.created_at),
            updated_at=with_offset(hook.updated_at),
            secret=secret,
        )


def _fresh(changed: Webhook) -> Webhook:
    """As if nothing had failed."""
    return msgspec.structs.replace(
        changed,
        problem="",
        failures=0,
        failing_since=None,
        next_try_at=changed.updated_at,
        is_untold=False,
    )


def delivery_response(delivery: Delivery) -> DeliveryResponse:
    return DeliveryResponse(
        id=delivery.message_id,
        type=delivery.type,
        state=delivery.state,
        tries=delivery.tries,
        created_at=with_offset(delivery.created_at),
        tried_at=_moment(delivery.tried_at),
        took_ms=delivery.took_ms,
        status=delivery.status,
        answer=delivery.answer or None,
        problem=delivery.problem or None,
    )


def host_of(url: str) -> str:
    """What an address is called. Its path may be a password of the receiver."""
    return url.partition("://")[2].partition("/")[0].partition("?")[0]


def _moment(instant: int | None) -> str | None:
    return None if instant is None else with_offset(instant)


def _joined(events: Sequence[str] | None) -> str:
    return " ".join(dict.fromkeys(events or ()))


def _clean(text: str | None) -> str:
    return (text or "").strip()


def _check_filter(events: str, tag: str, query: str, now: int) -> None:
    messages.filter_for(tag, query, now)
    if events == EventType.DIGEST_CREATED and (tag or query):
        problem = "has no meaning for digest.created, which is not about single posts"
        raise errors.invalid("tag" if tag else "q", problem)


def _no_message(message_id: str) -> Refusal:
    return errors.not_found("message", message_id)
