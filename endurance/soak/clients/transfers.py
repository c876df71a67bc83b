"""Clients that export and import: jobs of the workers, and files that a server reads."""

import itertools
import json
import time
from random import Random
from typing import Any, Final
from urllib.parse import urlsplit

from endurance.soak.clients.client import Answer, Client
from endurance.soak.clients.keyed_writes import KeyedWrites
from endurance.soak.clients.load import Setting
from endurance.soak.findings import Criterion
from endurance.soak.known_posts import EVERYTHING, Holder, Question, post
from endurance.soak.ledger import EXPORT, SAVED

# The service allows 20 per account and day.
MOST_EXPORTS: Final = 18
_PATIENCE_S: Final = 240.0
_POSTS_PER_FILE: Final = (20, 60)
_FIRST_IMPORTED: Final = 200_000
_FILES: Final = "/ingest/v1/files"
_JSON: Final = {"Content-Type": "application/json"}


class Exporter:
    """Exports accounts that never change, and compares the files with the posts."""

    def __init__(self, setting: Setting, holders: list[Holder], pages: dict[str, Any]) -> None:
        self._setting = setting
        self._turns = itertools.cycle(holders)
        self._most = MOST_EXPORTS * len(holders)
        self._started = 0
        # The bookmarks of each account as the API shows them.
        self._pages = pages

    def __call__(self) -> None:
        if self._started >= self._most:
            return
        self._started += 1
        holder = next(self._turns)
        client = self._setting.client(holder)
        key = f"export-{holder.name}-{self._started}"
        job = self._start(holder, key)
        finished = _finished(client, "poll export", f"/v1/exports/{job}")
        if finished is None or finished["status"] != "completed":
            self._setting.findings.add(Criterion.JOBS, f"export {job} ended as {finished}")
            return
        link = urlsplit(finished["download_url"])
        file = client.get("download", f"{link.path}?{link.query}")
        if _by_id(json.loads(file.body)) != _by_id(self._pages[holder.name]):
            sentence = f"export {job} of {holder.name} has not the posts of the account"
            self._setting.findings.add(Criterion.WRONG, sentence)

    def _start(self, holder: Holder, key: str) -> str:
        # The number of jobs at the end shows whether one was started twice.
        answer = KeyedWrites(self._setting, holder).send(
            "start export",
            ("POST", "/v1/exports/json"),
            {},
            key=key,
            effects=[(EXPORT,)],
            expected={202},
        )
        job: str = answer.json["data"]["job_id"]
        return job


class Importer:
    """Sends files with new posts, one after the other, until each is imported."""

    def __init__(self, setting: Setting, holder: Holder) -> None:
        self._setting, self._holder = setting, holder
        self._client = setting.client(holder)
        self._writes = KeyedWrites(setting, holder)
        self._chance = Random(f"{setting.seed} imports")
        self._next = _FIRST_IMPORTED
        self._files = itertools.count(1)
        self.resent = 0

    def __call__(self) -> None:
        word = f"import{next(self._files)}x"
        size = self._chance.randint(*_POSTS_PER_FILE)
        numbers = range(self._next, self._next + size)
        self._next += size
        posts = [self._post(number, word) for number in numbers]
        body = json.dumps(posts).encode()
        answer = self._imported(body)
        if answer is None:
            self._setting.findings.add(Criterion.JOBS, f"the file {word} was never imported")
            return
        changes = [(SAVED, each["post_id"], each["tweet_details"]["text"]) for each in posts]
        self._writes.acknowledge("import", ("POST", _FILES), b"", answer, key="", effects=changes)
        path = Question({"q": f'"{word}"', **EVERYTHING}, []).path("/count")
        counted = self._client.get("count imported", path).json["data"]["count"]
        if counted != size:
            self._setting.findings.add(Criterion.WRONG, f"GET {path}: {counted}, expected {size}")

    def _post(self, number: int, word: str) -> dict[str, Any]:
        made = post(self._holder, number)
        made["tweet_details"]["text"] += f" {word}"
        return {**made, "is_read": False, "is_archived": False, "tags": []}

    def _imported(self, body: bytes) -> Answer | None:
        """The server that receives a file reads it. If it stops, the file has to be sent again."""
        deadline = time.monotonic() + 2 * _PATIENCE_S
        while time.monotonic() < deadline:
            answer = self._client.send(
                "send file",
                "POST",
                _FILES,
                body,
                expected={202, 429},
                headers=_JSON,
            )
            if answer.status == 429:
                time.sleep(float(answer.headers["retry-after"]))
                continue
            path = f"{_FILES}/{answer.json['data']['job_id']}"
            finished = _finished(self._client, "poll file", path)
            if finished is not None and finished["status"] == "completed":
                return answer
            self.resent += 1
        return None


def _by_id(posts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """An export promises no order."""
    return sorted(posts, key=lambda each: str(each["post_id"]))


def _finished(client: Client, kind: str, path: str) -> dict[str, Any] | None:
    """The job when it has ended; None if it does not end."""
    deadline = time.monotonic() + _PATIENCE_S
    while time.monotonic() < deadline:
        answer = client.get(kind, path)
        data: dict[str, Any] = answer.json["data"]
        if data["status"] not in ("pending", "processing"):
            return data
        time.sleep(min(float(answer.headers.get("retry-after", "1")), 2.0))
    return None
