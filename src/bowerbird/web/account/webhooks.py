"""The page of webhooks: adds, tests, pauses and removes them, and shows what was sent."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final, NamedTuple

import msgspec

from bowerbird.assembly import Services
from bowerbird.errors import Code, Refusal
from bowerbird.library.webhooks.webhooks import DeliveryResponse, WebhookResponse, host_of
from bowerbird.model.events import TYPES, DeliveryState, EventType, WebhookState
from bowerbird.requests import limits
from bowerbird.requests.rules import NewWebhook, WebhookChange
from bowerbird.web.visits.formats import Times
from bowerbird.web.visits.pages import VisitPages
from bowerbird.web.visits.router import Access, PageRoute
from bowerbird.web.visits.visit import Visit
from bowerbird.wire.responses.replies import Reply

PATH: Final = "/webhooks"
_BACK: Final = (PATH, "Back to your webhooks")
_SHOWN: Final = 20


class Group(NamedTuple):
    """Types of events that a person chooses together."""

    name: str
    text: str
    types: Sequence[EventType]
    is_first_choice: bool


GROUPS: Final = (
    Group("saved", "saved", (EventType.POST_CREATED,), is_first_choice=True),
    Group(
        "labelled",
        "labelled or unlabelled",
        (EventType.POST_LABELLED, EventType.POST_UNLABELLED),
        is_first_choice=True,
    ),
    Group(
        "read",
        "read or archived",
        (
            *(EventType.POST_READ, EventType.POST_UNREAD),
            *(EventType.POST_ARCHIVED, EventType.POST_UNARCHIVED),
        ),
        is_first_choice=False,
    ),
    Group(
        "changed",
        "highlighted, noted or filled in later",
        (EventType.POST_CHANGED,),
        is_first_choice=True,
    ),
    Group(
        "deleted",
        "deleted or restored",
        (EventType.POST_DELETED, EventType.POST_RESTORED, EventType.POST_PURGED),
        is_first_choice=False,
    ),
    Group(
        "lists",
        "and when a label or a view changes",
        tuple(one for one in TYPES if not one.startswith("post.")),
        is_first_choice=False,
    ),
)
_WORDS: Final = {EventType.POST_CREATED.value: "Post saved"}
_STATES: Final = {
    DeliveryState.WAITING: "being sent",
    DeliveryState.RETRYING: "tried again later",
    DeliveryState.DELIVERED: "",
    DeliveryState.FAILED: "",
}


class WebhookPages:
    def __init__(self, services: Services, pages: VisitPages) -> None:
        self._write = services.write
        self._webhooks = services.webhooks
        self._pages = pages

    def routes(self) -> list[PageRoute]:
        hooks = self._webhooks
        changes = {
            "pause": self._change(hooks.change, WebhookChange(is_active=False)),
            "resume": self._change(hooks.change, WebhookChange(is_active=True)),
            "remove": self._change(hooks.delete),
        }
        return [
            PageRoute("GET", PATH, self.shown),
            PageRoute("POST", PATH, self.add, Access.PROVED, PATH, again=self.shown, is_once=True),
            PageRoute(
                *("POST", f"{PATH}/secret", self.rotate, Access.PROVED, PATH, _BACK), is_once=True
            ),
            PageRoute("POST", f"{PATH}/test", self.test, page=PATH, back=_BACK),
            *(
                PageRoute(
                    *("POST", f"{PATH}/{name}", make),
                    page=PATH,
                    back=_BACK,
                    done=f"{PATH}?said=webhook-{name}d",
                )
                for name, make in changes.items()
            ),
            PageRoute("POST", f"{PATH}/again", self.send_again, page=PATH, back=_BACK),
            PageRoute("GET", f"{PATH}/{{webhook_id}}/{{message_id}}", self.message),
        ]

    async def shown(self, visit: Visit, *, new: WebhookResponse | None = None) -> Reply:
        account, times = visit.account, visit.times
        hooks = await self._webhooks.all(account)
        hosts = {one.id: host_of(one.url) for one in hooks}
        typed = visit.form if visit.refused else None
        error = visit.problem.removeprefix("url: ")
        return self._pages.show(
            visit,
            "webhooks.html",
            secret=new.secret if new else "",
            secret_of=host_of(new.url) if new else "",
            hooks=[
                (one, _state(one, times), _kind(one), _chosen_words(one.events)) for one in hooks
            ],
            messages=[
                (one, _title(one.type), hosts.get(one.webhook_id, ""), _STATES[one.state])
                for one in await self._webhooks.latest(account, _SHOWN)
            ],
            groups=[(one.name, one.text, _is_chosen(one, typed)) for one in GROUPS],
            typed=typed or {},
            error=error[:1].upper() + error[1:],
            problem="",
            is_free=account.is_free,
            has_room=len(hooks) < limits.WEBHOOKS_MAX,
            most=limits.WEBHOOKS_MAX,
        )

    async def add(self, visit: Visit) -> Reply:
        form, account = visit.form, visit.account
        chosen = [one for one in GROUPS if form.get(one.name)]
        types = [type.value for one in chosen for type in one.types]
        request = NewWebhook(
            url=form.get("url", "").strip(),
            events=None if len(chosen) == len(GROUPS) else types,
            tag=form.get("tag") or None,
            q=form.get("q") or None,
        )
        if not chosen:
            raise Refusal(Code.INVALID_REQUEST, "Choose at least one event.")
        _check_lengths(request)
        new = await self._write(account, self._webhooks.create, request)
        # Not after a redirect: the secret would have to be kept until then.
        return await self.shown(visit, new=new)

    async def rotate(self, visit: Visit) -> Reply:
        account, webhook_id = visit.account, visit.sent("webhook")
        new = await self._write(account, self._webhooks.rotate, webhook_id)
        return await self.shown(visit, new=new)

    async def test(self, visit: Visit) -> Reply:
        account, webhook_id = visit.account, visit.sent("webhook")
        return await self._sent(
            visit, webhook_id, self._write(account, self._webhooks.test, webhook_id)
        )

    async def send_again(self, visit: Visit) -> Reply:
        account, webhook_id = visit.account, visit.sent("webhook")
        message_id = visit.sent("message")
        change = self._write(account, self._webhooks.send_again, webhook_id, message_id)
        return await self._sent(visit, webhook_id, change)

    async def message(self, visit: Visit) -> Reply:
        account, path = visit.account, visit.request.path_params
        hook = self._webhooks.shown(await self._webhooks.find(account, path["webhook_id"]))
        found = await self._webhooks.delivery(account, hook.id, path["message_id"])
        return self._pages.show(
            visit,
            "webhook_message.html",
            host=host_of(hook.url),
            webhook=hook.id,
            answered=found,
            what=_title(found.type),
            state=_STATES[found.state] or found.state.value,
            sent=msgspec.json.format(msgspec.json.encode(found.message), indent=2).decode(),
        )

    async def _sent(
        self, visit: Visit, webhook_id: str, sending: Awaitable[DeliveryResponse]
    ) -> Reply:
        account, sent = visit.account, await sending
        settled = await self._webhooks.settled_soon(account, webhook_id, sent.id)
        state = DeliveryState.WAITING if settled is None else settled.state
        return self._pages.go(f"{PATH}?said=webhook-{state}")

    def _change(
        self, method: Callable[..., Awaitable[object]], *more: object
    ) -> Callable[[Visit], Awaitable[object]]:
        return lambda visit: self._write(visit.account, method, visit.sent("webhook"), *more)


def _is_chosen(group: Group, typed: Mapping[str, str] | None) -> bool:
    return group.is_first_choice if typed is None else bool(typed.get(group.name))


def _check_lengths(request: NewWebhook) -> None:
    """A form is not decoded as a body is, which has these bounds in its types."""
    for name, text, most in (
        ("The address", request.url, limits.WEBHOOK_URL_MAX),
        ("The label", request.tag, limits.LABEL_NAME_MAX),
        ("The query", request.q, limits.TEXT_MAX),
    ):
        if text and len(text) > most:
            raise Refusal(Code.INVALID_REQUEST, f"{name} has more than {most:,} characters.")


def _state(hook: WebhookResponse, times: Times) -> str:
    if hook.state is WebhookState.ACTIVE:
        since = times.moment_of(hook.failing_since)
        return f"failing since {since.inline}" if since else "working"
    return "turned off" if hook.state is WebhookState.DISABLED else "paused"


def _kind(hook: WebhookResponse) -> str:
    if hook.state is WebhookState.PAUSED:
        return "hold"
    return "err" if hook.problem else "on"


def _chosen_words(types: Sequence[str]) -> str:
    """The groups, and types that are not a whole group."""
    if not types:
        return "Everything that happens"
    whole = [one for one in GROUPS if set(one.types) <= set(types)]
    grouped = {type.value for one in whole for type in one.types}
    words = [one.text for one in whole] + [one for one in types if one not in grouped]
    text = ", ".join(words)
    return text[:1].upper() + text[1:]


def _title(type: str) -> str:
    return _WORDS.get(type, type.replace(".", " ").capitalize())
