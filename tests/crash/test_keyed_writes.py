"""kill -9 while a client writes with keys: each write is there exactly once, each retry replays."""

import asyncio
import http.client
import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple, Self

import pytest

from bowerbird.cli.context import opened_library
from bowerbird.clock import system_clock
from bowerbird.library.accounts.accounts import Accounts
from bowerbird.library.bookmarks.upsert import Upsert
from bowerbird.library.upkeep.checks import Checks
from bowerbird.model.accounts import Account
from bowerbird.settings import Settings
from bowerbird.sources import own_json
from tests.support import make, serving

ROOT = Path(__file__).parents[2]
EMAIL = "you@example.com"
ROUNDS = 100
CLIENTS = 4
POSTS = 200
# Such answers ask for the same request once more.
ASKS_AGAIN = {409, 503}
PATIENCE_S = 20.0


class Answer(NamedTuple):
    status: int
    is_replayed: bool
    body: bytes


class Client:
    """Sends keyed label writes on one connection, each until it is answered."""

    def __init__(self, port: int, key: str) -> None:
        self._port = port
        self._key = key
        self._connection: http.client.HTTPConnection | None = None
        self.lost = 0

    def write(self, number: int) -> Answer:
        """Writes no. `number`: no two of them put the same label on the same post."""
        label = f"label {number // POSTS}"
        body = json.dumps({"tweet_ids": [str(1 + number % POSTS)], "label_name": label})
        headers = {"Authorization": f"Bearer {self._key}", "Idempotency-Key": f"key-{number}"}
        deadline = time.monotonic() + PATIENCE_S
        while True:
            answer = self._sent(body, headers)
            if answer is not None and answer.status not in ASKS_AGAIN:
                return answer
            assert time.monotonic() < deadline, answer
            self.lost += 1
            time.sleep(0.005)

    def _sent(self, body: str, headers: dict[str, str]) -> Answer | None:
        """None when no answer came, which says nothing about the write."""
        if self._connection is None:
            self._connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=5)
        try:
            self._connection.request("POST", "/v1/labels/add", body, headers)
            response = self._connection.getresponse()
            is_replayed = response.headers.get("Idempotency-Replayed") == "true"
            return Answer(response.status, is_replayed, response.read())
        except (OSError, http.client.HTTPException):
            self.close()
            return None

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


class Clients:
    """Several at work until they are told to stop, and all they were answered."""

    def __init__(self, port: int, key: str) -> None:
        self._clients = [Client(port, key) for _ in range(CLIENTS)]
        self._threads = [
            threading.Thread(target=self._work, args=(first, client))
            for first, client in enumerate(self._clients)
        ]
        self._is_over = threading.Event()
        self.answers: dict[int, Answer] = {}

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        for thread in self._threads:
            thread.join()
        for client in self._clients:
            client.close()

    @property
    def lost(self) -> int:
        """How often a request got no answer that ends it."""
        return sum(client.lost for client in self._clients)

    def repeated(self) -> dict[int, Answer]:
        with closing(self._clients[0]) as client:
            return {number: client.write(number) for number in self.answers}

    def _work(self, first: int, client: Client) -> None:
        number = first
        while not self._is_over.is_set():
            self.answers[number] = client.write(number)
            number += CLIENTS


@contextmanager
def lives(environment: dict[str, str], rounds: int) -> Iterator[IO[str]]:
    """A server that is killed so many times; its output has a line when it is so no more."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.crash.lives", str(rounds)],
        cwd=ROOT,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout
        try:
            yield process.stdout
        finally:
            process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0


async def prepared(settings: Settings) -> Account:
    """An account with posts to label."""
    async with opened_library(settings) as opened:
        account = await Accounts(opened.database, system_clock).find(EMAIL)
        records = [make.post(post_id=str(number + 1)) for number in range(POSTS)]
        arrivals = [own_json.read(make.raw(record)).incoming for record in records]
        await Upsert(opened.database, system_clock).take(account, arrivals)
        return await Accounts(opened.database, system_clock).find(EMAIL)


async def look_over(settings: Settings, before: Account, writes: int) -> None:
    """Each write raised the version once and left one label on one post."""
    async with opened_library(settings) as opened:
        account = await Accounts(opened.database, system_clock).find(EMAIL)
        checks = Checks(opened.database, fixes=False, is_deep=True)
        attached = await opened.database.rows("SELECT count(*) FROM bookmark_label", {})
        kept = await opened.database.rows("SELECT count(*) FROM idempotency", {})
        assert account.version - before.version == writes
        assert (attached[0][0], kept[0][0]) == (writes, writes)
        assert await checks.account(account, lambda _: None) == []


def new_key(environment: dict[str, str]) -> str:
    for command in (("account", "create", EMAIL), ("key", "create", EMAIL)):
        made = serving.bowerbird(*command, environment=environment)
        assert made.returncode == 0, made.stderr
    return made.stdout.split()[-1]


def assert_exactly_once(
    settings: dict[str, Any], rounds: int, disturb: Callable[[], object] | None = None
) -> None:
    port = serving.free_port()
    environment = serving.environment_of(**settings, port=port, admin_port=0)
    key = new_key(environment)
    before = asyncio.run(prepared(Settings(**settings)))

    with lives(environment, rounds) as output:
        with Clients(port, key) as clients:
            if disturb:
                disturb()
            assert output.readline(), "a life ended by itself"
        again = clients.repeated()

    first = clients.answers
    assert len(first) > 10 * rounds
    assert clients.lost > rounds / 2
    assert {answer.status for answer in first.values()} == {200}
    assert {json.loads(answer.body)["meta"]["affected"] for answer in first.values()} == {1}
    assert again == {n: Answer(200, is_replayed=True, body=a.body) for n, a in first.items()}
    asyncio.run(look_over(Settings(**settings), before, len(first)))


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_killed_server_leaves_each_keyed_write_exactly_once(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    if kind == "sqlite":
        assert_exactly_once({"data_dir": tmp_path / "data"}, ROUNDS)
        return
    with request.getfixturevalue("postgres").fresh_database("migrated") as url:
        assert_exactly_once({"data_dir": tmp_path / "data", "database_url": url}, ROUNDS)


def test_cut_connections_leave_each_keyed_write_exactly_once(
    request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    postgres = request.getfixturevalue("postgres")

    def cut_connections() -> None:
        for _ in range(30):
            time.sleep(0.1)
            postgres.kill_backends()

    with postgres.fresh_database("migrated") as url:
        settings = {"data_dir": tmp_path / "data", "database_url": url}
        assert_exactly_once(settings, 3, cut_connections)
