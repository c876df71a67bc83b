"""Which events make which rules run, and for which posts."""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from msgspec import Struct

from bowerbird.library.rules.matching import Span
from bowerbird.model.events import EventType, Happening
from bowerbird.model.labels import name_key
from bowerbird.model.rules import Rule, When
from bowerbird.storage.changes.events import Logged

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
