"""A client on the free plan: its calls are counted, and what costs money is refused."""

import itertools
import json
from random import Random
from typing import Final

from endurance.soak.clients.client import Answer
from endurance.soak.clients.keyed_writes import KeyedWrites
from endurance.soak.clients.load import Setting
from endurance.soak.findings import Criterion
from endurance.soak.known_posts import Holder
from endurance.soak.ledger import SAVED

CALLS: Final = 100
_FIRST_SAVED: Final = 100_000
_HEADERS: Final = {"Content-Type": "application/json"}


class FreeUser:
    def __init__(self, setting: Setting, holder: Holder) -> None:
        self._setting, self._holder = setting, holder
        self._client = setting.client(holder)
        self._writes = KeyedWrites(setting, holder)
        self._chance = Random(f"{setting.seed} free")
        self._saved = itertools.count()
        # Calls that were answered, and those whose answer was lost, which may have been counted.
        self.answered, self.unknown = 0, 0

    def __call__(self) -> None:
        works = [self.list, self.filter, self.label, self.save]
        [work] = self._chance.choices(works, [40, 10, 10, 20])
        work()

    def list(self) -> None:
        answer = self._client.get("free: list", "/v1/bookmarks?limit=5", {200, 402})
        self.unknown += answer.broken
        if answer.status == 200:
            self.answered += 1
            if self.answered > CALLS:
                self._find(f"call {self.answered} of {CALLS} was answered")
        elif self.answered + self.unknown < CALLS:
            self._find(f"refused after {self.answered} of {CALLS} calls: {answer.body!r}")

    def filter(self) -> None:
        answer = self._client.get("free: filter", "/v1/bookmarks?author=author1", {402})
        self._check(answer, "FILTER_NOT_ALLOWED")

    def label(self) -> None:
        body = {"tweet_ids": [self._holder.post_id(1)], "label_name": "paid"}
        answer = self._client.send(
            "free: label",
            "POST",
            "/v1/labels/add",
            json.dumps(body).encode(),
            expected={402},
            headers=_HEADERS,
        )
        self._check(answer, "SUBSCRIPTION_REQUIRED")

    def save(self) -> None:
        number = _FIRST_SAVED + next(self._saved)
        post_id, text = self._holder.post_id(number), self._holder.text(number)
        details = {"text": text, "link": f"https://x.com/writer/status/{post_id}"}
        answer = self._writes.send(
            "free: save",
            ("POST", "/v1/bookmarks"),
            {"posts": [{"post_id": post_id, "tweet_details": details}]},
            key=f"free-{number}",
            effects=[(SAVED, post_id, text)],
        )
        result = answer.json["data"]["results"][0]["result"]
        if result != "new":
            self._setting.findings.add(Criterion.DOUBLED, f"saving {post_id}: {result}")

    def _check(self, answer: Answer, code: str) -> None:
        """A used-up plan may be named before what the plan does not include."""
        codes = {code, "SUBSCRIPTION_REQUIRED"}
        if answer.json["code"] not in codes:
            self._find(f"expected {code}, got {answer.body!r}")

    def _find(self, sentence: str) -> None:
        self._setting.findings.add(Criterion.WRONG, f"free plan: {sentence}")
