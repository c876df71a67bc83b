"""Posts whose answers are known beforehand, different for each account.

The first posts of all accounts have the same ids, so an answer from another account shows.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Final
from urllib.parse import urlencode

# No word is a form of another one, or within one letter of it.
WORDS: Final = ("quokka", "lyrebird", "wombat", "cassowary", "bilby", "echidna", "dunnart")
LABELS: Final = ("field notes", "coast", "evening")
AUTHORS: Final = 12
SHARED: Final = 40
_SPAN: Final = 1_000_000
EVERYTHING: Final = {"is_unread_only": "false", "hide_archived": "false"}


@dataclass(frozen=True)
class Holder:
    """An account of the soak."""

    name: str
    index: int
    posts: int
    plan: str = "pro"

    @property
    def email(self) -> str:
        return f"{self.name}@example.com"

    @property
    def secret(self) -> str:
        """A word that all posts of this account have, and none of another one."""
        return f"secret{self.name * 2}"

    def post_id(self, number: int) -> str:
        return str(_SPAN + number if number < SHARED else (self.index + 2) * _SPAN + number)

    def text(self, number: int) -> str:
        return f"{WORDS[number % len(WORDS)]} n{number} {self.secret}"


def post(holder: Holder, number: int) -> dict[str, Any]:
    """A bookmark in the format of the API; a higher number is newer."""
    handle, post_id = f"author{number % AUTHORS}", holder.post_id(number)
    return {
        "post_id": post_id,
        "author_id": str(number % AUTHORS),
        "author_username": handle,
        "author_details": {"name": f"Author {number % AUTHORS}", "username": handle},
        "sort_index": number,
        "tweet_details": {
            "text": holder.text(number),
            "link": f"https://x.com/{handle}/status/{post_id}",
            "posted_at": "2026-01-01T00:00:00+00:00",
        },
        "is_read": number % 4 == 0,
        "is_archived": number % 25 == 3,
        "tags": [LABELS[number % len(LABELS)]] if number % 2 else [],
    }


@dataclass(frozen=True)
class Question:
    """Filters, and the numbers of the posts that match them, newest first."""

    filters: dict[str, str]
    numbers: Sequence[int]

    def path(self, place: str, **more: str) -> str:
        return f"/v1/bookmarks{place}?{urlencode({**self.filters, **more})}"


_Matches = Callable[[int], bool]


def any_question(holder: Holder, chance: Random) -> Question:
    """A random combination of filters over the account's first posts."""
    filters: dict[str, str] = {}
    checks: list[_Matches] = []
    if chance.random() < 0.5:
        filters["is_unread_only"] = "false"
    else:
        checks.append(lambda number: number % 4 != 0)
    if chance.random() < 0.5:
        filters["hide_archived"] = "false"
    else:
        checks.append(lambda number: number % 25 != 3)
    for name, value, check in chance.sample(_choices(holder, chance), chance.randrange(3)):
        filters[name] = value
        checks.append(check)
    newest_first = range(holder.posts - 1, -1, -1)
    return Question(filters, [n for n in newest_first if all(check(n) for check in checks)])


def _choices(holder: Holder, chance: Random) -> list[tuple[str, str, _Matches]]:
    author, label = chance.randrange(AUTHORS), chance.randrange(len(LABELS))
    word, one = chance.randrange(len(WORDS)), chance.randrange(holder.posts)
    searches: list[tuple[str, _Matches]] = [
        (WORDS[word], lambda number: number % len(WORDS) == word),
        (f"n{one}", lambda number: number == one),
        (f"{WORDS[word]} {holder.secret}", lambda number: number % len(WORDS) == word),
        (f"{holder.secret} -{WORDS[word]}", lambda number: number % len(WORDS) != word),
    ]
    text, matches = chance.choice(searches)
    return [
        ("author", f"author{author}", lambda number: number % AUTHORS == author),
        (
            "tag",
            LABELS[label],
            lambda number: number % 2 == 1 and number % len(LABELS) == label,
        ),
        ("q", text, matches),
    ]
