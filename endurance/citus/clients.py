"""Clients for what the soak leaves out: changes of many posts, digests, and search by meaning."""

import itertools
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from endurance.soak import verdict
from endurance.soak.clients.keyed_writes import KeyedWrites
from endurance.soak.clients.load import Setting
from endurance.soak.findings import Criterion
from endurance.soak.known_posts import EVERYTHING, WORDS, Holder, Question, post
from endurance.soak.ledger import FLAG, SAVED, Effect
from tests.support import serving

# More than a request changes itself: a job changes them.
POSTS: Final = 320
_IN_ONE_WRITE: Final = 80
_FIRST: Final = 300_000
_PATIENCE_S: Final = 240.0
_MOST_CHANGES: Final = 40
DAYS: Final = 12


class BulkChanger:
    """Archives all posts of an account, and takes them out again."""

    def __init__(self, setting: Setting, holder: Holder) -> None:
        self._findings, self._holder = setting.findings, holder
        self._client, self._writes = setting.client(holder), KeyedWrites(setting, holder)
        self._numbers = itertools.count(1)
        self._ids: list[str] = []
        self.changes = 0

    def fill(self) -> None:
        for start in range(_FIRST, _FIRST + POSTS, _IN_ONE_WRITE):
            posts = [self._post(number) for number in range(start, start + _IN_ONE_WRITE)]
            saved = [(SAVED, one["post_id"], one["tweet_details"]["text"]) for one in posts]
            self._send("fill", "/v1/bookmarks", {"posts": posts}, saved, 200)
        path = Question(dict(EVERYTHING), []).path("", limit="100")
        cursor = ""
        while True:
            page = self._client.get("fill", path + (f"&cursor={cursor}" if cursor else "")).json
            self._ids += [one["post_id"] for one in page["data"]]
            cursor = page["meta"]["next_cursor"]
            if not cursor:
                return

    def _post(self, number: int) -> dict[str, Any]:
        # Each day that gets a digest has some.
        saved_at = datetime.now(UTC) - timedelta(days=number % DAYS + 1)
        made = {**post(self._holder, number), "bookmarked_at": saved_at.isoformat()}
        return {**made, "is_read": False, "is_archived": False, "tags": []}

    def __call__(self) -> None:
        if self.changes == _MOST_CHANGES:
            return
        self.changes += 1
        is_archived = self.changes % 2 == 1
        body = {
            "action": "archive" if is_archived else "unarchive",
            "filters": {"is_unread_only": False, "hide_archived": False},
        }
        flags = [(FLAG, post_id, "is_archived", is_archived) for post_id in self._ids]
        change = self._send("change all", "/v1/bookmarks/changes", body, flags, 202)["change_id"]
        deadline = time.monotonic() + _PATIENCE_S
        state: dict[str, Any] = {}
        while time.monotonic() < deadline:
            state = self._client.get("poll change", f"/v1/bookmarks/changes/{change}").json["data"]
            if state["state"] == "done":
                return
            time.sleep(0.5)
        self._findings.add(Criterion.JOBS, f"the change {change} is {state}")

    def _send(
        self, kind: str, path: str, body: dict[str, Any], effects: Sequence[Effect], status: int
    ) -> dict[str, Any]:
        key = f"{self._holder.name}-bulk-{next(self._numbers)}"
        answer = self._writes.send(
            kind, ("POST", path), body, key=key, effects=effects, expected={status}
        )
        data: dict[str, Any] = answer.json["data"]
        return data


class MeaningReader:
    """Searches by meaning, and looks for similar posts: only those of the account may be found."""

    def __init__(self, setting: Setting, holder: Holder) -> None:
        self._client, self._holder = setting.client(holder), holder
        self._findings, self._turns = setting.findings, itertools.cycle(WORDS)
        self.found = 0

    def wait_for_vectors(self) -> None:
        """Until then, an account is told how many posts it has."""
        path, deadline = self._path(WORDS[0]), time.monotonic() + _PATIENCE_S
        while self._client.get("build vectors", path, {200, 402}).status == 402:
            if time.monotonic() > deadline:
                raise RuntimeError("The vectors were not built.")
            time.sleep(2)

    def __call__(self) -> None:
        word = next(self._turns)
        self._check(self._path(word))
        self._check(f"/v1/bookmarks/{self._holder.post_id(self._holder.posts - 1)}/similar")

    def _path(self, word: str) -> str:
        more = {"vector_search_term": f"{word} {self._holder.secret}", "limit": "10"}
        return Question(dict(EVERYTHING), []).path("", **more)

    def _check(self, path: str) -> None:
        posts = self._client.get("search by meaning", path).json["data"]
        self.found += len(posts)
        if any(self._holder.secret not in one["tweet_details"]["text"] for one in posts):
            self._findings.add(Criterion.WRONG, f"GET {path}: a post of another account")


class DigestMaker:
    """Creates the digests of the last days, again and again: each may be there once."""

    def __init__(self, setting: Setting, holder: Holder, environment: dict[str, str]) -> None:
        self._setting, self._holder = setting, holder
        self._environment = environment
        self._turns = itertools.cycle(range(1, DAYS + 1))
        self._made: set[str] = set()
        self.refused: list[str] = []

    def __call__(self) -> None:
        day = f"{datetime.now(UTC) - timedelta(days=next(self._turns)):%Y-%m-%d}"
        words = ("digest", self._holder.email, "--period", "daily", "--date", day)
        ran = serving.bowerbird(*words, environment=self._environment)
        if ran.returncode:
            self.refused.append(ran.stderr[-200:])
        else:
            self._made.add(day)

    def check(self) -> int:
        listed = self._setting.client(self._holder).get("digests", "/v1/digests?limit=50").json
        found = len(listed["data"])
        if not self._made:
            self._setting.findings.add(Criterion.JOBS, f"no digest was created: {self.refused}")
        verdict.compare_number(self._setting.findings, "digests", len(self._made), found)
        return found
