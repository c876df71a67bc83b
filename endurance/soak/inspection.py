"""Looks at everything once the clients have stopped and all nodes run again."""

import json
import subprocess
import time
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final, Protocol

from endurance.soak import cast, verdict
from endurance.soak.clients.client import UnansweredError
from endurance.soak.clients.free_plan import CALLS, FreeUser
from endurance.soak.clients.load import Setting
from endurance.soak.findings import Criterion
from endurance.soak.known_posts import EVERYTHING, Holder, Question
from endurance.soak.ledger import EXPORT, Write, digest
from tests.support import serving

_THREADS: Final = 6
_JOBS_S: Final = 180.0
_ENDED: Final = ("completed", "expired")


class Rows(Protocol):
    def rows(self, statement: str) -> list[list[str]]:
        """What the database of the service answers."""


@dataclass(frozen=True)
class Inspection:
    setting: Setting
    members: Mapping[str, cast.Member]
    postgres: Rows
    environment: dict[str, str]
    # By how much a write of each kind raises the version of its library.
    steps: Mapping[str, int]

    def run(self, versions: Mapping[str, int], free: FreeUser) -> None:
        """`versions` are those of the libraries before the first write."""
        writes = self.setting.ledger.writes()
        with ThreadPoolExecutor(_THREADS) as pool:
            # Asking for the results raises what a thread raised.
            list(pool.map(self._repeat, [write for write in writes if write.key]))
        self._compare_keys(writes)
        self._compare_versions(writes, versions)
        self._check_calls(free)
        # The free plan cannot read all pages.
        self._command("account", "plan", cast.FREE.email, "pro")
        for holder in (*cast.CHANGING, cast.FREE, cast.IMPORTING):
            self._compare(holder)
        self._check_jobs(writes)
        self._check_counters()

    def versions(self) -> dict[str, int]:
        return self._by_account("SELECT account_id, version FROM library")

    def bookmarks(self, holder: Holder) -> list[dict[str, Any]]:
        """Everything that the API lists."""
        client, found, cursor = self.setting.client(holder), [], ""
        while True:
            more = {"limit": "100"} | ({"cursor": cursor} if cursor else {})
            path = Question(dict(EVERYTHING), []).path("", **more)
            page = client.get("inspect", path).json
            found += page["data"]
            cursor = page["meta"]["next_cursor"]
            if not cursor:
                return found

    def _repeat(self, write: Write) -> None:
        """A repeated key returns the stored answer and changes nothing."""
        holder = next(each for each in cast.ALL if each.name == write.account)
        headers = {"Content-Type": "application/json"}
        if write.path != "/mcp":
            headers["Idempotency-Key"] = write.key
        findings = self.setting.findings
        try:
            answer = self.setting.client(holder).send(
                "replay",
                write.method,
                write.path,
                write.body.encode(),
                expected={write.status},
                headers=headers,
            )
        except UnansweredError:
            verdict.compare_replay(findings, write.key, is_replayed=False, is_same=False)
            return
        # A tool has no header that says so; another answer or a version shows a second time.
        is_replayed = write.path == "/mcp" or answer.headers.get("idempotency-replayed") == "true"
        is_same = digest(answer.body) == write.digest
        verdict.compare_replay(findings, write.key, is_replayed=is_replayed, is_same=is_same)

    def _compare(self, holder: Holder) -> None:
        client, findings = self.setting.client(holder), self.setting.findings
        expected = self.setting.ledger.expected(holder.name, cast.before(holder))
        bookmarks = self.bookmarks(holder)
        views = [each["name"] for each in client.get("inspect", "/v1/views").json["data"]]
        verdict.compare_library(findings, holder.name, expected, bookmarks, views)
        labels = client.get("inspect", "/v1/labels").json["data"]
        counts = {each["label_name"]: each["count"] for each in labels}
        verdict.compare_labels(findings, holder.name, bookmarks, counts)

    def _compare_keys(self, writes: list[Write]) -> None:
        stored = self._by_account("SELECT account_id, count(*) FROM idempotency GROUP BY 1")
        used = Counter(write.account for write in writes if write.key)
        for holder in cast.ALL:
            if holder is not cast.REHEARSING:
                name = holder.name
                verdict.compare_number(
                    self.setting.findings, f"{name}: keys", used[name], stored.get(name, 0)
                )

    def _compare_versions(self, writes: list[Write], before: Mapping[str, int]) -> None:
        after = self.versions()
        raised = Counter[str]()
        for write in writes:
            raised[write.account] += self.steps.get(write.kind, 0)
        # A file may be read in parts, or twice.
        for holder in (*cast.STILL, *cast.CHANGING, cast.FREE):
            name = holder.name
            expected = before[name] + raised[name]
            verdict.compare_number(self.setting.findings, f"{name}: version", expected, after[name])

    def _check_jobs(self, writes: list[Write]) -> None:
        deadline = time.monotonic() + _JOBS_S
        while True:
            jobs = json.loads(self._command("jobs", "list", "--limit", "10000", "--json").stdout)
            bad = [job for job in jobs if job["state"] not in _ENDED]
            if not bad or time.monotonic() > deadline:
                break
            time.sleep(1)
        for job in bad:
            self.setting.findings.add(Criterion.JOBS, f"{job}")
        started = sum(effect[0] == EXPORT for write in writes for effect in write.effects)
        exports = sum(job["kind"].startswith("export") for job in jobs)
        verdict.compare_number(self.setting.findings, "export jobs", started, exports)

    def _check_counters(self) -> None:
        ran = self._command("check", "--deep")
        if ran.returncode != 0 or "No problems found." not in ran.stdout:
            for line in (ran.stdout + ran.stderr).splitlines():
                self.setting.findings.add(Criterion.COUNTERS, line)

    def _check_calls(self, free: FreeUser) -> None:
        """Answered calls are counted once. An answer that was lost may have been counted."""
        account = self.setting.client(cast.FREE).get("inspect", "/v1/account").json["data"]
        used = account["calls"]["used"]
        most = min(CALLS, free.answered + free.unknown)
        if not free.answered <= used <= most:
            sentence = f"free plan: {used} calls used, expected {free.answered} to {most}"
            self.setting.findings.add(Criterion.COUNTERS, sentence)

    def _by_account(self, statement: str) -> dict[str, int]:
        found = {int(row[0]): int(row[1]) for row in self.postgres.rows(statement)}
        return {
            name: found[member.account_id]
            for name, member in self.members.items()
            if member.account_id in found
        }

    def _command(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return serving.bowerbird(*arguments, environment=self.environment)
