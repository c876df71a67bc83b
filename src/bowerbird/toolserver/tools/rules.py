"""The tools that list, create, change and delete rules."""

from typing import Annotated, ClassVar, Final

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from bowerbird.assembly import Services
from bowerbird.library.access import plans
from bowerbird.library.rules.rules import RuleResponse, shown
from bowerbird.library.webhooks.webhooks import host_of
from bowerbird.model.accounts import Account
from bowerbird.model.rules import Rule
from bowerbird.requests import limits
from bowerbird.requests.fields import about
from bowerbird.requests.rules import (
    Actions,
    IsOn,
    Label,
    Name,
    NearLabel,
    NewRule,
    NewRuleQuery,
    Place,
    RuleChange,
    Trigger,
)
from bowerbird.toolserver.tools import binding, vocabulary
from bowerbird.toolserver.tools.results import quoted_text, response_size
from bowerbird.toolserver.tools.tool import (
    DESTROYS,
    READS,
    WRITES,
    BoundTool,
    Json,
    NoArguments,
    Tool,
)

RuleId = Annotated[
    Annotated[str, Meta(max_length=limits.SENT_SLUG_MAX)], about("Id from list_rules.")
]


Matches = Annotated[
    Annotated[str, Meta(max_length=limits.TEXT_MAX)] | None,
    about("The posts, as query of search_bookmarks. Without it, every post."),
]


class CreateRuleArguments(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    # There is little room for the list of tools.
    UNLISTED: ClassVar = ("near_label", "idempotency_key")

    name: Name
    when: Trigger
    actions: Actions
    label_name: Label = None
    near_label: NearLabel = None
    matches: Matches = None
    idempotency_key: binding.IdempotencyKey = None

    def __post_init__(self) -> None:
        _ = self.request

    @property
    def request(self) -> NewRule:
        return NewRule(
            name=self.name,
            when=self.when,
            actions=self.actions,
            label_name=self.label_name,
            near_label=self.near_label,
            query=_query(self.matches),
        )


class UpdateRuleArguments(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    # Accepted, but create_rule describes them: the list of tools has to stay short.
    UNLISTED: ClassVar = ("name", "actions", "matches", "idempotency_key")

    rule_id: RuleId
    name: Name | UnsetType = UNSET
    is_on: IsOn | UnsetType = UNSET
    position: Place = UNSET
    actions: Actions | UnsetType = UNSET
    matches: Matches | UnsetType = UNSET
    idempotency_key: binding.IdempotencyKey = None

    def __post_init__(self) -> None:
        _ = self.request

    @property
    def request(self) -> RuleChange:
        return RuleChange(
            name=self.name,
            is_on=self.is_on,
            position=self.position,
            actions=self.actions,
            query=UNSET if self.matches is UNSET else _query(self.matches),
        )


def _query(matches: str | None) -> NewRuleQuery | None:
    return NewRuleQuery(q=matches) if matches else None


class DeleteRuleArguments(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    rule_id: RuleId


class ShownRule(Struct, kw_only=True, omit_defaults=True):
    rule_id: str
    name: str
    when: str
    query: Json
    actions: list[Json]
    position: int
    is_on: bool
    fired: int
    label_name: str | None = None
    near_label: str | None = None
    notice: str | None = None
    last_fired_at: str | None = None


class RuleList(Struct, kw_only=True, omit_defaults=True):
    rules: list[Json]
    webhooks: list[Json] = []
    truncated: bool = False
    advice: str = ""


LIST: Final = Tool(
    name="list_rules",
    title="List rules",
    description=(
        "Lists the user's rules in their order, how often they fired, and webhooks for them."
    ),
    returns=RuleList,
    hints=READS,
)
CREATE: Final = Tool(
    name="create_rule",
    title="Create a rule",
    description=(
        "Creates a rule that changes posts by itself from now on. Each change can be undone for "
        "an hour."
    ),
    takes=CreateRuleArguments,
    returns=ShownRule,
    hints=WRITES,
)
UPDATE: Final = Tool(
    name="update_rule",
    title="Change a rule",
    description=(
        "Changes a rule's name or place, or turns it on or off. Takes actions and matches as "
        "create_rule does."
    ),
    takes=UpdateRuleArguments,
    returns=ShownRule,
    hints=DESTROYS,
)
DELETE: Final = Tool(
    name="delete_rule",
    title="Delete a rule",
    description="Deletes a rule and returns it. What it did to posts stays as it is.",
    takes=DeleteRuleArguments,
    returns=ShownRule,
    hints=DESTROYS,
)


def bind(services: Services) -> list[BoundTool]:
    rules, gate = services.rules, plans.check_rules

    async def list_rules(account: Account, _: NoArguments) -> RuleList:
        hooks = await services.webhooks.all(account)
        found = [msgspec.to_builtins(_content(rule)) for rule in await rules.all(account)]
        fitted = response_size.fit(found, response_size.RECORDS_BYTES)
        advice = "" if found else "There is no rule yet. create_rule creates one."
        if not fitted.is_all:
            advice = f"Only the first {len(fitted.records)} of {len(found)} rules fit."
        return RuleList(
            rules=fitted.records,
            webhooks=[{"webhook_id": one.id, "host": host_of(one.url)} for one in hooks],
            truncated=not fitted.is_complete,
            advice=advice,
        )

    return [
        binding.reads(LIST, list_rules),
        *(
            binding.writes(services, tool, change, gate=gate, given=given, shown=_content)
            for tool, change, given in (
                (CREATE, rules.create, lambda sent: (sent.request,)),
                (UPDATE, rules.update, lambda sent: (sent.rule_id, sent.request)),
                (DELETE, rules.delete, lambda sent: (sent.rule_id,)),
            )
        ),
    ]


def _content(rule: Rule) -> ShownRule:
    response: RuleResponse = shown(rule)
    fields: Json = msgspec.to_builtins(response)
    fields["name"] = quoted_text.shown_text(response.name)
    fields["query"] = vocabulary.in_published_words(response.query)
    kept = {name: fields[name] for name in ShownRule.__struct_fields__}
    return msgspec.convert(kept, ShownRule)
