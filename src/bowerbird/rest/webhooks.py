"""/v1/changes and /v1/webhooks: what happened to the library, and who is told."""

from collections.abc import Awaitable, Callable
from typing import Final

import msgspec

from bowerbird.errors import Code
from bowerbird.library.access import plans
from bowerbird.library.bookmarks.events import Event, EventPage
from bowerbird.library.webhooks.webhooks import (
    DeliveryResponse,
    WebhookResponse,
)
from bowerbird.model.accounts import Account
from bowerbird.model.events import DeliveryState, Webhook
from bowerbird.requests.bookmarks import EventsQuery
from bowerbird.requests.limits import PAGE_DEFAULT
from bowerbird.requests.rules import DeliveriesQuery, NewWebhook, WebhookChange
from bowerbird.rest.serving import Rest
from bowerbird.storage.database import Transaction
from bowerbird.wire.idempotency import Replay
from bowerbird.wire.responses.envelope import ChangesMeta
from bowerbird.wire.responses.replies import Reply, State, state_of
from bowerbird.wire.routes import ApiRoute, Call, Operation
from bowerbird.wire.writes import created, current_of, done

_CREATED: Final = 201
_ACCEPTED: Final = 202
_PATH: Final = "/v1/webhooks"
_ONE: Final = f"{_PATH}/{{webhook_id}}"
_MESSAGES: Final = f"{_ONE}/deliveries"
_PAID: Final = (Code.SUBSCRIPTION_REQUIRED,)
LIST: Final = Operation(
    route=f"GET {_PATH}",
    name="listWebhooks",
    summary="List the account's webhooks.",
    data=WebhookResponse,
    is_many=True,
    # Deliveries change them without a new version of the library.
    is_tagged=False,
    refusals=_PAID,
)
CREATE: Final = Operation(
    route=f"POST {_PATH}",
    name="createWebhook",
    summary="Add a webhook, which is sent what happens from now on. Its secret is shown once.",
    data=WebhookResponse,
    body=NewWebhook,
    statuses=(_CREATED,),
    headers={"Location": True},
    refusals=_PAID,
)
GET: Final = Operation(
    route=f"GET {_ONE}",
    name="getWebhook",
    summary="Get one webhook.",
    data=WebhookResponse,
    refusals=_PAID,
    is_conditional=True,
)
UPDATE: Final = Operation(
    route=f"PATCH {_ONE}",
    name="updateWebhook",
    summary="Change a webhook, pause it, or turn it on again.",
    data=WebhookResponse,
    body=WebhookChange,
    is_conditional=True,
    refusals=_PAID,
)
DELETE: Final = Operation(
    route=f"DELETE {_ONE}",
    name="deleteWebhook",
    summary="Remove a webhook and what is known about its messages.",
    data=WebhookResponse,
    is_conditional=True,
)
ROTATE: Final = Operation(
    route=f"POST {_ONE}/rotate",
    name="rotateWebhookSecret",
    summary="Create another secret. Messages are signed with both for 24 hours.",
    data=WebhookResponse,
    refusals=_PAID,
)
TEST: Final = Operation(
    route=f"POST {_ONE}/test",
    name="testWebhook",
    summary="Send a test message once. 202 if it is not sent yet after a few seconds.",
    data=DeliveryResponse,
    statuses=(200, _ACCEPTED),
    headers={"Location": True},
    refusals=(*_PAID, Code.RATE_LIMITED),
)
DELIVERIES: Final = Operation(
    route=f"GET {_MESSAGES}",
    name="listWebhookDeliveries",
    summary="List the last messages to a webhook, latest first: at most 100 are kept.",
    data=DeliveryResponse,
    is_many=True,
    query=DeliveriesQuery,
    is_tagged=False,
    refusals=_PAID,
)
DELIVERY: Final = Operation(
    route=f"GET {_MESSAGES}/{{message_id}}",
    name="getWebhookDelivery",
    summary="Get one message with what was sent and answered.",
    data=DeliveryResponse,
    is_tagged=False,
    refusals=_PAID,
)
SEND_AGAIN: Final = Operation(
    route=f"POST {_MESSAGES}/{{message_id}}/send_again",
    name="sendWebhookMessageAgain",
    summary="Send a message once more, with the same id.",
    data=DeliveryResponse,
    statuses=TEST.statuses,
    headers=TEST.headers,
    refusals=TEST.refusals,
)
LIST_EVENTS: Final = Operation(
    route="GET /v1/changes",
    name="listEvents",
    summary="List what happened to the library, in order. Without a cursor, all posts come first.",
    data=Event,
    is_many=True,
    meta=ChangesMeta,
    query=EventsQuery,
    refusals=(Code.CURSOR_EXPIRED,),
)


def routes(rest: Rest) -> list[ApiRoute]:
    webhooks, gate = rest.services.webhooks, plans.check_webhooks

    def sent_by(
        send: Callable[..., Awaitable[DeliveryResponse]],
    ) -> Callable[..., Awaitable[Reply]]:
        async def sent(transaction: Transaction, account: Account, *ids: str) -> Reply:
            return _sent(ids[0], await send(transaction, account, *ids))

        return sent

    async def wait(call: Call, answer: Reply | Replay) -> Reply | None:
        if answer.status != _ACCEPTED:
            return None
        path = dict(answer.headers)[b"location"].decode().split("/")
        webhook_id, message_id = path[-3], path[-1]
        settled = await webhooks.settled_soon(call.account, webhook_id, message_id)
        return None if settled is None else _sent(webhook_id, settled)

    def events_meta(page: EventPage) -> ChangesMeta:
        return ChangesMeta(
            next_cursor=page.next_cursor,
            has_more=page.has_more,
            limit=page.limit,
            count=len(page.events),
        )

    current = current_of(webhooks.find, _state)
    return [
        rest.read(LIST, webhooks.all, gate),
        rest.read(GET, webhooks.find, gate, data=webhooks.shown, state=_state),
        rest.read(
            DELIVERIES,
            lambda account, webhook_id, query: webhooks.deliveries(
                account, webhook_id, query.limit or PAGE_DEFAULT
            ),
            gate,
        ),
        rest.read(DELIVERY, webhooks.delivery, gate),
        rest.write(CREATE, webhooks.create, gate, reply=_new),
        rest.write(UPDATE, webhooks.change, gate, current=current),
        rest.write(DELETE, webhooks.delete, current=current),
        rest.write(ROTATE, webhooks.rotate, reply=lambda made: _once(done(made), made)),
        rest.write(TEST, sent_by(webhooks.test), wait=wait),
        rest.write(SEND_AGAIN, sent_by(webhooks.send_again), wait=wait),
        rest.read(
            LIST_EVENTS,
            rest.services.events.page,
            data=lambda page: page.events,
            meta=events_meta,
            is_live=True,
        ),
    ]


def _state(hook: Webhook) -> State:
    """Without what came of its messages, unless that has disabled it."""
    stored = (hook.url, hook.events, hook.tag, hook.query, hook.state, hook.sealed)
    return state_of(stored, hook.updated_at)


def _sent(webhook_id: str, delivery: DeliveryResponse) -> Reply:
    is_waiting = delivery.state is DeliveryState.WAITING
    path = f"{_PATH}/{webhook_id}/deliveries/{delivery.id}"
    reply = done(delivery, status=_ACCEPTED if is_waiting else 200)
    return reply.with_headers((b"location", path.encode()))


def _new(made: WebhookResponse) -> Reply:
    return _once(created(made, f"{_PATH}/{made.id}"), made)


def _once(reply: Reply, webhook: WebhookResponse) -> Reply:
    """An answer with a secret, which is not stored under the key of the request."""
    without = msgspec.structs.replace(webhook, secret=msgspec.UNSET)
    return msgspec.structs.replace(reply, stored=done(without).body)
