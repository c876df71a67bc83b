"""kill -9 during writes with idempotency keys: each is stored once, each retry is replayed."""

import asyncio
import http.client
import json
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple, Self

import pytest

from bowerbird.clock import system_clock
from bowerbird.library.imports.intake import Intake
from bowerbird.model.accounts import Account
from bowerbird.settings import Settings
from bowerbird.sources import own_json
from tests.crash.killing import EMAIL, assert_sound, opened
from tests.support import make, serving
from tests.support.postgres import ThrowawayPostgres
from tests.support.waiting import PATIENCE_S, wait_until

ROOT = Path(__file__).parents[2]
# `make crash` repeats it thousands of times.
ROUNDS = 8
CUTS = 10
MOST_WRITES = 30
A_WRITE_S = 0.02
CLIENTS = 4
POSTS = 200
# The client retries after these statuses.
ASKS_AGAIN = {409, 503}


class Answer(NamedTuple):
    status: int
    is_replayed: bool
    body: bytes


class Client:
    """Sends keyed label writes on one connection and retries each until it succeeds."""

    def __init__(self, port: int, key: str) -> None:
        self._port = port
        self._key = key
        self._connection: http.client.HTTPConnection | None = None
        self.lost = 0

    def write(self, number: int) -> Answer:
        """Sends write `number`; every number is a different pair of label and post."""
        label = f"label {number // POSTS}"
        body = json.dumps({"tweet_ids": [str(1 + number % POSTS)], "label_name": label})
        headers = {"Authorization": f"Bearer {self._key}", "Idempotency-Key": f"key-{number}"}

        def answered() -> Answer | None:
            answer = self._sent(body, headers)
            if answer is not None and answer.status not in ASKS_AGAIN:
                return answer
            self.lost += 1
            return None

        answer = wait_until(answered)
        assert answer is not None
        return answer

    def _sent(self, body: str, headers: dict[str, str]) -> Answer | None:
        """None if no response arrived; the write may or may not have happened."""
        if self._connection is None:
            self._connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=90)
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
    """Several clients that write concurrently until stopped, and the responses they got."""

    def __init__(self, port: int, key: str) -> None:
        self._clients = [Client(port, key) for _ in range(CLIENTS)]
        self._threads = [
            threading.Thread(target=self._work, args=(first, client))
            for first, client in enumerate(self._clients)
        ]
        self._is_over = threading.Event()
        self._is_answered = threading.Condition()
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
        """How many requests got no final response."""
        return sum(client.lost for client in self._clients)

    def wait_for_more(self, count: int) -> None:
        """Waits until `count` more writes are answered; other writes are in flight then."""
        with self._is_answered:
            wanted = len(self.answers) + count
            assert self._is_answered.wait_for(lambda: len(self.answers) >= wanted, PATIENCE_S)

    def repeated(self) -> dict[int, Answer]:
        with closing(self._clients[0]) as client:
            return {number: client.write(number) for number in self.answers}

    def _work(self, first: int, client: Client) -> None:
        number = first
        while not self._is_over.is_set():
            answer = client.write(number)
            with self._is_answered:
                self.answers[number] = answer
                self._is_answered.notify_all()
            number += CLIENTS


class Lives:
    """A server that a test can kill; it restarts immediately."""

    def __init__(self, orders: IO[str], answers: IO[str]) -> None:
        """The standard input and output of `tests.crash.lives`."""
        self._orders, self._answers = orders, answers
        self.kills = 0

    def kill(self) -> None:
        self._orders.write("\n")
        self._orders.flush()
        assert self._answers.readline(), "a life ended by itself"
        self.kills += 1


@contextmanager
def lives(environment: dict[str, str]) -> Iterator[Lives]:
    with subprocess.Popen(
        [sys.executable, "-m", "tests.crash.lives"],
        cwd=ROOT,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdin
        assert process.stdout
        try:
            yield Lives(process.stdin, process.stdout)
        finally:
            process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0


async def prepared(settings: Settings) -> Account:
    """Imports posts to label and returns the account."""
    async with opened(settings) as (database, account):
        records = [make.post(post_id=str(number + 1)) for number in range(POSTS)]
        arrivals = [own_json.whole_post(make.raw(record)) for record in records]
        await Intake(database, system_clock).take(account, arrivals)
    async with opened(settings) as (_, account):
        return account


async def check_library(settings: Settings, before: Account, writes: int) -> None:
    """Checks that each write raised the version once and attached one label to one post."""
    async with opened(settings) as (database, account):
        attached = await database.rows("SELECT count(*) FROM bookmark_label", {})
        kept = await database.rows("SELECT count(*) FROM idempotency", {})
        assert account.version - before.version == writes
        assert (attached[0][0], kept[0][0]) == (writes, writes)
        await assert_sound(database, account)


def new_key(environment: dict[str, str]) -> str:
    serving.command("account", "create", EMAIL, environment=environment)
    return serving.command("key", "create", EMAIL, environment=environment).split()[-1]


Disturb = Callable[[Clients, Lives], object]


def kill_at_any_moment(
    clients: Clients, lives: Lives, chance: random.Random | None = None, rounds: int = ROUNDS
) -> None:
    chance = chance or random.Random(0)  # noqa: S311 - a repeatable choice, not a secret
    for _ in range(rounds):
        # Anything from no further response to many.
        clients.wait_for_more(chance.randrange(MOST_WRITES))
        # Sleep on purpose: the kill must be able to hit any moment of a write, not only its end.
        time.sleep(chance.uniform(0, A_WRITE_S))
        lives.kill()


def assert_exactly_once(settings: dict[str, Any], disturb: Disturb, rounds: int = ROUNDS) -> None:
    port = serving.free_port()
    environment = serving.environment_of(**settings, port=port, admin_port=0)
    key = new_key(environment)
    before = asyncio.run(prepared(Settings(**settings)))

    with lives(environment) as server:
        clients = written(port, key, server, disturb)

    assert len(clients.answers) > 10 * rounds
    assert clients.lost > rounds / 2
    asyncio.run(check_library(Settings(**settings), before, len(clients.answers)))


def written(port: int, key: str, server: Lives, disturb: Disturb) -> Clients:
    """Writes while `disturb` runs, and checks that each write repeats its first answer."""
    with Clients(port, key) as clients:
        disturb(clients, server)
        clients.wait_for_more(MOST_WRITES)
    first, again = clients.answers, clients.repeated()
    assert {answer.status for answer in first.values()} == {200}
    assert {json.loads(answer.body)["meta"]["affected"] for answer in first.values()} == {1}
    assert again == {n: Answer(200, is_replayed=True, body=a.body) for n, a in first.items()}
    return clients


def test_each_keyed_write_is_stored_once_when_the_server_is_killed(
    settings: dict[str, Any],
) -> None:
    assert_exactly_once(settings, kill_at_any_moment)


@pytest.mark.parametrize("settings", ["postgres"], indirect=True)
def test_each_keyed_write_is_stored_once_when_database_connections_drop(
    settings: dict[str, Any], postgres: ThrowawayPostgres
) -> None:
    def cut_connections(clients: Clients, lives: Lives) -> None:
        for number in range(CUTS):
            clients.wait_for_more(MOST_WRITES // 2)
            postgres.kill_backends()
            if number % 5 == 0:
                lives.kill()

    assert_exactly_once(settings, cut_connections, CUTS)
