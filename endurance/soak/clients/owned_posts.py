"""The posts that one writer owns: what they must look like, and random choices among them."""

from collections import Counter
from collections.abc import Sequence
from random import Random
from typing import Any, Final

from endurance.soak.ledger import LABEL, Effect, Expected, Shown

_MOST_CHOSEN: Final = 5
_FEW: Final = 10


def is_restless(number: int) -> bool:
    """Only these posts are deleted, so that a crawl knows which ones it must find."""
    return number % 10 >= 8


class OwnedPosts(Expected):
    def __init__(self, posts: dict[str, Shown], labels: Sequence[str], chance: Random) -> None:
        super().__init__(posts, Counter(), {})
        self._labels, self._chance = labels, chance

    def labelled(self, label: str) -> list[str]:
        return [post_id for post_id, shown in self.posts.items() if label in shown.labels]

    def some(self, post_ids: Sequence[str]) -> list[str]:
        most = min(_MOST_CHOSEN, len(post_ids))
        return self._chance.sample(post_ids, self._chance.randint(1, most)) if most else []

    def some_to_label(self, label: str, *, is_added: bool) -> list[str]:
        """Posts that lack the label, or have it: the write changes each of them."""
        labelled = set(self.labelled(label))
        return self.some([each for each in self.posts if (each in labelled) is not is_added])

    def operations(self, ids: str, name: str) -> tuple[list[dict[str, Any]], list[Effect]]:
        """A batch with one operation per label; `ids` and `name` are its fields."""
        operations: list[dict[str, Any]] = []
        effects: list[Effect] = []
        for label in self._chance.sample(self._labels, self._chance.randint(2, 4)):
            is_added = len(self.labelled(label)) < _FEW or self._chance.random() < 0.5
            chosen = self.some_to_label(label, is_added=is_added)
            operations.append({"op": "add" if is_added else "remove", ids: chosen, name: label})
            effects += [(LABEL, post_id, label, is_added) for post_id in chosen]
        return operations, effects
