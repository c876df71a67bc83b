"""What clients sent, and what was acknowledged."""

import threading
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple


class Answer(NamedTuple):
    phase: str
    # The release of the node: "old" or "new".
    release: str
    kind: str
    # 0 if the connection broke.
    status: int
    has_retry_after: bool
    started: float
    seconds: float
    text: str


class Write(NamedTuple):
    """An acknowledged write."""

    account: str
    kind: str
    method: str
    path: str
    body: dict[str, Any]
    key: str
    phase: str
    release: str
    data: Any

    @property
    def is_by_an_old_node_on_the_new_schema(self) -> bool:
        return self.release == "old" and self.phase != BEFORE


BEFORE = "before the migration"
MIGRATING = "during the migration"
OLD_NODES = "old nodes on the new schema"
REPLACING = "nodes are replaced"
NEW_NODES = "new nodes"
RETURNED = "an old node again"
PHASES = (BEFORE, MIGRATING, OLD_NODES, REPLACING, NEW_NODES, RETURNED)


class Ledger:
    def __init__(self) -> None:
        self.phase = BEFORE
        self.answers: list[Answer] = []
        self.writes: list[Write] = []
        # Writes that no retry got through.
        self.given_up: list[str] = []
        # Answers of 200 with the wrong content.
        self.wrong: list[str] = []
        self._lock = threading.Lock()

    def answered(self, answer: Answer) -> None:
        with self._lock:
            self.answers.append(answer)

    def acknowledged(self, write: Write) -> None:
        with self._lock:
            self.writes.append(write)

    def of_kind(self, account: str, kind: str) -> list[Write]:
        return [write for write in self.writes if (write.account, write.kind) == (account, kind)]


def is_allowed(answer: Answer) -> bool:
    """A node may refuse for a moment, but has to say when to retry."""
    return 200 <= answer.status < 300 or (answer.status == 503 and answer.has_retry_after)


def longest(answers: Iterable[Answer], kinds: frozenset[str]) -> Answer | None:
    return max((a for a in answers if a.kind in kinds), key=lambda a: a.seconds, default=None)


def by_status(answers: Iterable[Answer]) -> "Counter[tuple[str, str, int]]":
    return Counter((answer.phase, answer.release, answer.status) for answer in answers)


class Expected:
    """The state that the acknowledged writes of an account lead to."""

    def __init__(self, writes: Iterable[Write], account: str) -> None:
        # By id, with the changes of their notes and flags.
        self.posts: dict[str, dict[str, Any]] = {}
        # The posts of each label.
        self.labels: dict[str, set[str]] = {}
        self.views: list[str] = []
        self.exports: list[str] = []
        followed: dict[str, Callable[[Write], object]] = {
            "save": self._save,
            "update": self._update,
            "delete": self._delete,
            "label": self._label,
            "view": lambda write: self.views.append(write.body["name"]),
            "export": lambda write: self.exports.append(write.data["job_id"]),
        }
        for write in writes:
            if write.account == account:
                followed[write.kind](write)

    def _save(self, write: Write) -> None:
        for post in write.body["posts"]:
            self.posts[post["post_id"]] = dict(post)
            for name in post["tags"] or ():
                self.labels.setdefault(name, set()).add(post["post_id"])

    def _update(self, write: Write) -> None:
        self.posts[_post_id(write)].update(write.body)

    def _delete(self, write: Write) -> None:
        removed = _post_id(write)
        del self.posts[removed]
        for members in self.labels.values():
            members.discard(removed)

    def _label(self, write: Write) -> None:
        members = self.labels.setdefault(write.body["label_name"], set())
        members.update(write.body["tweet_ids"])


def _post_id(write: Write) -> str:
    return write.path.rpartition("/")[2]
