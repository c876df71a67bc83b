"""/v1/rules: what should happen by itself to posts that match a query."""

from collections.abc import Awaitable
from typing import Final

from bowerbird.errors import Code, Refusal
from bowerbird.library.access import plans
from bowerbird.library.bulk.requests import BulkChange
from bowerbird.library.bulk.requests import shown as change_shown
from bowerbird.library.rules.past import Prepared, RulePreviewed
from bowerbird.library.rules.rules import (
    RuleLogResponse,
    RuleResponse,
    shown,
    shown_log,
)
from bowerbird.model.accounts import Account
from bowerbird.model.rules import Rule
from bowerbird.requests.filters import sent
from bowerbird.requests.rules import NewRule, RuleApplication, RuleChange, RulePreview
from bowerbird.rest.serving import Rest
from bowerbird.storage.database import Transaction
from bowerbird.wire.responses.replies import Reply, State, state_of
from bowerbird.wire.routes import ApiRoute, Operation
from bowerbird.wire.writes import created, current_of, done, result_of, what_was_prepared

_CREATED: Final = 201
_ONE: Final = "/v1/rules/{rule_id}"
LIST: Final = Operation(
    route="GET /v1/rules",
    name="listRules",
    summary="List the account's rules in the order in which they run.",
    data=RuleResponse,
    is_many=True,
    # What a rule has done changes without a new version of the library.
    is_tagged=False,
)
CREATE: Final = Operation(
    route="POST /v1/rules",
    name="createRule",
    summary="Create a rule. It runs for what happens from now on.",
    data=RuleResponse,
    body=NewRule,
    statuses=(_CREATED,),
    refusals=(Code.SUBSCRIPTION_REQUIRED, Code.FILTER_NOT_ALLOWED),
)
LOG: Final = Operation(
    route="GET /v1/rules/log",
    name="listRuleLog",
    summary="List what the rules have done, the latest first: up to 200 entries.",
    data=RuleLogResponse,
    is_many=True,
    is_tagged=False,
)
PREVIEW: Final = Operation(
    route="POST /v1/rules/preview",
    name="previewRule",
    summary="Count the bookmarks that a rule with this query would have matched, and show some.",
    data=RulePreviewed,
    body=RulePreview,
    refusals=(Code.SUBSCRIPTION_REQUIRED, Code.FILTER_NOT_ALLOWED),
)
GET: Final = Operation(
    route=f"GET {_ONE}",
    name="getRule",
    summary="Get one rule.",
    data=RuleResponse,
    is_conditional=True,
)
UPDATE: Final = Operation(
    route=f"PATCH {_ONE}",
    name="updateRule",
    summary="Change a rule, its place in the order, or whether it is on.",
    data=RuleResponse,
    body=RuleChange,
    is_conditional=True,
    refusals=(Code.SUBSCRIPTION_REQUIRED, Code.FILTER_NOT_ALLOWED),
)
DELETE: Final = Operation(
    route=f"DELETE {_ONE}",
    name="deleteRule",
    summary="Delete a rule. What it has done stays.",
    data=RuleResponse,
    is_conditional=True,
    refusals=(Code.SUBSCRIPTION_REQUIRED,),
)
APPLY: Final = Operation(
    route=f"POST {_ONE}/apply",
    name="applyRule",
    summary="Apply a rule to every bookmark that matches now: a change with an undo per action.",
    data=BulkChange,
    is_many=True,
    body=RuleApplication,
    refusals=(Code.SUBSCRIPTION_REQUIRED, Code.COUNT_MISMATCH),
)


def routes(rest: Rest) -> list[ApiRoute]:
    rules, past, gate = rest.services.rules, rest.services.rule_past, plans.check_rules

    def new(rule: Rule) -> Reply:
        return created(shown(rule), f"/v1/rules/{rule.rule_id}")

    def changed(rule: Rule) -> Reply:
        return done(shown(rule))

    def find(account: Account, request: RulePreview) -> Awaitable[RulePreviewed | Refusal]:
        query = {} if request.query is None else sent(request.query)
        asked = (query, request.when, request.label_name, request.near_label)
        return result_of(past.preview(account, *asked))

    def prepare(
        account: Account, rule_id: str, request: RuleApplication
    ) -> Awaitable[Prepared | Refusal]:
        return result_of(past.prepare(account, rule_id, request.expected_count))

    async def apply(
        transaction: Transaction, account: Account, _: str, __: RuleApplication, prepared: Prepared
    ) -> list[BulkChange]:
        return [change_shown(row) for row in await past.start(transaction, account, prepared)]

    current = current_of(rules.find, _state, gate)
    return [
        rest.read(LIST, rules.all, data=lambda found: list(map(shown, found))),
        rest.read(LOG, rules.log, data=lambda found: list(map(shown_log, found))),
        rest.read(GET, rules.find, data=shown, state=_state),
        rest.write(CREATE, rules.create, gate, reply=new),
        rest.write(UPDATE, rules.update, gate, reply=changed, current=current),
        rest.write(DELETE, rules.delete, reply=changed, current=current),
        rest.write(PREVIEW, what_was_prepared, gate, prepare=find),
        rest.write(APPLY, apply, gate, prepare=prepare, after=rest.wake),
    ]


def _state(rule: Rule) -> State:
    """Without what it has done."""
    stored = (rule.name, rule.body, rule.position, rule.is_on, rule.notice)
    return state_of(stored, rule.updated_at)
