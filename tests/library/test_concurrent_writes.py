"""Concurrent writes to one account, from tasks and processes, lose nothing and count correctly."""

import asyncio
import json
import sys
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from bowerbird.clock import MICROSECONDS
from bowerbird.errors import Code, Refusal
from bowerbird.library.upkeep.checks import Checks
from bowerbird.model.accounts import Account
from bowerbird.settings import Settings
from bowerbird.storage.database import Transaction
from bowerbird.storage.opening import open_database
from bowerbird.storage.postgres.database import Limits
from bowerbird.wire.idempotency import Idempotency
from bowerbird.wire.responses.answer_cache import RequestTarget
from bowerbird.wire.responses.replies import REPLAYED, Reply
from bowerbird.wire.routes import Call, Handler
from bowerbird.wire.writes import Writes, done
from tests.library import writers
from tests.support import databases, make, service, serving
from tests.support.postgres import ThrowawayPostgres
from tests.support.service import Member
from tests.support.waiting import until

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).parents[2]
PROCESSES = 2
EXPECTED = {200, 207, 400, 404}


@pytest.fixture
def postgres_limits() -> Limits:
    """For sixty requests on four connections, however busy the machine is."""
    return Limits(wait_s=60, lock_s=60, statement_s=60)


@asynccontextmanager
async def library_of(
    kind: str, request: pytest.FixtureRequest, folder: Path
) -> AsyncIterator[tuple[Member, dict[str, str]]]:
    """Alice on a database that other processes can open, and the environment for these."""
    if kind == "sqlite":
        async with opened({"data_dir": folder / "data"}) as found:
            yield found
        return
    with request.getfixturevalue("postgres").fresh_database("migrated") as url:
        settings = {"data_dir": folder, "database_url": url, "postgres_connections": 8}
        async with opened(settings) as found:
            yield found


@asynccontextmanager
async def opened(settings: dict[str, Any]) -> AsyncIterator[tuple[Member, dict[str, str]]]:
    database = await open_database(Settings(**settings))
    try:
        cast = await service.build(database)
        yield cast.alice, serving.environment_of(**settings)
    finally:
        await database.close()


async def fill(alice: Member) -> None:
    await alice.save_all([make.post(post_id=str(n + 1)) for n in range(writers.POSTS)])


async def assert_consistent(alice: Member) -> None:
    checks = Checks(alice.database, fixes=False, is_deep=True)
    assert await checks.leftovers() == []
    assert await checks.account(await alice.account(), lambda _: None) == []


async def start_writer(alice: Member, environment: dict[str, str], seed: int) -> Counter[int]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.library.writers"),
        *(str(alice.account_id), alice.key, f"process {seed}"),
        cwd=ROOT,
        env=environment,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate()
    assert process.returncode == 0, err.decode()
    return Counter({int(status): count for status, count in json.loads(out).items()})


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
async def test_counters_and_tags_are_correct_after_every_kind_of_write(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    async with library_of(kind, request, tmp_path) as (alice, environment):
        await fill(alice)
        before = (await alice.account()).version

        statuses = await asyncio.gather(
            writers.write_concurrently(alice.database, alice.account_id, alice.key, "here"),
            *(start_writer(alice, environment, seed) for seed in range(PROCESSES)),
        )

        answered = sum(statuses, Counter())
        assert set(answered) <= EXPECTED, answered
        assert answered[200] > 100
        assert (await alice.account()).version > before
        await assert_consistent(alice)


async def test_every_write_is_counted_once(alice: Member) -> None:
    await fill(alice)
    before = (await alice.account()).version
    names = [f"label {number:02d}" for number in range(40)]

    async with writers.client_of(alice.database, alice.key) as client:
        answers = await asyncio.gather(*(add(client, name) for name in names))

    assert {answer.status_code for answer in answers} == {200}
    assert (await alice.account()).version == before + len(names)
    listed = await alice.listed(limit=100)
    assert [post["tags"] for post in listed["data"] if post["post_id"] == "1"] == [names]
    await assert_consistent(alice)


async def test_concurrent_writes_of_a_new_name_create_one_label(alice: Member) -> None:
    await fill(alice)

    async with writers.client_of(alice.database, alice.key) as client:
        spellings = ["Reading", "reading", "READING", " reading "]
        await asyncio.gather(
            *(add(client, name, str(n + 1)) for n, name in enumerate(spellings)),
        )
        labels = (await client.get("/v1/labels")).json()["data"]

    assert [label["count"] for label in labels] == [4]
    await assert_consistent(alice)


async def test_concurrent_requests_with_the_same_key_are_executed_once(alice: Member) -> None:
    await fill(alice)
    before = (await alice.account()).version
    keys = [f"key-{number}" for number in range(15)]

    async with writers.client_of(alice.database, alice.key) as client:
        groups = await asyncio.gather(*(send_four_times(client, key) for key in keys))

    assert (await alice.account()).version == before + len(keys)
    for answers in groups:
        assert_executed_once(answers)
    await assert_consistent(alice)


async def test_concurrent_requests_with_an_expired_key_run_once_more(alice: Member) -> None:
    await fill(alice)
    call = a_call(await alice.account(), "again")
    for _ in range(2):
        effects = Effects()
        write = handler_of(alice, effects)
        replies = await asyncio.gather(*(write(call) for _ in range(4)))
        assert effects.count == 1
        assert sum(REPLAYED in reply.headers for reply in replies) == 3
        alice.clock.now += 25 * 3_600 * MICROSECONDS


async def test_a_twin_does_not_wait_for_ever(postgres: ThrowawayPostgres) -> None:
    async with databases.fresh_postgres(postgres, Limits(lock_s=0.1)) as database:
        alice = (await service.build(database)).alice
        call = a_call(await alice.account(), "slow")
        effects = Effects(is_blocked=True)
        write = handler_of(alice, effects)
        first = asyncio.ensure_future(write(call))
        await effects.has_started.wait()

        with pytest.raises(Refusal) as refused:
            await write(call)

        assert refused.value.code == Code.IDEMPOTENCY_IN_PROGRESS
        assert refused.value.headers == {"Retry-After": "1"}
        effects.may_end.set()
        replayed = await write(call)
        assert (replayed.body, effects.count) == ((await first).body, 1)
        assert REPLAYED in replayed.headers


# Connections that wait for a lock.
WAITING = "SELECT pid FROM pg_locks WHERE NOT granted"


@pytest.mark.parametrize("kind", ["postgres"])
async def test_a_request_is_executed_if_the_earlier_one_with_the_same_key_fails(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    async with library_of(kind, request, tmp_path) as (alice, _):
        call = a_call(await alice.account(), "failing")
        failing = Effects(is_blocked=True, failure=RuntimeError("a fault"))
        first = asyncio.ensure_future(handler_of(alice, failing)(call))
        await failing.has_started.wait()
        effects = Effects()
        second = asyncio.ensure_future(handler_of(alice, effects)(call))
        await until(lambda: alice.database.rows(WAITING, {}))
        failing.may_end.set()

        with pytest.raises(RuntimeError):
            await first
        assert REPLAYED not in (await second).headers
        assert effects.count == 1


async def add(client: httpx.AsyncClient, name: str, post_id: str = "1") -> httpx.Response:
    body = {"tweet_ids": [post_id], "label_name": name}
    return await client.post("/v1/labels/add", json=body)


async def send_four_times(client: httpx.AsyncClient, key: str) -> list[httpx.Response]:
    body = {"tweet_ids": ["1", "2"], "label_name": f"label of {key}"}
    headers = {"Idempotency-Key": key}
    return await asyncio.gather(
        *(client.post("/v1/labels/add", json=body, headers=headers) for _ in range(4))
    )


def assert_executed_once(answers: list[httpx.Response]) -> None:
    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.content for answer in answers}) == 1
    assert answers[0].json()["meta"]["affected"] == 2
    replayed = [answer.headers.get("idempotency-replayed") for answer in answers]
    assert Counter(replayed) == {"true": 3, None: 1}


def a_call(account: Account, key: str) -> Call:
    target = RequestTarget(
        path="/v1/labels/add", query_string=b"", accept_encoding=b"", if_none_match=None
    )
    return Call(account, "POST", target, {}, b"{}", key.encode())


def handler_of(member: Member, effects: "Effects") -> Handler:
    idempotency = Idempotency(member.database, member.clock)
    return Writes(idempotency, "https://example.com").handler(effects)


class Effects:
    """Counts the executions of a request, and can block or fail."""

    def __init__(self, *, is_blocked: bool = False, failure: Exception | None = None) -> None:
        self.count = 0
        self.has_started, self.may_end = asyncio.Event(), asyncio.Event()
        self._failure = failure
        if not is_blocked:
            self.may_end.set()

    async def __call__(self, _transaction: Transaction, _call: Call) -> Reply:
        self.count += 1
        self.has_started.set()
        await self.may_end.wait()
        if self._failure is not None:
            raise self._failure
        return done({"number": self.count})
