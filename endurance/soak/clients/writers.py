"""Clients that write: each owns some posts of an account, so it knows what they must look like.

Several writers share an account, and with it the counters and the lock of its library.
"""

import itertools
from collections.abc import Callable, Sequence
from random import Random
from typing import Any, Final

from endurance.soak import ledger as effects
from endurance.soak.clients import tool_calls
from endurance.soak.clients.keyed_writes import KeyedWrites
from endurance.soak.clients.load import Setting
from endurance.soak.clients.owned_posts import OwnedPosts, is_restless
from endurance.soak.findings import Criterion
from endurance.soak.known_posts import EVERYTHING, Holder, Question
from endurance.soak.ledger import Effect, Shown

_LABELS: Final = 5
_MOST_VIEWS: Final = 60
_READ_BACK: Final = 0.4
_COUNTED: Final = 0.1
# The numbers of saved posts: above those of the known posts, and different for each writer.
_FIRST_SAVED: Final = 100_000
_SAVED_PER_WRITER: Final = 50_000
Check = Callable[[Any], bool]


class Writer:
    def __init__(
        self, setting: Setting, holder: Holder, number: int, own: dict[str, Shown]
    ) -> None:
        self._holder, self._number = holder, number
        self.name = f"{holder.name}-{number}"
        self._client = setting.client(holder)
        self._writes = KeyedWrites(setting, holder)
        self._chance = Random(f"{setting.seed} {self.name}")
        self._labels = [f"{self.name} label {each}" for each in range(_LABELS)]
        self._library = OwnedPosts(own, self._labels, self._chance)
        self._keys, self._saved = itertools.count(1), itertools.count()

    def __call__(self) -> None:
        """One write, and often a read of what it changed."""
        works: list[tuple[Callable[[], Sequence[str]], int]] = [
            (self.add_label, 30),
            (self.remove_label, 20),
            (self.batch, 10),
            (self.call_tool, 3),
            (self.mark, 10),
            (self.patch, 10),
            (self.save, 12),
            (self.create_view, 2),
            (self.delete, 3),
            (self.restore, 4),
        ]
        [work] = self._chance.choices([each for each, _ in works], [weight for _, weight in works])
        touched = work()
        if touched and self._chance.random() < _READ_BACK:
            self._read_back(self._chance.choice(touched))
        if self._chance.random() < _COUNTED:
            self._count(self._chance.choice(self._labels))

    def add_label(self) -> Sequence[str]:
        return self._label(is_added=True)

    def remove_label(self) -> Sequence[str]:
        return self._label(is_added=False)

    def batch(self) -> Sequence[str]:
        operations, changes = self._library.operations("tweet_ids", "label_name")
        sizes = [len(each["tweet_ids"]) for each in operations]
        self._write(
            "label batch",
            ("POST", "/v1/labels/batch"),
            {"operations": operations},
            changes,
            lambda answer: [each["affected"] for each in answer["data"]["results"]] == sizes,
        )
        return _posts(changes)

    def call_tool(self) -> Sequence[str]:
        """As a batch, through the tool server."""
        operations, changes = self._library.operations("post_ids", "label")
        key, kind = self._key(), "tool: labels"
        message = tool_calls.message(
            "batch_label", {"operations": operations, "idempotency_key": key}
        )
        answer = tool_calls.sent(self._client, kind, message)
        request = ("POST", "/mcp")
        self._writes.acknowledge(kind, request, message, answer, key=key, effects=changes)
        self._library.apply(changes)
        return _posts(changes)

    def mark(self) -> Sequence[str]:
        name, value = self._chance.choice(("is_read", "is_archived")), self._chance.random() < 0.5
        differing = [p for p, shown in self._library.posts.items() if getattr(shown, name) != value]
        chosen = self._library.some(differing)
        if chosen:
            self._write(
                "mark",
                ("POST", "/v1/bookmarks/update"),
                {"tweet_ids": chosen, name: value},
                [(effects.FLAG, post_id, name, value) for post_id in chosen],
                lambda answer: answer["meta"]["affected"] == len(chosen),
            )
        return chosen

    def patch(self) -> Sequence[str]:
        post_id, shown = self._chance.choice([*self._library.posts.items()])
        flags = {"is_read": not shown.is_read, "is_archived": self._chance.random() < 0.3}
        self._write(
            "patch",
            ("PATCH", f"/v1/bookmarks/{post_id}"),
            flags,
            [(effects.FLAG, post_id, name, value) for name, value in flags.items()],
            lambda answer: flags.items() <= answer["data"].items(),
        )
        return [post_id]

    def save(self) -> Sequence[str]:
        posts, changes = [], []
        for _ in range(self._chance.randint(1, 3)):
            number = _FIRST_SAVED + self._number * _SAVED_PER_WRITER + next(self._saved)
            post_id, text = self._holder.post_id(number), self._holder.text(number)
            link = f"https://x.com/writer/status/{post_id}"
            posts.append({"post_id": post_id, "tweet_details": {"text": text, "link": link}})
            changes.append((effects.SAVED, post_id, text))
        self._write(
            "save",
            ("POST", "/v1/bookmarks"),
            {"posts": posts},
            changes,
            lambda answer: {each["result"] for each in answer["data"]["results"]} == {"new"},
        )
        return _posts(changes)

    def create_view(self) -> Sequence[str]:
        """A second view of this name would get another slug, so a repeated write would show."""
        number = self._library.views.total()
        if number < _MOST_VIEWS:
            name = f"{self.name} view {number}"
            body = {"name": name, "base_query": {"tag": self._labels[0]}}
            slug = name.replace(" ", "-")
            self._write(
                "create view",
                ("POST", "/v1/views"),
                body,
                [(effects.VIEW, name)],
                lambda answer: answer["data"]["slug"] == slug,
            )
        return []

    def delete(self) -> Sequence[str]:
        restless = [p for p in self._library.posts if is_restless(int(p))]
        return self._move("delete", restless, effects.DELETED)

    def restore(self) -> Sequence[str]:
        return self._move("restore", [*self._library.trash], effects.RESTORED)

    def _move(self, what: str, candidates: Sequence[str], effect: str) -> Sequence[str]:
        chosen = self._library.some(candidates)
        if chosen:
            self._write(
                what,
                ("POST", f"/v1/bookmarks/{what}"),
                {"tweet_ids": chosen},
                [(effect, post_id) for post_id in chosen],
                lambda answer: (
                    (answer["data"]["state"], answer["data"]["changed"]) == ("done", len(chosen))
                ),
            )
        return chosen

    def _label(self, *, is_added: bool) -> Sequence[str]:
        what, name = "add" if is_added else "remove", self._chance.choice(self._labels)
        chosen = self._library.some_to_label(name, is_added=is_added)
        if chosen:
            self._write(
                f"label {what}",
                ("POST", f"/v1/labels/{what}"),
                {"tweet_ids": chosen, "label_name": name},
                [(effects.LABEL, post_id, name, is_added) for post_id in chosen],
                lambda answer: answer["meta"]["affected"] == len(chosen),
            )
        return chosen

    def _key(self) -> str:
        return f"{self.name}-{next(self._keys)}"

    def _write(
        self,
        kind: str,
        request: tuple[str, str],
        body: dict[str, Any],
        changes: Sequence[Effect],
        is_right: Check,
    ) -> None:
        key = self._key()
        answer = self._writes.send(kind, request, body, key=key, effects=changes)
        self._library.apply(changes)
        if not is_right(answer.json):
            # Every write changes something. If it says that it did not, it did so before.
            criterion = Criterion.DOUBLED if answer.broken else Criterion.WRONG
            said = answer.body[:300].decode(errors="replace")
            self._client.findings.add(criterion, f"{kind} {key} ({changes}) was answered: {said}")

    def _read_back(self, post_id: str) -> None:
        """A write that was acknowledged is visible on every server."""
        wanted = self._library.posts.get(post_id)
        path = f"/v1/bookmarks/{post_id}"
        answer = self._client.get("read back", path, {404} if wanted is None else {200})
        if wanted is not None and (seen := shown_of(answer.json["data"])) != wanted:
            sentence = f"GET {path} after a write: {seen}, expected {wanted}"
            self._client.findings.add(Criterion.WRONG, sentence)

    def _count(self, label: str) -> None:
        path = Question({"tag": label, **EVERYTHING}, []).path("/count")
        counted = self._client.get("count own label", path).json["data"]["count"]
        expected = len(self._library.labelled(label))
        if counted != expected:
            sentence = f"GET {path}: {counted}, expected {expected}"
            self._client.findings.add(Criterion.WRONG, sentence)


def shown_of(bookmark: dict[str, Any]) -> Shown:
    """Only the labels of writers: those of the known posts never change."""
    return Shown(
        bookmark["tweet_details"]["text"],
        set(bookmark["tags"] or ()),
        bookmark["is_read"],
        bookmark["is_archived"],
    )


def _posts(changes: Sequence[Effect]) -> list[str]:
    return [change[1] for change in changes]
