"""Delivers messages: those of an account's events, and those that somebody wants to be sent.

The events of the library are the queue. A webhook has the number of the last event that it needs no
more, which changes after the receiver has answered. So a killed worker sends a message again and
loses none, and a message that fails holds the later ones back.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar

import msgspec
import structlog
from msgspec import UNSET

from bowerbird.clock import MICROSECONDS, Clock, month_of
from bowerbird.connections.records import CannotOpen
from bowerbird.errors import Code, Refusal
from bowerbird.library.access import activity
from bowerbird.library.bookmarks.events import Event, Events
from bowerbird.library.webhooks import messages
from bowerbird.library.webhooks.webhooks import host_of
from bowerbird.mail import Email, MailDeferred, Mailer, MailOutcomeUnknown, MailRefused
from bowerbird.model.accounts import Account, ActivityKind
from bowerbird.model.events import Delivery, DeliveryState, Webhook, WebhookState
from bowerbird.requests.limits import DELIVERIES_KEPT, WAITING_DELIVERIES_MAX
from bowerbird.settings import Settings
from bowerbird.storage.database import Database, Writable
from bowerbird.storage.stores import TimedService

if TYPE_CHECKING:
    from bowerbird.library.webhooks.sending import Attempt, Sender

T = TypeVar("T")

# After each failure, and the last one again and again until the time is over.
PAUSES_S: Final = (5, 60, 300, 1_800, 7_200, 18_000, 36_000)
GIVEN_UP_AFTER: Final = 3 * 86_400 * MICROSECONDS
_EVENTS_PER_PAGE: Final = 100
_ACCOUNTS_PER_PAGE: Final = 500
_MAIL_PAUSE: Final = 3_600 * MICROSECONDS
_MAIL_FOR: Final = 86_400 * MICROSECONDS


class Delivering(TimedService):
    def __init__(
        self,
        database: Database,
        clock: Clock,
        settings: Settings,
        sender: "Callable[[], Sender] | None" = None,
        digest: Callable[[Account, str], Awaitable[object]] | None = None,
    ) -> None:
        """`digest` reads one by its id."""
        super().__init__(database, clock)
        self._digest = digest
        self._sender = sender or (lambda: _new_sender(settings))
        self._site_origin = settings.site_origin
        self._mailer = Mailer(settings)
        self._events = Events(database, clock)
        self._matching = messages.Matching(database, self._events)
        self._vault = messages.vault_of(settings)
        self._log = structlog.get_logger()

    async def due_accounts(self, after: int) -> Sequence[int]:
        return await self._stores.webhooks.due_accounts(after, self._clock(), _ACCOUNTS_PER_PAGE)

    async def waiting_accounts(self, after: int) -> Sequence[int]:
        return await self._stores.webhooks.waiting_accounts(after, _ACCOUNTS_PER_PAGE)

    async def run(self, account_id: int, turn_s: float) -> bool:
        """Delivers what is due, for about so long; returns whether something is left."""
        account = await self._stores.accounts.by_id(account_id, month_of(self._clock()))
        if account is None:
            return False
        async with self._sender().asked_by(account_id) as sender:
            await self._send_waiting(account, sender)
            if account.is_free:
                return False
            end, now = time.monotonic() + turn_s, self._clock()
            due = [
                hook
                for hook in await self._stores.webhooks.all(account_id)
                if hook.next_try_at <= now
            ]
            # A webhook that is slow delays no other one.
            return any(await _all(self._follow(account, hook, sender, end) for hook in due))

    async def _send_waiting(self, account: Account, sender: "Sender") -> None:
        account_id = account.account_id
        hooks = {hook.webhook_id: hook for hook in await self._stores.webhooks.all(account_id)}

        async def send(delivery: Delivery) -> None:
            attempt = await self._attempt(account, hooks[delivery.webhook_id], delivery, sender)
            done = DeliveryState.FAILED if attempt.problem else DeliveryState.DELIVERED
            await self._put(account, _after(delivery, attempt, done, self._clock()))

        waiting = await self._stores.webhooks.waiting(account_id, WAITING_DELIVERIES_MAX)
        await _all(send(one) for one in waiting if one.webhook_id in hooks)

    async def _follow(self, account: Account, hook: Webhook, sender: "Sender", end: float) -> bool:
        """Sends the events of one webhook in order; returns whether its turn ended before."""
        if hook.is_untold:
            await self._tell(account, hook)
        if hook.state is not WebhookState.ACTIVE:
            return False
        is_at_end = False
        while not is_at_end:
            events, last, has_more = await self._next_events(account, hook)
            for event in await self._matching.wanted(account, hook, events, self._clock()):
                if time.monotonic() >= end:
                    return True
                sent = await self._send(account, hook, event, sender)
                if sent is None:
                    return False
                hook = sent
            moved = await self._advance(account, hook, last)
            if moved is None:
                return False
            hook, is_at_end = moved, not has_more
        return False

    async def _next_events(
        self, account: Account, hook: Webhook
    ) -> tuple[Sequence[Event], int, bool]:
        try:
            return await self._events.after(account, hook.delivered, _EVENTS_PER_PAGE)
        except Refusal as refused:
            if refused.code is not Code.CURSOR_EXPIRED:
                raise
        # It was paused for longer than events are kept.
        kept = await self._events.kept(account)
        return (), min(max(hook.delivered, kept.removed), kept.last), True

    async def _send(
        self, account: Account, hook: Webhook, event: Event, sender: "Sender"
    ) -> Webhook | None:
        """The webhook after the delivery; None if it failed, or the webhook was changed."""
        event = await self._events.with_bookmark(account, event)
        digest = None
        if event.digest_id is not UNSET and self._digest is not None:
            digest = await self._digest(account, event.digest_id)
        delivery = messages.of_event(account, hook, event, self._clock(), digest)
        attempt = await self._attempt(account, hook, delivery, sender)
        if attempt.problem:
            await self._fail(account, hook, delivery, attempt)
            return None
        done = _after(delivery, attempt, DeliveryState.DELIVERED, self._clock())
        return await self._advance(account, hook, int(event.id or 0), done)

    async def _attempt(
        self, account: Account, hook: Webhook, delivery: Delivery, sender: "Sender"
    ) -> "Attempt":
        from bowerbird.library.webhooks.sending import Attempt  # noqa: PLC0415 - imports httpx2

        place = messages.place_of(account.account_id, hook.webhook_id)
        try:
            found = self._vault.open(hook.sealed, place)
        except CannotOpen:
            return Attempt(0, problem=messages.UNREADABLE)
        now = self._clock()
        signed = messages.headers(found, hook, delivery.message_id, delivery.body, now)
        return await sender.send(hook.url, signed, delivery.body)

    async def _advance(
        self, account: Account, hook: Webhook, to: int, done: Delivery | None = None
    ) -> Webhook | None:
        account_id = account.account_id
        if to == hook.delivered and done is None:
            return hook

        async def work(library: Writable) -> bool:
            at = None if done is None else done.tried_at
            is_ours = await self._stores.webhooks.advance(library, hook, to, at)
            if done is not None:
                await self._stores.webhooks.put_delivery(library, done, DELIVERIES_KEPT)
            return is_ours

        if not await self._transact(account_id, work):
            return None
        # A person may have paused or changed it since.
        found = await self._stores.webhooks.one(self._library(account_id), hook.webhook_id)
        return found if found is not None and _is_same(found, hook) else None

    async def _fail(
        self, account: Account, hook: Webhook, delivery: Delivery, attempt: "Attempt"
    ) -> None:
        account_id, now = account.account_id, self._clock()
        given_up_at = (hook.failing_since or now) + GIVEN_UP_AFTER
        is_gone = attempt.status == 410  # noqa: PLR2004 - Gone
        is_over = is_gone or now >= given_up_at or attempt.problem == messages.UNREADABLE
        pause = PAUSES_S[min(hook.failures, len(PAUSES_S) - 1)] * MICROSECONDS
        failed = msgspec.structs.replace(
            hook,
            problem=attempt.problem,
            next_try_at=now if is_over else min(now + pause, given_up_at),
            state=WebhookState.DISABLED if is_over else WebhookState.ACTIVE,
            is_untold=is_over and self._mailer.is_ready,
        )
        state = DeliveryState.FAILED if is_over else DeliveryState.RETRYING

        async def work(library: Writable) -> bool:
            done = _after(delivery, attempt, state, now)
            await self._stores.webhooks.put_delivery(library, done, DELIVERIES_KEPT)
            if not await self._stores.webhooks.fail(library, failed, now) or not is_over:
                return False
            entry = activity.entry(self._clock, ActivityKind.WEBHOOK_DISABLED, host_of(hook.url))
            await self._stores.activity.add(library, entry)
            return True

        if await self._transact(account_id, work):
            self._log.info("webhook disabled", account=account_id, webhook=hook.webhook_id)
            if failed.is_untold:
                await self._tell(account, failed)

    async def _put(self, account: Account, done: Delivery) -> None:
        await self._transact(
            account.account_id,
            lambda library: self._stores.webhooks.put_delivery(library, done, DELIVERIES_KEPT),
        )

    async def _tell(self, account: Account, hook: Webhook) -> None:
        """Sends the email that a webhook was disabled. The page says so in any case."""
        account_id, now = account.account_id, self._clock()
        member = await self._stores.accounts.membership(account_id)
        is_untold = False
        if member is not None and member.email:
            try:
                await self._mailer.send(_email(member.email, hook, self._site_origin))
            except MailDeferred:
                is_untold = now < (hook.failing_since or now) + GIVEN_UP_AFTER + _MAIL_FOR
            except (MailOutcomeUnknown, MailRefused) as problem:
                self._log.warning("webhook email not sent", account=account_id, reason=str(problem))

        await self._transact(
            account_id,
            lambda library: self._stores.webhooks.set_untold(
                library, hook.webhook_id, is_untold=is_untold, next_try_at=now + _MAIL_PAUSE
            ),
        )


async def _all(works: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Their results, once all have ended. An error of one is raised then."""
    results = await asyncio.gather(*works, return_exceptions=True)
    done: list[T] = []
    for one in results:
        if isinstance(one, BaseException):
            raise one
        done.append(one)
    return done


def _after(delivery: Delivery, attempt: "Attempt", state: DeliveryState, tried_at: int) -> Delivery:
    return msgspec.structs.replace(
        delivery,
        state=state,
        # What was stored is added.
        tries=1,
        tried_at=tried_at,
        took_ms=attempt.took_ms,
        status=attempt.status,
        answer=attempt.answer,
        problem=attempt.problem,
    )


def _is_same(found: Webhook, hook: Webhook) -> bool:
    """Whether the events that were read are still those that it wants."""
    names = ("url", "events", "tag", "query", "state")
    return all(getattr(found, name) == getattr(hook, name) for name in names)


def _email(to: str, hook: Webhook, site_origin: str) -> Email:
    host = host_of(hook.url)
    return Email(
        to=to,
        subject=f"The webhook to {host} was turned off",
        text=(
            f"Bowerbird could not deliver messages to your webhook at {host}, so it was turned "
            f"off.\n\nThe reason: {hook.problem}\n\nNothing is lost. Once the address works again, "
            f"turn the webhook on: {site_origin}/webhooks\n"
        ),
        headers={"Auto-Submitted": "auto-generated"},
    )


def _new_sender(settings: Settings) -> "Sender":
    from bowerbird.library.webhooks.sending import Sender  # noqa: PLC0415 - imports httpx2

    return Sender.of(settings)
