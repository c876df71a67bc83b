"""One pass of the rules over some posts, from top to bottom, inside a transaction."""

from collections.abc import Mapping, Sequence
from typing import Final

from bowerbird.clock import Clock
from bowerbird.errors import Refusal
from bowerbird.library.access import turns
from bowerbird.library.rules.applying import Applying, Outcome
from bowerbird.library.rules.matching import Compiled, RuleMatching
from bowerbird.library.rules.triggers import Chunk
from bowerbird.model.accounts import Account
from bowerbird.model.labels import name_key
from bowerbird.model.rules import Do, LogEntry, Rule, When
from bowerbird.requests import limits
from bowerbird.storage.database import Database, LockTimeoutError, Transaction
from bowerbird.storage.rules import RuleStore

FAULTS: Final = 500
"""From this status on, it is not the rule that has failed."""


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
        stopped: frozenset[str],
    ) -> frozenset[str]:
        """Returns the posts that are left to no further rule. Some are so already."""
        done = _Done(stopped)
        for compiled in rules:
            left = done.left(compiled.rule, chunk)
            if not left:
                continue
            try:
                found = await self._matching.some(transaction, account, compiled, left)
                outcome = await self._applying.apply(transaction, account, compiled, found)
            except Exception as error:
                if _is_of_rule(error):
                    raise RuleFailed(compiled.rule, error) from error
                raise
            done.add(compiled.rule, found, outcome)
        account_id, now = account.account_id, self._clock()
        await self._store.add_fired(transaction, account_id, done.fired, now)
        await self._store.add_to_log(
            transaction, account_id, done.entries, now, limits.RULE_LOG_MAX
        )
        return frozenset(done.stopped)


class _Done:
    """What the rules above have done in a pass."""

    def __init__(self, stopped: frozenset[str]) -> None:
        self.stopped = set(stopped)
        self.entries: list[tuple[str, LogEntry]] = []
        self.fired: dict[str, int] = {}
        self._touched: set[str] = set()
        # Posts that have got a label, with its folded name.
        self._labelled: set[tuple[str, str]] = set()

    def left(self, rule: Rule, chunk: Chunk) -> list[str]:
        """The posts that the rule may be for."""
        also = [one for one in _of(chunk.triggered, rule) if one in self._touched]
        found = dict.fromkeys([*_of(chunk.matched, rule), *also, *self._chained(rule)])
        return [one for one in found if one not in self.stopped]

    def _chained(self, rule: Rule) -> list[str]:
        """The posts that have got a label from a rule above, if that makes the rule run."""
        if rule.body.when is not When.LABELLED:
            return []
        wanted = name_key(rule.body.label_name) if rule.body.label_name else ""
        return sorted(post_id for post_id, key in self._labelled if wanted in ("", key))

    def add(self, rule: Rule, found: Sequence[str], outcome: Outcome) -> None:
        if rule.does(Do.STOP):
            self.stopped.update(found)
        self._touched |= outcome.posts
        self._labelled |= outcome.labelled
        if outcome.posts:
            count = len(outcome.posts)
            self.fired[rule.rule_id] = count
            self.entries.append((rule.rule_id, LogEntry(rule.name, count, outcome.changes)))


def _of(posts: Mapping[str, Sequence[str]], rule: Rule) -> Sequence[str]:
    return posts.get(rule.rule_id, ())


def _is_of_rule(error: Exception) -> bool:
    if isinstance(error, Refusal):
        return error.status < FAULTS
    return not isinstance(error, (turns.DoFirst, LockTimeoutError))
