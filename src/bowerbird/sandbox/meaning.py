"""Search by meaning in the sandbox: sample posts are ranked by letters that they share with a term.

The sandbox has no model, because anybody may call it and a model takes memory and time. Its answers
have the same form as those of the API, and the same term always gets the same ranking.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import msgspec

from bowerbird.library.vectors.semantic_search import SemanticSearch
from bowerbird.model.accounts import Account
from bowerbird.model.posts.filters import BookmarkFilter
from bowerbird.model.words import VectorStoreState
from bowerbird.storage.bookmarks.bookmarks import BookmarkStore
from bowerbird.storage.database import Database, Reader

if TYPE_CHECKING:
    from bowerbird.search.meaning.arrays import Nearness, Numbers

_STATE: Final = VectorStoreState(
    model=b"sandbox",
    name="sandbox",
    dimensions=1,
    embedded=1_000_000,
    complete_below=1_000_000,
    invalidations=0,
    generation=1,
    is_built=True,
)
_EVERYTHING: Final = BookmarkFilter(unread_only=False, hide_archived=False)
_FLOOR: Final = 0.4
# Longer terms are cut: the time of a ranking grows with them.
_MAX_CHARACTERS: Final = 300
_GRAM: Final = 3
_WORD: Final = re.compile(r"\w+")


class SandboxMeaning(SemanticSearch):
    """Ranks the fixtures without a model."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._posts = BookmarkStore(database)
        self._texts: dict[int, str] = {}

    async def serving(self, account: Account) -> VectorStoreState | None:  # noqa: ARG002 - one account
        return _STATE

    async def required(
        self,
        account: Account,  # noqa: ARG002 - one account
        store: VectorStoreState | None,  # noqa: ARG002
    ) -> VectorStoreState | None:
        return _STATE

    async def require(
        self,
        account: Account,  # noqa: ARG002
        reader: Reader | None = None,  # noqa: ARG002 - nothing is read
    ) -> VectorStoreState | None:
        return _STATE

    async def nearness(
        self,
        account: Account,
        store: VectorStoreState,  # noqa: ARG002 - the only one
        text: str,
        candidates: "Numbers",
    ) -> "Nearness":
        from bowerbird.search.meaning.arrays import Nearness, np  # noqa: PLC0415 - imports numpy

        scores = await self.scores(account, text)
        numbers = np.array(sorted(scores), np.int64)
        numbers = numbers[candidates.contains(numbers)]
        found = np.array([scores[number] for number in numbers.tolist()], np.float32)
        return Nearness(numbers, found, _FLOOR)

    async def near(self, account: Account, text: str, candidates: Sequence[int]) -> tuple[int, ...]:
        """The candidates that a list with this term would contain."""
        scores = await self.scores(account, text)
        return tuple(number for number in candidates if scores.get(number, 0.0) >= _FLOOR)

    async def scores(self, account: Account, text: str) -> Mapping[int, float]:
        """A score from 0 to 1 for each post: the share of the term's rare letters in it."""
        if not self._texts:
            self._texts = await self._read(account)
        grams = set(_grams(text.casefold()[:_MAX_CHARACTERS]))
        found = {
            gram: {number for number, content in self._texts.items() if gram in content}
            for gram in grams
        }
        weights = {gram: math.log1p(len(self._texts) / (1 + len(found[gram]))) for gram in grams}
        total = sum(weights.values()) or 1.0
        return {
            number: sum(weight for gram, weight in weights.items() if number in found[gram]) / total
            for number in self._texts
        }

    async def _read(self, account: Account) -> dict[int, str]:
        numbers = await self._posts.numbers(account, _EVERYTHING, None)
        joined, _ = await self._posts.contents(account, list(numbers))
        posts: list[dict[str, Any]] = msgspec.json.decode(b"[" + joined + b"]")
        return dict(zip(numbers, map(_text_of, posts), strict=True))


def _text_of(post: dict[str, Any]) -> str:
    details = post["tweet_details"]
    article = details.get("article") or {}
    texts = (details["text"], article.get("title"), article.get("plain_text"))
    return " ".join(part for part in (*texts, *(post["tags"] or ())) if part).casefold()


def _grams(text: str) -> Iterator[str]:
    for word in _WORD.findall(text):
        if len(word) <= _GRAM:
            yield word
        yield from (word[at : at + _GRAM] for at in range(len(word) - _GRAM + 1))
