"""Clients that read, and compare each answer with what is known about the account."""

from collections.abc import Sequence
from random import Random
from typing import Any, Final
from urllib.parse import quote, urlencode

from endurance.soak.clients import tool_calls
from endurance.soak.clients.client import Answer
from endurance.soak.clients.load import Setting
from endurance.soak.clients.owned_posts import is_restless
from endurance.soak.findings import Criterion
from endurance.soak.known_posts import (
    EVERYTHING,
    LABELS,
    WORDS,
    Holder,
    any_question,
)
from endurance.soak.ledger import digest

_PAGE: Final = 100
_MOST_PAGES: Final = 4


class Reader:
    """Reads an account that never changes, and tries to read that of somebody else."""

    def __init__(self, setting: Setting, holder: Holder, stranger: Holder) -> None:
        self._holder, self._stranger = holder, stranger
        self._client, self._other = setting.client(holder), setting.client(stranger)
        self._findings = setting.findings
        self._chance = Random(f"{setting.seed} reads {holder.name}")
        # The same request returns the same bytes, from every server.
        self._seen: dict[str, tuple[str, str]] = {}

    def __call__(self) -> None:
        works = [self.list, self.count, self.show, self.look_at_labels, self.intrude]
        [work] = self._chance.choices(works, [40, 20, 25, 5, 10])
        work()

    def list(self) -> None:
        """The first pages of a random query."""
        question = any_question(self._holder, self._chance)
        limit, start, cursor = self._chance.choice((5, 20, 100)), 0, ""
        for _ in range(_MOST_PAGES):
            more = {"limit": str(limit)} | ({"cursor": cursor} if cursor else {})
            path = question.path("", **more)
            answer = self._read("search" if "q" in question.filters else "list", path)
            if answer is None:
                return
            page = answer.json
            self._compare(path, page, question.numbers, slice(start, start + limit))
            start, cursor = start + limit, page["meta"]["next_cursor"]
            if (start < len(question.numbers)) is not bool(cursor):
                self._wrong(f"GET {path}: next_cursor {cursor!r} after {start} posts")
            if not cursor:
                return

    def crawl(self) -> None:
        """All pages: every post once, in order."""
        numbers = range(self._holder.posts - 1, -1, -1)
        found: list[str] = []
        cursor = ""
        while len(found) <= len(numbers):
            more = {"limit": str(_PAGE)} | ({"cursor": cursor} if cursor else {})
            page = self._client.get("crawl", _path("", EVERYTHING, more)).json
            found += [each["post_id"] for each in page["data"]]
            cursor = page["meta"]["next_cursor"]
            if not cursor:
                break
        if found != [self._holder.post_id(number) for number in numbers]:
            self._wrong(f"crawl of {self._holder.name}: {len(found)} posts, not those expected")

    def count(self) -> None:
        question = any_question(self._holder, self._chance)
        path = question.path("/count")
        answer = self._read("count", path)
        if answer is not None and answer.json["data"]["count"] != len(question.numbers):
            self._wrong(f"GET {path}: {answer.body!r}, expected {len(question.numbers)}")

    def show(self) -> None:
        number = self._chance.randrange(self._holder.posts)
        path = f"/v1/bookmarks/{self._holder.post_id(number)}"
        answer = self._read("show", path)
        if answer is not None:
            text = answer.json["data"]["tweet_details"]["text"]
            if text != self._holder.text(number):
                self._wrong(f"GET {path} of {self._holder.name}: {text!r}")

    def look_at_labels(self) -> None:
        answer = self._read("labels", "/v1/labels")
        if answer is not None:
            counts = {each["label_name"]: each["count"] for each in answer.json["data"]}
            if counts != _label_counts(self._holder):
                self._wrong(f"GET /v1/labels of {self._holder.name}: {counts}")

    def intrude(self) -> None:
        """Asks for what only the other account has."""
        works = [self._other_post, self._other_word, self._other_cursor]
        self._chance.choice(works)()

    def call_tool(self) -> None:
        word = self._chance.randrange(len(WORDS))
        arguments = {"query": WORDS[word], "is_unread_only": False, "hide_archived": False}
        message = tool_calls.message("count_bookmarks", arguments)
        answer = tool_calls.content(tool_calls.sent(self._client, "tool: count", message))
        expected = len(range(word, self._holder.posts, len(WORDS)))
        if answer["count"] != expected:
            self._wrong(f"count_bookmarks {arguments}: {answer}, expected {expected}")

    def _other_post(self) -> None:
        post_id = self._stranger.post_id(self._stranger.posts - 1)
        self._client.get("post of another account", f"/v1/bookmarks/{post_id}", {404})

    def _other_word(self) -> None:
        path = _path("", EVERYTHING, {"q": self._stranger.secret})
        page = self._client.get("word of another account", path).json
        if page["data"] or page["meta"]["total_count"]:
            self._wrong(f"GET {path}: posts of {self._stranger.name} for {self._holder.name}")

    def _other_cursor(self) -> None:
        page = self._other.get("list", _path("", EVERYTHING, {"limit": "5"})).json
        path = _path("", EVERYTHING, {"limit": "5", "cursor": page["meta"]["next_cursor"]})
        self._client.get("cursor of another account", path, {400})

    def _read(self, kind: str, path: str) -> Answer | None:
        """None if the server says that nothing has changed since the last time."""
        known = self._seen.get(path)
        is_conditional = known is not None and self._chance.random() < 0.3
        headers = {"If-None-Match": known[1]} if known and is_conditional else {}
        answer = self._client.get(kind, path, {200, 304} if is_conditional else {200}, **headers)
        if answer.status == 304:
            return None
        seen = digest(answer.body), answer.headers["etag"]
        if known is not None and known != seen:
            self._wrong(f"GET {path} of {self._holder.name}: not the same bytes as before")
        self._seen[path] = seen
        return answer

    def _compare(
        self, path: str, page: dict[str, Any], numbers: Sequence[int], part: slice
    ) -> None:
        found = [(each["post_id"], each["tweet_details"]["text"]) for each in page["data"]]
        holder = self._holder
        expected = [(holder.post_id(number), holder.text(number)) for number in numbers[part]]
        if found != expected or page["meta"]["total_count"] != len(numbers):
            total = page["meta"]["total_count"]
            self._wrong(
                f"GET {path} of {holder.name}: {len(found)} posts of {total}, "
                f"expected {len(expected)} of {len(numbers)}, {found[:2]} {expected[:2]}"
            )

    def _wrong(self, sentence: str) -> None:
        self._findings.add(Criterion.WRONG, sentence)


class ChangingCrawl:
    """Reads all pages of an account while others write: each lasting post appears once."""

    def __init__(self, setting: Setting, holder: Holder) -> None:
        self._holder, self._setting = holder, setting
        self._client = setting.client(holder)

    def __call__(self) -> None:
        holder = self._holder
        known = {holder.post_id(number) for number in range(holder.posts)}
        lasting = {
            each
            for each in known | self._setting.ledger.saved(holder.name)
            if not is_restless(int(each))
        }
        found: list[str] = []
        cursor = ""
        while True:
            more = {"limit": str(_PAGE)} | ({"cursor": cursor} if cursor else {})
            page = self._client.get("crawl while writing", _path("", EVERYTHING, more)).json
            found += [each["post_id"] for each in page["data"]]
            cursor = page["meta"]["next_cursor"]
            if not cursor:
                break
        missing = lasting - set(found)
        if missing or len(set(found)) < len(found):
            twice = len(found) - len(set(found))
            sentence = f"crawl of {holder.name}: {twice} posts twice, missing {sorted(missing)[:5]}"
            self._setting.findings.add(Criterion.WRONG, sentence)


def _path(place: str, *parameters: dict[str, str]) -> str:
    merged = {name: value for each in parameters for name, value in each.items()}
    return f"/v1/bookmarks{place}?{urlencode(merged, quote_via=quote)}"


def _label_counts(holder: Holder) -> dict[str, int]:
    odd = range(1, holder.posts, 2)
    return {
        name: sum(number % len(LABELS) == place for number in odd)
        for place, name in enumerate(LABELS)
    }
