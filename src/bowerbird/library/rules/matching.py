"""Which posts a rule is for: its query as a filter, and the posts for which it has work.

A post is near a label that is suggested for it, so posts that have the label are not near it.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple, Protocol

import msgspec
from msgspec import Struct

from bowerbird.clock import MICROSECONDS, Clock
from bowerbird.library.bookmarks.searching.label_words import LabelWords
from bowerbird.library.vectors.semantic_search import SemanticSearch
from bowerbird.model.accounts import Account
from bowerbird.model.labels import Query, name_key
from bowerbird.model.posts.filters import BookmarkFilter
from bowerbird.model.rules import Action, Do, Rule, When
from bowerbird.model.words import Condition, Either, Field, Part
from bowerbird.requests.bulk import ChangeFilters
from bowerbird.requests.filters import filter_of, has_days
from bowerbird.requests.rules import FLAGS, RuleQuery
from bowerbird.storage.database import Database, Reader
from bowerbird.storage.stores import TimedService

_DONE_ALREADY: Final = {
    Do.MARK_READ: Condition(Field.IS, "read"),
    Do.ARCHIVE: Condition(Field.IS, "archived"),
}


_EVERYTHING: Final = BookmarkFilter(unread_only=False, hide_archived=False)
# Fewer posts are looked up by their ids.
_FEW: Final = 100


class Compiled(Struct, frozen=True):
    """A rule with its query as a filter of now, and the account's favourite label."""

    rule: Rule
    filter: BookmarkFilter
    favourite: str
    # Whether a change of labels or flags can make a post match.
    is_moving: bool = True
    # Of the posts of a turn, those that are near the label of the rule. None: it has none.
    near: frozenset[str] | None = None

    def label_of(self, action: Action) -> str | None:
        """The label that an action is about."""
        return self.favourite if action.do is Do.STAR else action.label_name


class Span(NamedTuple):
    """The first and the last number of some posts, and how many they are."""

    first: int
    last: int
    size: int

    @property
    def is_dense(self) -> bool:
        """Whether there are few other posts between them, as after an import."""
        return self.last - self.first < 2 * self.size


class RuleMatching(TimedService):
    def __init__(self, database: Database, clock: Clock) -> None:
        super().__init__(database, clock)
        self._labels = LabelWords(database)

    async def favourite(self, account: Account) -> str:
        return (await self._stores.accounts.reading(self._library(account.account_id))).favourite

    async def compiled(self, account: Account, rule: Rule, favourite: str) -> Compiled:
        """Refused if the query cannot be read any more."""
        query = msgspec.convert(rule.body.query, RuleQuery)
        zone = await self.zone(account) if has_days(query) else None
        filter = filter_of(query, self._clock(), zone)
        filter = await self._labels.resolved(account, filter, is_of_rule=True)
        compiled = Compiled(rule, filter, favourite, is_moving=_is_moving(filter))
        filter = filter.narrowed(_conditions(compiled))
        if rule.body.when is When.LABELLED and not rule.body.label_name:
            filter = msgspec.structs.replace(filter, unlabelled=filter.unlabelled or False)
        return msgspec.structs.replace(compiled, filter=filter)

    async def span(self, account: Account, post_ids: Sequence[str]) -> Span | None:
        """Where some posts are in the library; None if it has none of them."""
        only = msgspec.structs.replace(_EVERYTHING, post_ids=tuple(post_ids))
        numbers = await self._stores.bookmarks.numbers(account, only, None)
        return Span(numbers[0], numbers[-1], len(numbers)) if numbers else None

    async def some(
        self,
        reader: Reader,
        account: Account,
        compiled: Compiled,
        post_ids: Sequence[str],
        span: Span,
    ) -> list[str]:
        """Those of some posts in a span for which the rule has work, in one statement."""
        filter = compiled.filter
        if not post_ids or (filter.words is not None and filter.words.is_empty):
            return []
        within = (span.first, span.last)
        if not span.is_dense or len(post_ids) < _FEW:
            filter = msgspec.structs.replace(filter, post_ids=tuple(post_ids))
            return await self._stores.bookmarks.matching(reader, account, filter, within)
        wanted = frozenset(post_ids)
        found = await self._stores.bookmarks.matching(reader, account, filter, within)
        return [one for one in found if one in wanted]

    async def all(self, account: Account, compiled: Compiled) -> list[str]:
        """Every post of the library for which the rule has work."""
        filter = compiled.filter
        if filter.words is not None and filter.words.is_empty:
            return []
        return await self._stores.bookmarks.post_ids(account, filter)


def change_filters(query: Query, when: When | None, label_name: str | None) -> ChangeFilters:
    """The query of a rule as that of a change of many posts, which have a label already."""
    values: dict[str, Any] = {**FLAGS, "text_only": False}
    # As in a list, white space is no filter.
    values |= {n: v for n, v in query.items() if not isinstance(v, str) or v.strip()}
    if "label" not in values:
        values.pop("label_match", None)
    if when is When.LABELLED and label_name is None:
        values.setdefault("unlabelled", "false")
    return msgspec.convert(values, ChangeFilters)


def having(when: When | None, label_name: str | None) -> list[Part]:
    """The condition that a post has the label whose adding triggers a rule."""
    if when is not When.LABELLED or not label_name:
        return []
    return [Condition(Field.LABEL, name_key(label_name))]


def _conditions(compiled: Compiled) -> list[Part]:
    """What a post must be like besides the query, so that the rule has something to do."""
    body = compiled.rule.body
    found = having(body.when, body.label_name)
    undone: list[tuple[Part, ...]] = []
    for action in body.actions:
        label = compiled.label_of(action)
        if action.do is Do.SEND and body.when is When.NIGHTLY:
            # Only posts that it changes are sent.
            continue
        if action.do in _DONE_ALREADY:
            done = _DONE_ALREADY[action.do]
            undone.append((msgspec.structs.replace(done, is_excluded=True),))
        elif label is not None:
            is_removed = action.do is Do.REMOVE_LABEL
            undone.append((Condition(Field.LABEL, name_key(label), is_excluded=not is_removed),))
        else:
            # Of every post, there is something to do.
            return found
    return [*found, Either(tuple(undone))]


def _is_moving(filter: BookmarkFilter) -> bool:
    """Whether labels or flags decide if a post matches. A word may be that of a label."""
    flags = (filter.unread_only, filter.hide_archived, filter.archived_only)
    labels = (filter.tag, filter.labels, filter.unlabelled)
    words = filter.words.parts if filter.words is not None else ()
    return any(flags) or any(one is not None for one in labels) or any(map(_moves, words))


def _moves(part: Part) -> bool:
    if isinstance(part, Either):
        return any(_moves(one) for branch in part.branches for one in branch)
    if isinstance(part, Condition):
        return part.is_flag or part.field is Field.LABEL
    return bool(part.label_ids)


# How many posts are compared with the library at once.
_TOGETHER: Final = 100
# Of the library as it is, so many of the posts that match the query are compared, newest first.
PAST_MAX: Final = 500
# How long the rules of an account wait until new posts can be compared by meaning.
WAIT: Final = 300 * MICROSECONDS


class Suggested(Protocol):
    @property
    def label_name(self) -> str: ...


Suggest = Callable[[Account, Sequence[str]], Awaitable[Mapping[str, Sequence[Suggested]]]]
"""The labels that fit each post."""


class RuleNearness:
    def __init__(self, suggest: Suggest, meaning: SemanticSearch, clock: Clock) -> None:
        self._suggest = suggest
        self._meaning = meaning
        self._clock = clock

    async def some(
        self,
        account: Account,
        label_name: str,
        post_ids: Sequence[str],
        known: dict[str, frozenset[str]],
    ) -> list[str]:
        """Those of some posts that are near a label.

        `known` has the folded labels that are near posts, and gets those of the others.
        """
        new = [one for one in post_ids if one not in known]
        for first in range(0, len(new), _TOGETHER):
            some = new[first : first + _TOGETHER]
            found = await self._suggest(account, some)
            for post_id in some:
                labels = found.get(post_id, ())
                known[post_id] = frozenset(name_key(one.label_name) for one in labels)
        key = name_key(label_name)
        return [one for one in post_ids if key in known[one]]

    async def waits(self, account: Account, since: int) -> bool:
        """Whether to wait for the vectors of posts, the first of which arrived at a time."""
        if self._clock() >= since + WAIT:
            return False
        store = await self._meaning.serving(account)
        return store is not None and store.missing(account.total) > 0

    async def notice(self, account: Account) -> str | None:
        """Why posts are not compared by meaning; None if they are."""
        if not account.total or await self._meaning.serving(account) is not None:
            return None
        return (
            "Search by meaning is not ready for this library. Until it is, authors and the words "
            "of posts alone decide what is near a label."
        )
