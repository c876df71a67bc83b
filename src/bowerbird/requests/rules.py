"""Requests that read, create and change rules and webhooks."""

from collections.abc import Sequence
from typing import Annotated, ClassVar, Final

from msgspec import UNSET, Meta, Struct, UnsetType

from bowerbird import errors
from bowerbird.model.events import TYPES
from bowerbird.model.labels import clean_name
from bowerbird.model.rules import CHANGING, LABELLING, Do, When
from bowerbird.requests import limits
from bowerbird.requests.bookmarks import Limit
from bowerbird.requests.bulk import ExpectedCount
from bowerbird.requests.fields import VISIBLE, InvalidField, LabelName, ViewName, about
from bowerbird.requests.filters import WordFilters, check_filters


class RuleQuery(WordFilters, frozen=True, kw_only=True):
    """A query that a rule has stored. Without any filter, every post matches."""

    DEFAULTS: ClassVar[dict[str, bool]] = {"is_unread_only": False, "hide_archived": False}


class NewRuleQuery(RuleQuery, frozen=True, kw_only=True):
    def __post_init__(self) -> None:
        super().__post_init__()
        check_filters(self)


class NewAction(Struct, frozen=True, forbid_unknown_fields=True):
    do: Annotated[
        Do,
        about(
            "What to do. star adds the favourite label; send_to_webhook sends the post to a "
            "webhook; stop leaves it to no further rule.",
            "add_label",
            argument={
                "type": "string",
                "description": "star adds the favourite label; stop: no further rule.",
            },
        ),
    ]
    label_name: Annotated[
        LabelName | None,
        about(
            "The label that add_label or remove_label changes.",
            "birds",
            argument={"description": "Of add_label or remove_label."},
        ),
    ] = None
    webhook_id: Annotated[
        Annotated[str, Meta(min_length=1, max_length=limits.SENT_SLUG_MAX)] | None,
        about(
            "The webhook that send_to_webhook sends to.",
            "5f0c9a7be01d4c3389aa01bc",
            argument={"description": "Of send_to_webhook."},
        ),
    ] = None

    def __post_init__(self) -> None:
        self._check("label_name", is_needed=self.do in LABELLING)
        self._check("webhook_id", is_needed=self.do is Do.SEND)

    def _check(self, name: str, *, is_needed: bool) -> None:
        if is_needed != (getattr(self, name) is not None):
            problem = "is required" if is_needed else "has no meaning"
            raise InvalidField(name, f"{problem} for {self.do.value}")


Name = Annotated[ViewName, about("The rule's name for people.", "Birds")]
Trigger = Annotated[
    When,
    about(
        "When it runs: for a post that arrives, that gets a label, that is saved again, or every "
        "night for the whole library.",
        "arrives",
        argument={"type": "string", "description": "When it runs."},
    ),
]
Label = Annotated[LabelName | None, about("With labelled: only for this label.", "recipes")]
NearLabel = Annotated[
    LabelName | None,
    about(
        "Only posts that this label of yours is suggested for: posts with it are near in meaning, "
        "or by the author, or they have its name.",
        "birds",
    ),
]
Filters = Annotated[
    NewRuleQuery | None,
    about(
        "Filters of the list by name; the posts that it is for. Without any, every post.",
        {"q": "bower*"},
        argument={"type": "object", "description": "As filters of change_bookmarks."},
    ),
]
Actions = Annotated[
    Annotated[list[NewAction], Meta(min_length=1, max_length=limits.RULE_ACTIONS_MAX)],
    about("What it does to these posts.", [{"do": "add_label", "label_name": "birds"}]),
]
Place = Annotated[
    Annotated[int, Meta(ge=1, le=limits.RULES_MAX)] | UnsetType,
    about(
        "Place in the order in which rules run, from 1. A larger number is the last.",
        argument={"description": "Place in the order, from 1."},
    ),
]
IsOn = Annotated[bool, about("Whether it runs. Default: true.")]


class NewRule(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """POST /rules."""

    name: Name
    when: Trigger
    actions: Actions
    label_name: Label = None
    near_label: NearLabel = None
    query: Filters = None
    position: Place = UNSET
    is_on: IsOn = True

    def __post_init__(self) -> None:
        _check_name(self.name)
        check_trigger(self.when, self.label_name, self.near_label)
        check_sending(self.when, [one.do for one in self.actions])


class RuleChange(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """PATCH /rules/{rule_id}: the fields that are sent replace the old ones."""

    name: Name | UnsetType = UNSET
    when: Trigger | UnsetType = UNSET
    actions: Actions | UnsetType = UNSET
    label_name: Label | UnsetType = UNSET
    near_label: NearLabel | UnsetType = UNSET
    query: Filters | UnsetType = UNSET
    position: Place = UNSET
    is_on: IsOn | UnsetType = UNSET

    def __post_init__(self) -> None:
        if self.name is not UNSET:
            _check_name(self.name)


class RulePreview(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """POST /rules/preview: which posts of the library a query matches."""

    query: Filters = None
    when: Annotated[When | None, about("When the rule runs.", "labelled")] = None
    label_name: Label = None
    near_label: NearLabel = None

    def __post_init__(self) -> None:
        if self.when is not None:
            check_trigger(self.when, self.label_name, self.near_label)


class RuleApplication(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """POST /rules/{rule_id}/apply."""

    expected_count: ExpectedCount = None


def _check_name(name: str) -> None:
    if clean_name(name, limits.VIEW_NAME_MAX) is None:
        raise InvalidField("name", VISIBLE)


def check_trigger(when: When, label_name: str | None, near_label: str | None) -> None:
    if label_name is not None and when is not When.LABELLED:
        raise InvalidField("label_name", f"has no meaning for {when.value}")
    if near_label is not None and when is When.NIGHTLY:
        raise InvalidField("near_label", "is for posts that arrive, are labelled or saved again")


def check_sending(when: When, actions: Sequence[Do]) -> None:
    """A post must not be sent again every night."""
    if when is When.NIGHTLY and Do.SEND in actions and CHANGING.isdisjoint(actions):
        problem = "with nightly, send_to_webhook needs an action that changes the post too"
        raise InvalidField("actions", problem)


FLAGS: Final = RuleQuery.DEFAULTS


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

_Url = Annotated[str, Meta(min_length=1, max_length=limits.WEBHOOK_URL_MAX)]
_Types = Annotated[list[str], Meta(max_length=len(TYPES))]
_TagName = Annotated[str, Meta(max_length=limits.LABEL_NAME_MAX)]
_Words = Annotated[str, Meta(max_length=limits.TEXT_MAX)]


class NewWebhook(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """POST /webhooks."""

    url: Annotated[_Url, _URL]
    events: Annotated[_Types | None, _EVENTS] = None
    tag: Annotated[_TagName | None, _TAG] = None
    q: Annotated[_Words | None, _Q] = None

    def __post_init__(self) -> None:
        _check_events(self.events)


class WebhookChange(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """PATCH /webhooks/{webhook_id}: the fields that are sent replace the old ones."""

    url: Annotated[_Url | UnsetType, _URL] = UNSET
    events: Annotated[_Types | UnsetType | None, _EVENTS] = UNSET
    tag: Annotated[_TagName | UnsetType | None, _TAG] = UNSET
    q: Annotated[_Words | UnsetType | None, _Q] = UNSET
    is_active: Annotated[
        bool | UnsetType,
        about(
            "false: nothing is sent until it is true again. true also turns on a webhook that the "
            "service has disabled. Then what happened in between is sent."
        ),
    ] = UNSET

    def __post_init__(self) -> None:
        _check_events(self.events)


class DeliveriesQuery(Struct, frozen=True):
    """GET /webhooks/{webhook_id}/deliveries."""

    limit: Limit = None


def _check_events(events: Sequence[str] | UnsetType | None) -> None:
    for one in events or ():
        if one not in TYPES:
            accepted = ", ".join(TYPES)
            raise InvalidField("events", f"no event {errors.shown(one)}; accepted: {accepted}")
