"""Which posts are near a label: those that it is suggested for, so that do not have it yet."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final, Protocol

from bowerbird.clock import MICROSECONDS, Clock
from bowerbird.library.vectors.semantic_search import SemanticSearch
from bowerbird.model.accounts import Account
from bowerbird.model.labels import name_key

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
