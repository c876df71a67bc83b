"""What a rule would have matched in the library as it is, and applying it to these posts."""

from collections.abc import Callable
from typing import Final

import msgspec
from msgspec import Struct

from bowerbird.clock import Clock
from bowerbird.library.access import activity, plans, turns
from bowerbird.library.bulk.changes import BulkChanges, NewChange, packed_parts
from bowerbird.library.bulk.selection import BulkSelection, Chosen, Example
from bowerbird.library.rules.applying import maker
from bowerbird.library.rules.matching import (
    PAST_MAX,
    RuleMatching,
    RuleNearness,
    change_filters,
    having,
)
from bowerbird.library.rules.rules import Rules
from bowerbird.library.vectors.semantic_search import SemanticSearch
from bowerbird.library.views.views import Views
from bowerbird.model.accounts import Account
from bowerbird.model.bulk import FLAG_ACTIONS, BulkAction, BulkRow
from bowerbird.model.labels import Query
from bowerbird.model.rules import Applied, Do, LogEntry, Rule, When
from bowerbird.requests import limits
from bowerbird.requests.bulk import BulkRequest, ChangeFilters
from bowerbird.storage.changes.bulk import unpacked
from bowerbird.storage.database import Database, Transaction, Writable
from bowerbird.storage.stores import TimedService

_LABELLING: Final = {
    Do.ADD_LABEL: BulkAction.ADD_LABEL,
    Do.STAR: BulkAction.ADD_LABEL,
    Do.REMOVE_LABEL: BulkAction.REMOVE_LABEL,
}


class RulePreviewed(Struct, frozen=True):
    """What a rule would have matched."""

    count: int
    """Number of bookmarks of the library that match."""
    examples: list[Example]
    """Up to five of them."""
    newest: int | None = None
    """With near_label: how many of the newest posts that match the query were compared."""
    notice: str | None = None
    """With near_label: why posts are not compared by meaning, or null."""


class Prepared(Struct, frozen=True):
    """The changes that apply a rule to the posts that match."""

    rule: Rule
    changes: list[NewChange]


class RulePast(TimedService):
    def __init__(
        self,
        database: Database,
        clock: Clock,
        views: Views,
        meaning: SemanticSearch,
        *,
        near: RuleNearness,
        wake: Callable[[], None],
    ) -> None:
        """`wake` is called when a job has been added, for a worker in the same process."""
        super().__init__(database, clock)
        self._rules = Rules(database, clock)
        self._matching = RuleMatching(database, clock)
        self._selection = BulkSelection(database, clock, views, meaning)
        self._changes = BulkChanges(database, clock, wake)
        self.near = near
        self._wake = wake

    async def preview(
        self,
        account: Account,
        query: Query,
        when: When | None = None,
        label_name: str | None = None,
        near_label: str | None = None,
    ) -> RulePreviewed:
        plans.check_rules(account)
        request = _request(change_filters(query, when, label_name))
        rule = having(when, label_name)
        chosen = matching = await self._selection.choose(account, request, rule=rule)
        if near_label is not None:
            chosen = await self._nearest(account, near_label, matching)
        examples = await self._selection.examples(account, request, chosen)
        if near_label is None:
            return RulePreviewed(chosen.count, examples)
        examples.reverse()
        newest, notice = min(matching.count, PAST_MAX), await self.near.notice(account)
        return RulePreviewed(chosen.count, examples, newest, notice)

    async def _nearest(self, account: Account, label_name: str, chosen: Chosen) -> Chosen:
        """Those of the newest posts that are near a label. The examples are the newest of them."""
        # In order of arrival: a rule does not search by meaning, which would rank them.
        ids = [one for part in chosen.parts for one in unpacked(part)]
        near = await self.near.some(account, label_name, ids[-PAST_MAX:], {})
        return msgspec.structs.replace(
            chosen, parts=packed_parts(near), count=len(near), first=near[-len(chosen.first) :]
        )

    async def prepare(
        self, account: Account, rule_id: str, expected_count: int | None = None
    ) -> Prepared:
        """Reads the posts that match now. Call it before `start`."""
        plans.check_rules(account)
        rule = await self._rules.find(account, rule_id)
        body = rule.body
        filters = change_filters(body.query, body.when, body.label_name)
        trigger = having(body.when, body.label_name)
        if body.near_label is None:
            request = _request(filters, expected_count)
            chosen = await self._selection.choose(account, request, rule=trigger)
        else:
            request = _request(filters)
            chosen = await self._selection.choose(account, request, rule=trigger)
            chosen = await self._nearest(account, body.near_label, chosen)
            self._selection.check_count(expected_count, chosen.count)
        favourite = await self._matching.favourite(account)
        changes = [
            NewChange(action, chosen.parts, chosen.count, label)
            for action, label in (_actions(rule, favourite) if chosen.count else ())
        ]
        return Prepared(rule, changes)

    async def start(
        self, transaction: Transaction, account: Account, prepared: Prepared
    ) -> list[BulkRow]:
        """Applies a rule: a change per action, each with its undo. Jobs do what is left."""
        with activity.made_by(maker(prepared.rule.name)):
            rows = [
                await self._changes.start(transaction, account, change)
                for change in prepared.changes
            ]
        count = prepared.changes[0].matched if rows else 0
        applied = [Applied(row.action, row.changed, row.change_id, row.label_name) for row in rows]
        entry = LogEntry(prepared.rule.name, count, applied, is_of_past=True)
        await self._stores.rules.add_to_log(
            Writable(transaction, account.account_id),
            [(prepared.rule.rule_id, entry)],
            self._clock(),
            limits.RULE_LOG_MAX,
        )
        return rows

    async def apply(self, account: Account, rule_id: str) -> list[BulkRow]:
        """Applies a rule in a transaction of its own, for people who click on it."""
        prepared = await self.prepare(account, rule_id)
        rows = await turns.run(
            self._database, lambda t: self.start(t, account, prepared), account.account_id
        )
        self._wake()
        return rows


def _request(filters: ChangeFilters, expected_count: int | None = None) -> BulkRequest:
    # The action does not matter: the posts are those of the filters.
    return BulkRequest(action="read", filters=filters, expected_count=expected_count)


def _actions(rule: Rule, favourite: str) -> list[tuple[BulkAction, str | None]]:
    """The changes that have the effect of a rule, the trash last."""
    found: list[tuple[BulkAction, str | None]] = [
        (_LABELLING[one.do], favourite if one.do is Do.STAR else one.label_name)
        for one in rule.body.actions
        if one.do in _LABELLING
    ]
    flags = tuple(True if rule.does(do) else None for do in (Do.MARK_READ, Do.ARCHIVE))
    if any(flags):
        found.append((FLAG_ACTIONS[flags[0], flags[1]], None))
    if rule.does(Do.TRASH):
        found.append((BulkAction.TRASH, None))
    return found
