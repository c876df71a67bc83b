"""A light mixed load: clients that read, save, label, note, mark, delete and export."""

import itertools
import random
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, Final

import httpx

from benchmarks import posts as generated
from bowerbird.requests import limits
from endurance.upgrade import posts
from endurance.upgrade.ledger import Answer, Ledger, Write
from endurance.upgrade.nodes import Balancer

LARGE: Final = "large@example.com"
SMALL: Final = "small@example.com"
CLIENTS: Final = 4
WRITES: Final = frozenset({"save", "update", "delete", "label", "view", "export"})
_PAUSE_S: Final = 0.03
_RETRY_S: Final = 0.25
_PATIENCE_S: Final = 90.0
_WORDS: Final = ("the", "and", "https", "music", "data", "is", "for")


class Client(threading.Thread):
    """One client. Only it changes the posts it has saved, so that their order is known."""

    def __init__(
        self,
        number: int,
        balancer: Balancer,
        ledger: Ledger,
        keys: dict[str, str],
        known: Sequence[str],
    ) -> None:
        super().__init__(name=f"client-{number}")
        self._number = number
        self._balancer = balancer
        self._ledger = ledger
        self._keys = keys
        self._known = known
        self._random = random.Random(number)
        self._counter = itertools.count()
        self._own: list[int] = []
        self._export = ""
        self._exports_left = limits.EXPORTS_PER_DAY
        self._stopping = threading.Event()
        self._http = httpx.Client(timeout=30, trust_env=False)
        self.failure: BaseException | None = None

    def stop(self) -> None:
        self._stopping.set()

    def run(self) -> None:
        actions: list[tuple[int, Callable[[], None]]] = [
            (4, self._list),
            (3, self._search),
            (1, self._count),
            (2, self._by_author),
            (6, self._save),
            (3, self._update),
            (1, self._delete_post),
            (4, self._label),
        ]
        if self._number == 0:
            actions += [(1, self._view), (1, self._export_posts)]
        weights = [weight for weight, _ in actions]
        try:
            while not self._stopping.is_set():
                self._random.choices(actions, weights)[0][1]()
                self._stopping.wait(_PAUSE_S)
        except BaseException as error:  # noqa: BLE001 - reported at the end
            self.failure = error
        finally:
            self._http.close()

    def _list(self) -> None:
        query: dict[str, Any] = {"limit": 40}
        for _ in range(2):
            page = self._read("list", LARGE, "/v1/bookmarks", query)
            if page is None:
                return
            if len(page["data"]) != 40:
                self._ledger.wrong.append(f"a page of the list has {len(page['data'])} posts")
            # The next page comes from another node.
            query["cursor"] = page["meta"]["next_cursor"]

    def _search(self) -> None:
        self._read("search", LARGE, "/v1/bookmarks", {"q": self._random.choice(_WORDS)})
        if self._own:
            number = self._random.choice(self._own)
            self._find_one("search", number, q=posts.word(number))

    def _by_author(self) -> None:
        query = {"author": generated.frequent_author()}
        self._read("list", LARGE, "/v1/bookmarks", query)
        if self._own:
            number = self._random.choice(self._own)
            self._find_one("list", number, **posts.around(number))

    def _count(self) -> None:
        self._read("count", LARGE, "/v1/bookmarks/count", {})
        self._read("list", LARGE, "/v1/bookmarks", {"media_type": "gif", "limit": 5})

    def _find_one(self, kind: str, number: int, **query: str) -> None:
        shown: dict[str, Any] = {**query, "is_unread_only": "false"}
        page = self._read(kind, SMALL, "/v1/bookmarks", shown)
        wanted = [posts.post_id(number)]
        if page is not None and [post["post_id"] for post in page["data"]] != wanted:
            self._ledger.wrong.append(f"{query} did not find the saved post, but {page['data']!r}")

    def _save(self) -> None:
        numbers = [self._next_number() for _ in range(self._random.randint(1, 3))]
        label = self._random.choice(posts.LABELS)
        body = {"posts": [posts.saved_post(number, label) for number in numbers]}
        if self._write("save", SMALL, "POST", "/v1/bookmarks", body):
            self._own += numbers

    def _update(self) -> None:
        if not self._own:
            return
        number = self._random.choice(self._own)
        changes: list[dict[str, Any]] = [
            {"note": f"noted{next(self._counter)} about {posts.word(number)}"},
            {"is_read": self._random.random() < 0.5},
            {"is_archived": False, "is_read": True},
        ]
        path = f"/v1/bookmarks/{posts.post_id(number)}"
        self._write("update", SMALL, "PATCH", path, self._random.choice(changes))

    def _delete_post(self) -> None:
        if len(self._own) < 20:
            return
        number = self._own.pop(self._random.randrange(len(self._own)))
        path = f"/v1/bookmarks/{posts.post_id(number)}"
        self._write("delete", SMALL, "DELETE", path, {})

    def _label(self) -> None:
        chosen = self._random.sample(self._known, self._random.randint(1, 5))
        name = f"client {self._number} label {self._random.randrange(12)}"
        body = {"tweet_ids": chosen, "label_name": name}
        self._write("label", LARGE, "POST", "/v1/labels/add", body)

    def _view(self) -> None:
        if next(self._counter) % 5:
            self._read("view", LARGE, "/v1/views/upgrade-view/bookmarks", {"limit": 10})
            return
        body = {"name": f"View {next(self._counter)}", "base_query": {"q": "data"}}
        self._write("view", SMALL, "POST", "/v1/views", body)

    def _export_posts(self) -> None:
        if self._export:
            page = self._read("poll", SMALL, f"/v1/exports/{self._export}", {})
            if page is not None and page["data"]["status"] in ("completed", "failed"):
                self._export = ""
            return
        # Some in every phase: the account may start no more of them in a day.
        if self._random.random() < 0.5 or not self._exports_left:
            return
        self._exports_left -= 1
        wrote = self._write("export", SMALL, "POST", "/v1/exports/json", {})
        self._export = "" if wrote is None else wrote.data["job_id"]

    def _next_number(self) -> int:
        return self._number * 100_000 + next(self._counter)

    def _read(
        self, kind: str, account: str, path: str, query: dict[str, Any]
    ) -> dict[str, Any] | None:
        answer, response = self._send(kind, account, "GET", path, params=query)
        page: dict[str, Any] = response.json() if response and answer.status == 200 else {}
        return page or None

    def _write(
        self, kind: str, account: str, method: str, path: str, body: dict[str, Any]
    ) -> Write | None:
        """Sends the same write, with the same key, until a node acknowledges it."""
        key = f"client-{self._number}-{next(self._counter)}"
        headers = {"Idempotency-Key": key}
        sent = {"json": body} if body or method == "POST" else {}
        deadline = time.monotonic() + _PATIENCE_S
        is_repeated = False
        while time.monotonic() < deadline:
            answer, response = self._send(kind, account, method, path, headers=headers, **sent)
            # A deleted post is gone; only a lost answer can lead to a second request.
            is_done = is_repeated and method == "DELETE" and answer.status == 404
            if (200 <= answer.status < 300 and answer.status != 207) or is_done:
                data = response.json().get("data") if response else None
                fields = (account, kind, method, path, body, key, answer.phase, answer.release)
                write = Write(*fields, data)
                self._ledger.acknowledged(write)
                return write
            if answer.status not in (0, 503):
                break
            is_repeated = True
            time.sleep(_RETRY_S)
        self._ledger.given_up.append(f"{method} {path}: {answer.status} {answer.text}")
        return None

    def _send(
        self, kind: str, account: str, method: str, path: str, **sent: Any
    ) -> tuple[Answer, httpx.Response | None]:
        headers = {"Authorization": f"Bearer {self._keys[account]}", **sent.pop("headers", {})}
        with self._balancer.node(self._random.getrandbits(16)) as node:
            phase, started = self._ledger.phase, time.monotonic()
            response: httpx.Response | None = None
            try:
                response = self._http.request(method, node.url + path, headers=headers, **sent)
                status, text = response.status_code, response.text[:200]
            except httpx.TransportError as error:
                status, text = 0, repr(error)
            seconds = time.monotonic() - started
            release = node.release.name
        has_retry_after = response is not None and "retry-after" in response.headers
        shown = "" if 200 <= status < 300 else f"{method} {path}: {text}"
        answer = Answer(phase, release, kind, status, has_retry_after, started, seconds, shown)
        self._ledger.answered(answer)
        return answer, response
