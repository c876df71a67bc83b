"""/v1/rules: what should happen by itself to posts that match a query."""

from collections.abc import Awaitable, Callable
from typing import Final

from bowerbird.errors import Code, Refusal
from bowerbird.library.access import plans
from bowerbird.library.bulk.requests import BulkChange
from bowerbird.library.bulk.requests import shown as change_shown
from bowerbird.library.rules.past import Prepared, RulePast, RulePreviewed
from bowerbird.library.rules.rules import (
    RuleLogResponse,
    RuleResponse,
    Rules,
    shown,
    shown_log,
)
from bowerbird.model.rules import Rule
from bowerbird.requests.filters import sent
from bowerbird.requests.rules import NewRule, RuleApplication, RuleChange, RulePreview
from bowerbird.storage.database import Transaction
from bowerbird.wire.reads import Read
from bowerbird.wire.responses.answer_cache import AnswerCache
from bowerbird.wire.responses.replies import Reply, State, state_of
from bowerbird.wire.routes import ApiRoute, Call, Operation
from bowerbird.wire.writes import Writes, created, current_of, done, result_of

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


def routes(rules: Rules, answers: AnswerCache) -> list[ApiRoute]:
    listed = Read(rules.all, data=lambda found: list(map(shown, found)))
    log = Read(rules.log, data=lambda found: list(map(shown_log, found)))
    one = Read(rules.find, data=shown)
    return [
        LIST.served_by(listed.plain),
        LOG.served_by(log.plain),
        GET.served_by(one.tagged(answers, _state)),
    ]


def write_routes(rules: Rules, writes: Writes) -> list[ApiRoute]:
    gate = plans.check_rules

    def new(rule: Rule) -> Reply:
        return created(shown(rule), f"/v1/rules/{rule.rule_id}")

    def changed(rule: Rule) -> Reply:
        return done(shown(rule))

    current = current_of(rules.find, _state, gate)
    return [
        CREATE.served_by(writes.of(rules.create, NewRule, gate, reply=new)),
        UPDATE.served_by(writes.of(rules.update, RuleChange, gate, reply=changed, current=current)),
        DELETE.served_by(writes.of(rules.delete, reply=changed, current=current)),
    ]


def _state(rule: Rule) -> State:
    """Without what it has done."""
    stored = (rule.name, rule.body, rule.position, rule.is_on, rule.notice)
    return state_of(stored, rule.updated_at)


def past_routes(past: RulePast, writes: Writes, wake: Callable[[], None]) -> list[ApiRoute]:
    """`wake` is called once changes are committed, for a worker in the same process."""
    gate = plans.check_rules

    def find(call: Call, request: RulePreview) -> Awaitable[RulePreviewed | Refusal]:
        query = {} if request.query is None else sent(request.query)
        asked = (query, request.when, request.label_name, request.near_label)
        return result_of(past.preview(call.account, *asked))

    async def preview(*given: object) -> Reply:
        return done(given[-1])

    def prepare(call: Call, request: RuleApplication) -> Awaitable[Prepared | Refusal]:
        rule_id, expected = call.path_params["rule_id"], request.expected_count
        return result_of(past.prepare(call.account, rule_id, expected))

    async def apply(
        transaction: Transaction, call: Call, _: RuleApplication, prepared: Prepared
    ) -> Reply:
        rows = await past.start(transaction, call.account, prepared)
        return done([change_shown(row) for row in rows])

    applying = writes.handler(
        *(apply, RuleApplication, gate), prepare=prepare, after=lambda _: wake()
    )
    return [
        PREVIEW.served_by(writes.handler(preview, RulePreview, gate, prepare=find)),
        APPLY.served_by(applying),
    ]
