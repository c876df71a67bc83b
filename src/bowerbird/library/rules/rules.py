"""The rules of an account: reads, creates, changes, orders and deletes them."""

import secrets
from collections.abc import Sequence
from typing import Any, Final

import msgspec
from msgspec import UNSET, Struct

from bowerbird import errors
from bowerbird.errors import Refusal
from bowerbird.library.access import activity, plans
from bowerbird.model.accounts import Account, ActivityKind
from bowerbird.model.bulk import PostField, ValueKind, value_key
from bowerbird.model.instants import instant_of, local_day, with_offset
from bowerbird.model.labels import Query
from bowerbird.model.rules import Action, Body, Logged, Rule, RuleState, When
from bowerbird.requests import limits
from bowerbird.requests.fields import InvalidField
from bowerbird.requests.filters import sent
from bowerbird.requests.rules import NewRule, RuleChange, check_sending, check_trigger
from bowerbird.storage.database import Readable, Reader, Transaction, Writable
from bowerbird.storage.libraries import LockedLibrary
from bowerbird.storage.stores import TimedService

_ID_BYTES: Final = 12
_NIGHT_HOUR: Final = 3


class RuleResponse(Struct, frozen=True, kw_only=True):
    """A rule as its account sees it."""

    rule_id: str
    """Identifier of the rule."""
    name: str
    """Its name for people."""
    when: When
    """When it runs."""
    label_name: str | None
    """With labelled: the label that it is about, or null for every label."""
    near_label: str | None
    """The label that posts must be near, or null."""
    query: Query
    """Filters of the list by name: the posts that it is for."""
    actions: Sequence[Action]
    """What it does to these posts."""
    position: int
    """Place in the order in which rules run, from 1."""
    is_on: bool
    """Whether it runs."""
    notice: str | None
    """Why it was switched off by itself, or null."""
    fired: int
    """How many posts it has changed or sent."""
    last_fired_at: str | None
    """When it last changed a post, or null."""
    created_at: str
    """When it was created: ISO 8601 with an offset."""
    updated_at: str
    """When it was last changed by a person or a program."""


class RuleLogResponse(Struct, frozen=True, kw_only=True):
    """Something that a rule has done."""

    rule_id: str
    """Identifier of the rule, which may be deleted by now."""
    name: str
    """The name of the rule at that time."""
    at: str
    """When it happened."""
    posts: int
    """Number of posts that it has changed or sent."""
    sent: int
    """Number of posts that it has sent to webhooks."""
    change_ids: list[str]
    """Its changes, for their progress and undo."""
    problem: str | None
    """Why it failed, or null."""
    is_of_past: bool
    """Whether it was applied to posts that were there before."""


class Rules(TimedService):
    async def all(self, account: Account) -> list[Rule]:
        return await self._stores.rules.all(self._library(account.account_id))

    async def of(self, account_id: int) -> list[Rule]:
        return await self._stores.rules.all(self._library(account_id))

    async def find(self, account: Account, rule_id: str, reader: Reader | None = None) -> Rule:
        rules = await self._stores.rules.all(Readable(reader or self._database, account.account_id))
        return required(rules, rule_id)

    async def log(self, account: Account) -> list[Logged]:
        """What the rules have done, the latest first."""
        return await self._stores.rules.log(account.account_id, limits.RULE_LOG_MAX)

    async def create(self, transaction: Transaction, account: Account, request: NewRule) -> Rule:
        plans.check_rules(account)
        library, rules, last = await self._locked_rules(transaction, account)
        await self._check_webhooks(library, _body(request))
        return await self._add(library, account, request, rules, last)

    async def _add(
        self,
        library: Writable,
        account: Account,
        request: NewRule,
        rules: list[Rule],
        last: int,
        *,
        notice: str = "",
    ) -> Rule:
        if len(rules) >= limits.RULES_MAX:
            problem = f"an account can have at most {limits.RULES_MAX} rules"
            raise errors.invalid("name", problem)
        now = self._clock()
        rule = Rule(
            rule_id=secrets.token_hex(_ID_BYTES),
            position=0,
            name=request.name,
            body=_body(request),
            is_on=request.is_on and not notice,
            since=last,
            created_at=now,
            updated_at=now,
            notice=notice,
        )
        at = len(rules) if request.position is UNSET else request.position - 1
        rules.insert(at, rule)
        await self._note(library, ActivityKind.RULE_CREATED, rule)
        return await self._put(library, account, rules, rule, last)

    async def create_all(
        self, transaction: Transaction, account: Account, requests: Sequence[NewRule]
    ) -> None:
        """Adds the rules of another account. Those that send to its webhooks are switched off."""
        plans.check_rules(account)
        for request in requests:
            library, rules, last = await self._locked_rules(transaction, account)
            try:
                await self._check_webhooks(library, _body(request))
                notice = ""
            except Refusal:
                notice = "Switched off: choose the webhook that it sends posts to."
            await self._add(library, account, request, rules, last, notice=notice)

    async def _check_webhooks(self, library: Writable, body: Body) -> None:
        for action in body.actions:
            found = action.webhook_id
            if found and not await self._stores.webhooks.one(library, found):
                raise errors.invalid("webhook_id", f"there is no webhook {errors.shown(found)}")

    async def update(
        self, transaction: Transaction, account: Account, rule_id: str, request: RuleChange
    ) -> Rule:
        plans.check_rules(account)
        library, rules, last = await self._locked_rules(transaction, account)
        before = required(rules, rule_id)
        rule = msgspec.structs.replace(_changed(before, request), updated_at=self._clock())
        is_switched_on = rule.is_on and not before.is_on
        if is_switched_on or rule.body != before.body:
            await self._check_webhooks(library, rule.body)
        if is_switched_on or (rule.is_on and rule.body != before.body):
            # Whatever happened before is none of its business.
            rule = msgspec.structs.replace(rule, since=last, failures=0, notice="")
        await self._take_over(library, rule)
        rules[rules.index(before)] = rule
        if request.position is not UNSET:
            rules.remove(rule)
            rules.insert(request.position - 1, rule)
        await self._note(library, ActivityKind.RULE_CHANGED, rule)
        return await self._put(library, account, rules, rule, last)

    async def delete(self, transaction: Transaction, account: Account, rule_id: str) -> Rule:
        """Deletes a rule and returns it as it was. What it has done stays."""
        plans.check_rules(account)
        library, rules, last = await self._locked_rules(transaction, account)
        rule = required(rules, rule_id)
        rules.remove(rule)
        await self._stores.rules.delete(library, rule_id)
        await self._order(library, account, rules, last)
        await self._note(library, ActivityKind.RULE_DELETED, rule)
        return rule

    async def switched_off(self, library: LockedLibrary, account: Account, rule: Rule) -> None:
        """A rule was switched off by itself."""
        kept = await self._stores.events.kept(library)
        assert kept is not None
        rules = await self._stores.rules.all(library)
        await self._order(library, account, rules, kept.last)
        await self._take_over(library, rule)
        await self._note(library, ActivityKind.RULE_SWITCHED_OFF, rule)

    async def _take_over(self, library: LockedLibrary, rule: Rule) -> None:
        """An undo of a label leaves the rule as it is from now on."""
        key = value_key(ValueKind.RULE, rule.rule_id)
        await self._stores.bulk.take_over(library, [(key, PostField.VALUE)])

    async def _locked_rules(
        self, transaction: Transaction, account: Account
    ) -> tuple[LockedLibrary, list[Rule], int]:
        """The rules, and the number of the last event, which stays so until the end."""
        library = await self._stores.libraries.lock(transaction, account.account_id)
        kept = await self._stores.events.kept(library)
        assert kept is not None
        return library, await self._stores.rules.all(library), kept.last

    async def _put(
        self,
        library: Writable,
        account: Account,
        rules: Sequence[Rule],
        rule: Rule,
        last: int,
    ) -> Rule:
        place = rules.index(rule) + 1
        placed = msgspec.structs.replace(rule, position=place)
        await self._stores.rules.put(library, placed)
        ordered = [placed if one is rule else one for one in rules]
        await self._order(library, account, ordered, last)
        return placed

    async def _order(
        self, library: Writable, account: Account, rules: Sequence[Rule], last: int
    ) -> None:
        """Stores the places of rules, and from where on the events are read."""
        moved = {
            rule.rule_id: place for place, rule in enumerate(rules, 1) if rule.position != place
        }
        await self._stores.rules.place(library, moved)
        before = await self._stores.rules.state(library)
        is_active = any(rule.is_on for rule in rules)
        seen = last
        if before is not None and before.is_active:
            seen = before.seen
        await self._stores.rules.put_state(
            library,
            RuleState(
                is_active=is_active,
                version=1 if before is None else before.version + 1,
                seen=seen,
                night_at=await self._night(library.transaction, account, rules, before),
            ),
        )

    async def _night(
        self,
        transaction: Transaction,
        account: Account,
        rules: Sequence[Rule],
        before: RuleState | None,
    ) -> int | None:
        if not any(rule.is_on and rule.body.when is When.NIGHTLY for rule in rules):
            return None
        if before is not None and before.is_active and before.night_at is not None:
            return before.night_at
        return await self.next_night(account, transaction)

    async def next_night(self, account: Account, reader: Reader | None = None) -> int:
        """Three o'clock in the morning where the account is, tomorrow."""
        zone, now = await self.zone(account, reader), self._clock()
        day = local_day(now, zone)
        tonight = instant_of(day, _NIGHT_HOUR, zone)
        if tonight > now:
            return tonight
        return instant_of(day.fromordinal(day.toordinal() + 1), _NIGHT_HOUR, zone)

    async def _note(self, library: Writable, kind: ActivityKind, rule: Rule) -> None:
        entry = activity.entry(self._clock, kind, rule.name)
        await self._stores.activity.add(library, entry)


def shown(rule: Rule) -> RuleResponse:
    return RuleResponse(
        rule_id=rule.rule_id,
        name=rule.name,
        when=rule.body.when,
        label_name=rule.body.label_name,
        near_label=rule.body.near_label,
        query=rule.body.query,
        actions=rule.body.actions,
        position=rule.position,
        is_on=rule.is_on,
        notice=rule.notice or None,
        fired=rule.fired,
        last_fired_at=None if rule.last_fired_at is None else with_offset(rule.last_fired_at),
        created_at=with_offset(rule.created_at),
        updated_at=with_offset(rule.updated_at),
    )


def shown_log(one: Logged) -> RuleLogResponse:
    return RuleLogResponse(
        rule_id=one.rule_id,
        name=one.entry.name,
        at=with_offset(one.at),
        posts=one.entry.posts,
        sent=one.entry.sent,
        change_ids=[change.change_id for change in one.entry.changes if change.change_id],
        problem=one.entry.problem or None,
        is_of_past=one.entry.is_of_past,
    )


def required(rules: Sequence[Rule], rule_id: str) -> Rule:
    for rule in rules:
        if rule.rule_id == rule_id:
            return rule
    raise errors.not_found("rule", rule_id)


def draft(request: NewRule) -> Body:
    """What a rule that is not stored would do."""
    return _body(request)


def _body(request: NewRule) -> Body:
    return Body(
        when=request.when,
        actions=_actions(request.actions),
        query={} if request.query is None else sent(request.query),
        label_name=request.label_name,
        near_label=request.near_label,
    )


def _actions(actions: Sequence[Any]) -> list[Action]:
    return [Action(one.do, one.label_name, one.webhook_id) for one in actions]


def _changed(rule: Rule, request: RuleChange) -> Rule:
    changes: dict[str, Any] = {}
    if request.when is not UNSET:
        changes["when"] = request.when
        if request.when is not When.LABELLED:
            changes["label_name"] = None
    if request.actions is not UNSET:
        changes["actions"] = _actions(request.actions)
    if request.query is not UNSET:
        changes["query"] = {} if request.query is None else sent(request.query)
    if request.label_name is not UNSET:
        changes["label_name"] = request.label_name
    if request.near_label is not UNSET:
        changes["near_label"] = request.near_label
    body = msgspec.structs.replace(rule.body, **changes)
    try:
        check_trigger(body.when, body.label_name, body.near_label)
        check_sending(body.when, [one.do for one in body.actions])
    except InvalidField as invalid:
        raise errors.invalid(invalid.field, invalid.problem) from None
    return msgspec.structs.replace(
        rule,
        body=body,
        name=rule.name if request.name is UNSET else request.name,
        is_on=rule.is_on if request.is_on is UNSET else request.is_on,
    )
