"""One pass of the rules over some posts, from top to bottom, inside a transaction."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from bowerbird.clock import Clock
from bowerbird.errors import Refusal
from bowerbird.library.access import turns
from bowerbird.library.rules.applying import Applying, Outcome, Pass
from bowerbird.library.rules.matching import Compiled, RuleMatching
from bowerbird.library.rules.triggers import Chunk
from bowerbird.model.accounts import Account
from bowerbird.model.labels import name_key
from bowerbird.model.rules import Do, LogEntry, Rule, When
from bowerbird.requests import limits
from bowerbird.storage.changes.rules import RuleStore
from bowerbird.storage.database import Database, LockTimeoutError, Transaction

FAULTS: Final = 500
"""From this status on, it is not the rule that has failed."""


class Carried(NamedTuple):
    """What the next pass over the same events has to know."""

    # The posts that are left to no further rule.
    stopped: frozenset[str] = frozenset()
    # The posts that rules have changed.
    touched: frozenset[str] = frozenset()


class RuleFailed(Exception):  # noqa: N818 - an event, not a fault of its own
    def __init__(self, rule: Rule, cause: Exception) -> None:
        super().__init__(rule.rule_id)
        self.rule = rule
        self.cause = cause


class RulePasses:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._store = RuleStore(database)
        self._matching = RuleMatching(database, clock)
        self._applying = Applying(database, clock)
        self._clock = clock

    async def run(
        self,
        transaction: Transaction,
        account: Account,
        rules: Sequence[Compiled],
        chunk: Chunk,
        before: Carried,
    ) -> Carried:
        done, within = _Done(before), Pass(transaction, account, self._clock(), {})
        for compiled in rules:
            try:
                found = await self._found(transaction, account, compiled, chunk, done)
                if not found:
                    continue
                outcome = await self._applying.apply(within, compiled, found)
            except Exception as error:
                if _is_of_rule(error):
                    raise RuleFailed(compiled.rule, error) from error
                raise
            done.add(compiled.rule, found, outcome)
        if done.entries:
            await self._applying.finish(within, sorted(done.moved), done.changed)
        account_id, now = account.account_id, within.now
        await self._store.add_fired(transaction, account_id, done.fired, now)
        await self._store.add_to_log(
            transaction, account_id, done.entries, now, limits.RULE_LOG_MAX
        )
        return Carried(frozenset(done.stopped), frozenset(done.touched))

    async def _found(
        self,
        transaction: Transaction,
        account: Account,
        compiled: Compiled,
        chunk: Chunk,
        done: "_Done",
    ) -> list[str]:
        """The posts that a rule is for, by what the rules above have made of them."""
        sure, perhaps = done.left(compiled, chunk)
        if compiled.near is not None:
            perhaps = [one for one in perhaps if one in compiled.near]
        if not perhaps or chunk.span is None:
            return sure
        again = await self._matching.some(transaction, account, compiled, perhaps, chunk.span)
        return [*sure, *again]


class _Done:
    """What the rules above have done in a pass."""

    def __init__(self, before: Carried) -> None:
        self.stopped = set(before.stopped)
        self.touched = set(before.touched)
        # Of them, those of this pass.
        self.moved: set[str] = set()
        self.entries: list[tuple[str, LogEntry]] = []
        self.fired: dict[str, int] = {}
        # Posts that have got a label, with its folded name.
        self._labelled: set[tuple[str, str]] = set()

    @property
    def changed(self) -> int:
        """How many posts the changes have, each counted per change."""
        return sum(one.posts for _, entry in self.entries for one in entry.changes)

    def left(self, compiled: Compiled, chunk: Chunk) -> tuple[list[str], list[str]]:
        """The posts that match, and those that have to be looked at again."""
        rule = compiled.rule
        matched = [one for one in _of(chunk.matched, rule) if one not in self.stopped]
        chained = self._chained(rule)
        if not compiled.is_moving and not chained:
            return matched, []
        # A rule can match a post only after another one has changed it.
        of_rule = chunk.triggered.get(rule.rule_id, ())
        also = [one for one in sorted(chunk.posts & self.touched) if one in of_rule]
        perhaps = [
            one
            for one in dict.fromkeys([*matched, *also, *chained])
            if one in self.touched and one not in self.stopped
        ]
        return [one for one in matched if one not in self.touched], perhaps

    def _chained(self, rule: Rule) -> list[str]:
        """The posts that have got a label from a rule above, if that makes the rule run."""
        if rule.body.when is not When.LABELLED:
            return []
        wanted = name_key(rule.body.label_name) if rule.body.label_name else ""
        return sorted(post_id for post_id, key in self._labelled if wanted in ("", key))

    def add(self, rule: Rule, found: Sequence[str], outcome: Outcome) -> None:
        if rule.does(Do.STOP):
            self.stopped.update(found)
        self.touched |= outcome.posts
        self.moved |= outcome.posts
        self._labelled |= outcome.labelled
        if count := len(outcome.posts | outcome.sent):
            self.fired[rule.rule_id] = count
            entry = LogEntry(rule.name, count, outcome.changes, len(outcome.sent))
            self.entries.append((rule.rule_id, entry))


def _of(posts: Mapping[str, Sequence[str]], rule: Rule) -> Sequence[str]:
    return posts.get(rule.rule_id, ())


def _is_of_rule(error: Exception) -> bool:
    if isinstance(error, Refusal):
        return error.status < FAULTS
    return not isinstance(error, (turns.DoFirst, LockTimeoutError))
