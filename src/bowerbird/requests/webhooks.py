"""Requests that add, change and list webhooks."""

from collections.abc import Sequence
from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from bowerbird import errors
from bowerbird.model.events import TYPES
from bowerbird.requests import limits
from bowerbird.requests.bookmarks import Limit
from bowerbird.requests.fields import InvalidField, about

_URL = about("Where messages are sent: https, at a public address.", "https://hooks.example.com/b")
_EVENTS = about(
    "Types of the events to send, as GET /v1/changes names them. Empty for all.",
    ["post.created", "post.labelled"],
    nullable=True,
)
_TAG = about(
    "Only events of posts with this label, and of the label itself.", "Birds", nullable=True
)
_Q = about("Only events of posts that match this query, as q of the list.", "bower*", nullable=True)

Url = Annotated[str, Meta(min_length=1, max_length=limits.WEBHOOK_URL_MAX)]
Types = Annotated[list[str], Meta(max_length=len(TYPES))]
Name = Annotated[str, Meta(max_length=limits.LABEL_NAME_MAX)]
Words = Annotated[str, Meta(max_length=limits.TEXT_MAX)]


class NewWebhook(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """POST /webhooks."""

    url: Annotated[Url, _URL]
    events: Annotated[Types | None, _EVENTS] = None
    tag: Annotated[Name | None, _TAG] = None
    q: Annotated[Words | None, _Q] = None

    def __post_init__(self) -> None:
        _check_types(self.events)


class WebhookChange(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """PATCH /webhooks/{webhook_id}: the fields that are sent replace the old ones."""

    url: Annotated[Url | UnsetType, _URL] = UNSET
    events: Annotated[Types | UnsetType | None, _EVENTS] = UNSET
    tag: Annotated[Name | UnsetType | None, _TAG] = UNSET
    q: Annotated[Words | UnsetType | None, _Q] = UNSET
    is_active: Annotated[
        bool | UnsetType,
        about(
            "false: nothing is sent until it is true again. true also turns on a webhook that the "
            "service has disabled. Then what happened in between is sent."
        ),
    ] = UNSET

    def __post_init__(self) -> None:
        _check_types(self.events)


class DeliveriesQuery(Struct, frozen=True):
    """GET /webhooks/{webhook_id}/deliveries."""

    limit: Limit = None


def _check_types(events: Sequence[str] | UnsetType | None) -> None:
    for one in events or ():
        if one not in TYPES:
            accepted = ", ".join(TYPES)
            raise InvalidField("events", f"no event {errors.shown(one)}; accepted: {accepted}")
