"""Which events make which rules run, and one pass of the rules over some posts.

A pass goes from top to bottom inside one transaction.
"""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from msgspec import Struct

from bowerbird.clock import Clock
from bowerbird.errors import Refusal
from bowerbird.library.access import turns
from bowerbird.library.rules.applying import Applying, Outcome, Pass
from bowerbird.library.rules.matching import Compiled, RuleMatching, Span
from bowerbird.model.accounts import Account
from bowerbird.model.events import EventType, Happening
from bowerbird.model.labels import name_key
from bowerbird.model.rules import Do, LogEntry, Rule, When
from bowerbird.requests import limits
from bowerbird.storage.changes.events import Logged
from bowerbird.storage.database import Database, LockTimeoutError, Transaction, Writable
from bowerbird.storage.stores import TimedService

# A source that brings a stored post again sets one of these.
_SAVED_AGAIN: Final = frozenset({"bookmarked_at", "sort_index", "imported_at"})
# What one transaction applies: posts, posts that are moved to the trash, and posts by rule.
POSTS_PER_TURN: Final = 1_000
TRASHED_PER_TURN: Final = 50
_PAIRS_PER_TURN: Final = 1_500


class Event(NamedTuple):
    number: int
    post_id: str
    happening: Happening


def events_after(logged: Iterable[Logged], number: int, limit: int) -> tuple[list[Event], int]:
    """The events of posts after a number, and the number of the last event that was read."""
    found: list[Event] = []
    last = number
    for one in logged:
        place = one.last - one.size
        for happening in one.happened:
            for post_id in happening.post_ids or ("",):
                place += 1
                if place <= number:
                    continue
                if place > number + limit:
                    return found, last
                last = place
                if post_id and not happening.is_quiet:
                    found.append(Event(place, post_id, happening))
    return found, last


class Triggers:
    """For each rule, the posts for which some events make it run."""

    def __init__(self, events: Sequence[Event], after: int) -> None:
        self._events = events
        self._after = after
        # Most rules of an account run for the same events.
        self._found: dict[tuple[When, str, int], dict[str, int]] = {}

    def of(self, rule: Rule) -> dict[str, int]:
        """Its posts, each with the number of its first event."""
        wanted = name_key(rule.body.label_name) if rule.body.label_name else ""
        # What happened before it was switched on is none of its business.
        key = (rule.body.when, wanted, max(rule.since, self._after))
        if key not in self._found:
            found = self._found[key] = {}
            for number, post_id, happening in self._events:
                if number > rule.since and _fits(rule.body.when, wanted, happening):
                    found.setdefault(post_id, number)
        return self._found[key]


def _fits(when: When, wanted: str, happening: Happening) -> bool:
    if when is When.ARRIVES:
        return happening.type is EventType.POST_CREATED
    if when is When.SAVED_AGAIN:
        return happening.type is EventType.POST_CHANGED and not _SAVED_AGAIN.isdisjoint(
            happening.fields
        )
    if when is When.LABELLED:
        # A post can have labels when it arrives; the filter of the rule asks for the label.
        if happening.type is EventType.POST_CREATED:
            return True
        is_labelled = happening.type is EventType.POST_LABELLED and happening.label is not None
        return is_labelled and (not wanted or name_key(happening.label.name) == wanted)  # type: ignore[union-attr]
    return False


class Chunk(Struct):
    """What one transaction looks at: for each rule, its posts that matched and all of its posts."""

    # The number of the last event of the chunk.
    end: int
    matched: dict[str, list[str]] = {}
    # Of all chunks of these events.
    triggered: Mapping[str, Container[str]] = {}
    posts: frozenset[str] = frozenset()
    # Where the posts are in the library.
    span: Span | None = None


def chunks(
    matched: Mapping[str, Iterable[str]],
    numbers: Mapping[str, Mapping[str, int]],
    last: int,
    posts_per_turn: int,
    span: Span | None,
) -> Iterator[Chunk]:
    """Divides the posts that match rules in the order of their events.

    `numbers` has the number of the event of each post, by rule.
    """
    pairs = sorted(
        (numbers[rule_id][post_id], rule_id, post_id)
        for rule_id, post_ids in matched.items()
        for post_id in post_ids
    )
    some: list[tuple[int, str, str]] = []
    posts: set[str] = set()
    for pair in pairs:
        is_full = len(some) >= _PAIRS_PER_TURN or len(posts) >= posts_per_turn
        if is_full and pair[0] != some[-1][0]:
            yield _chunk(some, numbers, some[-1][0], span)
            some, posts = [], set()
        some.append(pair)
        posts.add(pair[2])
    yield _chunk(some, numbers, last, span)


def _chunk(
    pairs: Sequence[tuple[int, str, str]],
    numbers: Mapping[str, Mapping[str, int]],
    end: int,
    span: Span | None,
) -> Chunk:
    matched: dict[str, list[str]] = {}
    for _, rule_id, post_id in pairs:
        matched.setdefault(rule_id, []).append(post_id)
    posts = {post_id for _, _, post_id in pairs}
    return Chunk(end, matched, numbers, frozenset(posts), span)


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


class RulePasses(TimedService):
    def __init__(self, database: Database, clock: Clock) -> None:
        super().__init__(database, clock)
        self._matching = RuleMatching(database, clock)
        self._applying = Applying(database, clock)

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
        library = Writable(transaction, account_id)
        await self._stores.rules.add_fired(library, done.fired, now)
        await self._stores.rules.add_to_log(library, done.entries, now, limits.RULE_LOG_MAX)
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
