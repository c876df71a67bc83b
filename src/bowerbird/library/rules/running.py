"""Runs the rules of an account on what has happened since they ran last, and every night.

Rules read the events of the library after they are committed. What they have seen is stored in the
transaction that applies them, so that nothing is applied twice. In it they run from top to bottom,
each once, and see what the rules above have changed; the events of these changes make no rule run.
So two rules cannot wake each other for ever.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from itertools import chain
from typing import Final

import msgspec
import structlog
from msgspec import Struct

from bowerbird import errors
from bowerbird.clock import Clock, month_of
from bowerbird.errors import Refusal
from bowerbird.library.access import turns
from bowerbird.library.bookmarks.writing.label_renames import LabelRenames
from bowerbird.library.rules import passes
from bowerbird.library.rules.matching import Compiled, RuleMatching, RuleNearness, Span
from bowerbird.library.rules.passes import FAULTS, Carried, Chunk, RuleFailed, RulePasses
from bowerbird.library.rules.rules import Rules
from bowerbird.model.accounts import Account
from bowerbird.model.rules import FAILURES_MAX, Do, LogEntry, Rule, RuleState, When
from bowerbird.requests import limits
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.stores import TimedService

EVENTS_PER_TURN: Final = 2_000
_ACCOUNTS_PER_PAGE: Final = 100

Progress = Callable[[int, int], Awaitable[None]]
"""Called between two transactions; it may raise to let others take turns."""


class _Plan(Struct):
    """What a turn starts from. It holds as long as the state of the rules has this version."""

    account: Account
    state: RuleState
    rules: Sequence[Rule]
    compiled: dict[str, Compiled] = {}
    # Rules that have failed in this turn.
    failed: set[str] = set()
    carried: Carried = Carried()
    # The folded labels that are near the posts of this turn.
    near: dict[str, frozenset[str]] = {}

    @property
    def running(self) -> list[Compiled]:
        return [one for rule_id, one in self.compiled.items() if rule_id not in self.failed]

    @property
    def posts_per_turn(self) -> int:
        is_trashing = any(one.rule.does(Do.TRASH) for one in self.compiled.values())
        return passes.TRASHED_PER_TURN if is_trashing else passes.POSTS_PER_TURN


class RuleRuns(TimedService):
    def __init__(self, database: Database, clock: Clock, near: RuleNearness) -> None:
        super().__init__(database, clock)
        self._rules = Rules(database, clock)
        self._matching = RuleMatching(database, clock)
        self._near = near
        self._passes = RulePasses(database, clock)
        self._log = structlog.get_logger()

    async def due_accounts(self, after: int) -> Sequence[int]:
        return await self._stores.rules.due_accounts(after, self._clock(), _ACCOUNTS_PER_PAGE)

    async def run(self, account_id: int, progress: Progress) -> None:
        """Runs the rules until they have seen everything."""
        while await self._turn(account_id, progress):
            await progress(0, 1)

    async def _turn(self, account_id: int, progress: Progress) -> bool:
        """False if there is nothing left."""
        account = await self._stores.accounts.by_id(account_id, month_of(self._clock()))
        if account is None:
            raise errors.account_gone()
        library = self._library(account_id)
        state = await self._stores.rules.state(library)
        if state is None or not state.is_active:
            return False
        rules = await self._stores.rules.all(library)
        plan = _Plan(account, state, [rule for rule in rules if rule.is_on])
        if account.is_free:
            # A later paid plan does not begin with what has happened meanwhile.
            return await self._skip(plan)
        kept = await self._stores.events.kept(library)
        if kept is not None and state.seen < kept.removed:
            self._log.warning("events removed before rules saw them", account=account_id)
            return await self._advance(plan, msgspec.structs.replace(state, seen=kept.removed))
        if kept is not None and state.seen < kept.last:
            return await self._see(plan, progress)
        if state.night_at is not None and state.night_at <= self._clock():
            return await self._spend_night(plan, progress)
        return False

    async def _skip(self, plan: _Plan) -> bool:
        kept = await self._stores.events.kept(self._library(plan.account.account_id))
        if kept is None:
            raise errors.account_gone()
        night_at = plan.state.night_at
        if night_at is not None and night_at <= self._clock():
            night_at = await self._rules.next_night(plan.account)
        after = msgspec.structs.replace(plan.state, seen=kept.last, night_at=night_at)
        return after != plan.state and await self._advance(plan, after)

    async def _see(self, plan: _Plan, progress: Progress) -> bool:
        """Runs rules on the next events."""
        account_id, seen = plan.account.account_id, plan.state.seen
        logged, _ = await self._stores.events.after(account_id, seen, EVENTS_PER_TURN)
        events, last = passes.events_after(logged, seen, EVENTS_PER_TURN)
        found = passes.Triggers(events, seen)
        numbers = {rule.rule_id: posts for rule in plan.rules if (posts := found.of(rule))}
        is_near = any(rule.body.near_label and rule.rule_id in numbers for rule in plan.rules)
        if is_near and await self._near.waits(plan.account, logged[0].at):
            return False
        span, matched = None, dict[str, list[str]]()
        if numbers:
            span = await self._matching.span(plan.account, list({*chain(*numbers.values())}))
        if span is not None:
            await self._compile(plan)
            matched = await self._match(plan, numbers, span)
        for chunk in passes.chunks(matched, numbers, last, plan.posts_per_turn, span):
            after = msgspec.structs.replace(plan.state, seen=chunk.end)
            if not await self._apply(plan, chunk, after):
                break
            await progress(0, 1)
        return True

    async def _spend_night(self, plan: _Plan, progress: Progress) -> bool:
        """Runs the rules of every night. Killed in between, they find only what is left."""
        await self._compile(plan)
        for rule in plan.rules:
            compiled = plan.compiled.get(rule.rule_id)
            if rule.body.when is not When.NIGHTLY or compiled is None:
                continue
            found = await self._tried(plan, rule, self._matching.all(plan.account, compiled))
            size = passes.TRASHED_PER_TURN if rule.does(Do.TRASH) else passes.POSTS_PER_TURN
            for first in range(0, len(found), size):
                some = found[first : first + size]
                span = await self._matching.span(plan.account, some)
                chunk = Chunk(plan.state.seen, {rule.rule_id: some}, span=span)
                if not await self._apply(plan, chunk, plan.state):
                    return True
                await progress(0, 1)
        night_at = await self._rules.next_night(plan.account)
        return await self._advance(plan, msgspec.structs.replace(plan.state, night_at=night_at))

    async def _compile(self, plan: _Plan) -> None:
        favourite = await self._matching.favourite(plan.account)
        for rule in plan.rules:
            try:
                compiled = await self._matching.compiled(plan.account, rule, favourite)
            except (Refusal, msgspec.ValidationError) as error:
                await self._note_failure(plan, rule, error)
            else:
                plan.compiled[rule.rule_id] = compiled

    async def _match(
        self, plan: _Plan, numbers: Mapping[str, Mapping[str, int]], span: Span
    ) -> dict[str, list[str]]:
        """The posts for which rules have work, each rule in one statement."""
        matched: dict[str, list[str]] = {}
        for rule in plan.rules:
            compiled, ids = plan.compiled.get(rule.rule_id), numbers.get(rule.rule_id)
            if compiled is None or not ids:
                continue
            reading = self._matching.some(self._database, plan.account, compiled, list(ids), span)
            matched[rule.rule_id] = await self._tried(plan, rule, reading)
            if name := rule.body.near_label:
                comparing = self._near.some(plan.account, name, matched[rule.rule_id], plan.near)
                near = matched[rule.rule_id] = await self._tried(plan, rule, comparing)
                plan.compiled[rule.rule_id] = msgspec.structs.replace(
                    compiled, near=frozenset(near)
                )
        return matched

    async def _tried(self, plan: _Plan, rule: Rule, reading: Awaitable[list[str]]) -> list[str]:
        try:
            return await reading
        except Refusal as refused:
            if refused.status >= FAULTS:
                raise
            await self._note_failure(plan, rule, refused)
            return []

    async def _apply(self, plan: _Plan, chunk: Chunk, after: RuleState) -> bool:
        """Applies rules and stores how far they are. False if somebody else has changed that."""
        account_id, is_night = plan.account.account_id, after.seen == plan.state.seen

        async def work(transaction: Transaction) -> Carried | None:
            library = await LabelRenames(self._database).lock(transaction, account_id)
            if await self._stores.rules.state(library) != plan.state:
                return None
            if after != plan.state:
                await self._stores.rules.put_state(library, after)
            if not chunk.matched:
                return plan.carried
            return await self._passes.run(
                transaction, plan.account, plan.running, chunk, plan.carried
            )

        carried = await self._until_done(plan, work)
        if carried is None:
            return False
        plan.state = after
        # Another event of the same post starts again.
        plan.carried = carried if is_night else Carried(touched=carried.touched)
        return True

    async def _until_done(
        self, plan: _Plan, work: Callable[[Transaction], Awaitable[Carried | None]]
    ) -> Carried | None:
        """Runs a transaction again without the rules that fail in it."""
        while True:
            try:
                account_id = plan.account.account_id
                return await turns.run(self._database, work, account_id, is_continuing=True)
            except RuleFailed as failed:
                await self._note_failure(plan, failed.rule, failed.cause)
                if not isinstance(failed.cause, Refusal):
                    # Perhaps it is not the fault of the rule: the job tries it again.
                    raise failed.cause from failed

    async def _advance(self, plan: _Plan, after: RuleState) -> bool:
        await self._apply(plan, Chunk(after.seen), after)
        return True

    async def _note_failure(self, plan: _Plan, rule: Rule, error: Exception) -> None:
        """Counts a failure. After too many in a row, the rule is switched off."""
        plan.failed.add(rule.rule_id)
        account_id, now = plan.account.account_id, self._clock()
        problem = error.sentence if isinstance(error, Refusal) else "Internal error."
        if not isinstance(error, Refusal):
            self._log.error("rule failed", rule=rule.rule_id, exc_info=error)

        async def work(transaction: Transaction) -> None:
            library = await LabelRenames(self._database).lock(transaction, account_id)
            rules = {one.rule_id: one for one in await self._stores.rules.all(library)}
            stored = rules.get(rule.rule_id)
            if stored is None or not stored.is_on:
                return
            failures = stored.failures + 1
            is_over = failures >= FAILURES_MAX
            notice = f"Switched off: it failed {failures} times in a row. {problem}"
            after = msgspec.structs.replace(
                stored, failures=failures, is_on=not is_over, notice=notice if is_over else ""
            )
            await self._stores.rules.set_failures(library, after)
            entry = LogEntry(stored.name, problem=problem)
            entries = [(rule.rule_id, entry)]
            await self._stores.rules.add_to_log(library, entries, now, limits.RULE_LOG_MAX)
            if is_over:
                await self._rules.switched_off(library, plan.account, after)

        await turns.run(self._database, work, account_id, is_continuing=True)
