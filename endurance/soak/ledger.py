"""The acknowledged writes, in an append-only file, and the library that follows from them."""

import hashlib
import json
import threading
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

# The first word of an effect, and what follows it.
LABEL: Final = "label"  # post id, name, whether it was added
FLAG: Final = "flag"  # post id, name, value
SAVED: Final = "saved"  # post id, text
DELETED: Final = "deleted"  # post id
RESTORED: Final = "restored"  # post id
VIEW: Final = "view"  # name
EXPORT: Final = "export"  # nothing

Effect = Sequence[Any]


@dataclass(frozen=True)
class Write:
    """An acknowledged write: the request, the answer, and what it changed."""

    account: str
    kind: str
    method: str
    path: str
    body: str
    # Empty for a request that is repeatable without a key.
    key: str
    status: int
    digest: str
    effects: Sequence[Effect]


@dataclass
class Shown:
    """What the API shows about a post."""

    text: str
    labels: set[str] = field(default_factory=set)
    is_read: bool = False
    is_archived: bool = False


@dataclass
class Expected:
    """The library of an account after all acknowledged writes."""

    posts: dict[str, Shown]
    views: Counter[str]
    trash: dict[str, Shown]

    def apply(self, effects: Iterable[Effect]) -> None:
        for kind, *values in effects:
            if kind == VIEW:
                self.views[values[0]] += 1
            elif kind != EXPORT:
                self._change(kind, *values)

    def _change(self, kind: str, post_id: str, *values: Any) -> None:
        if kind == SAVED:
            self.posts[post_id] = Shown(values[0])
        elif kind == DELETED:
            self.trash[post_id] = self.posts.pop(post_id)
        elif kind == RESTORED:
            self.posts[post_id] = self.trash.pop(post_id)
        elif kind == FLAG:
            setattr(self.posts[post_id], values[0], values[1])
        elif values[1]:
            self.posts[post_id].labels.add(values[0])
        else:
            self.posts[post_id].labels.discard(values[0])


def digest(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


class Ledger:
    """Threads share it. A line is on disk before the writer goes on."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()
        self._saved: dict[str, set[str]] = {}

    def acknowledge(self, write: Write) -> None:
        line = json.dumps(asdict(write))
        with self._lock, self._path.open("a", encoding="utf-8") as file:
            file.write(line + "\n")
            self._counts[write.account] += 1
            saved = {effect[1] for effect in write.effects if effect[0] == SAVED}
            self._saved.setdefault(write.account, set()).update(saved)

    def saved(self, account: str) -> set[str]:
        """The posts that were saved so far."""
        with self._lock:
            return set(self._saved.get(account, ()))

    def count(self, account: str) -> int:
        return self._counts[account]

    @property
    def total(self) -> int:
        return self._counts.total()

    def writes(self, account: str | None = None) -> list[Write]:
        if not self._path.exists():
            return []
        with self._lock, self._path.open(encoding="utf-8") as file:
            found = [Write(**json.loads(line)) for line in file]
        return [write for write in found if account in (None, write.account)]

    def expected(self, account: str, before: dict[str, Shown]) -> Expected:
        """Changes `before`, which is the library before the first write."""
        library = Expected(before, Counter(), {})
        for write in self.writes(account):
            library.apply(write.effects)
        return library
