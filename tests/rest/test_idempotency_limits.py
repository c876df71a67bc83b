"""How many answers of keyed writes an account may store per day."""

from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import pytest

from bowerbird.clock import day_of
from bowerbird.library.upkeep.sweeping import Sweeping
from bowerbird.requests import limits
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.libraries import KEYED_ANSWERS, DailyUseStore, DayUse
from tests.support import writing
from tests.support.in_turn import in_turn
from tests.support.service import Member, Service
from tests.support.toolcalls import call, refusal
from tests.support.writing import DAY, HOUR

pytestmark = [pytest.mark.anyio, pytest.mark.both]

# From 08:21:13.84 to midnight.
LEFT_OF_DAY_S = 15 * 3_600 + 38 * 60 + 47


async def _use(member: Member, *, uses: int = 0, size: int = 0) -> None:
    store = DailyUseStore(member.database, KEYED_ANSWERS)
    day = day_of(member.clock())
    await member.database.write(
        lambda t: store.add(t, member.account_id, day, uses=uses, size=size)
    )


async def _used(member: Member) -> DayUse:
    store = DailyUseStore(member.database, KEYED_ANSWERS)
    return await store.used(member.database, member.account_id, day_of(member.clock()))


async def _mark(
    member: Member, post_id: str, key: str | None, *, is_read: bool = True
) -> httpx.Response:
    path = f"/v1/bookmarks/{post_id}"
    return await writing.send(member, "PATCH", path, {"is_read": is_read}, key)


def _is_refused(response: httpx.Response) -> bool:
    return writing.refused(response) == (429, "IDEMPOTENCY_LIMIT")


async def test_a_keyed_write_beyond_the_daily_number_writes_nothing(alice: Member) -> None:
    await alice.save(post_id="1")
    await _use(alice, uses=limits.KEYED_ANSWERS_PER_DAY - 1)
    last = await _mark(alice, "1", "last")
    before = await writing.version(alice)

    response = await _mark(alice, "1", "beyond", is_read=False)

    assert last.status_code == 200
    assert _is_refused(response)
    assert response.json()["error"] == (
        "Idempotency-Key: this account has stored 10,000 responses today (UTC), the maximum. "
        "Nothing was changed. Retry tomorrow, or without a key."
    )
    assert int(response.headers["retry-after"]) == LEFT_OF_DAY_S
    assert await writing.version(alice) == before
    # Stored answers are still replayed, and a write without a key stores nothing.
    assert (await _mark(alice, "1", "last")).headers["idempotency-replayed"] == "true"
    assert (await _mark(alice, "1", None, is_read=False)).status_code == 200


async def test_a_keyed_write_beyond_the_daily_bytes_is_refused(alice: Member) -> None:
    await alice.save(post_id="1")
    await _use(alice, size=limits.KEYED_BYTES_PER_DAY - 1)
    assert (await _mark(alice, "1", "last")).status_code == 200

    response = await _mark(alice, "1", "beyond")

    assert _is_refused(response)
    assert "has stored 100 MB of responses today" in response.json()["error"]


async def test_the_next_day_has_room_again(alice: Member) -> None:
    await alice.save(post_id="1")
    await _use(alice, uses=limits.KEYED_ANSWERS_PER_DAY)
    refused = await _mark(alice, "1", "k")

    alice.clock.now += int(refused.headers["retry-after"]) * writing.SECOND

    assert (await _mark(alice, "1", "k")).status_code == 200
    assert (await _used(alice)).uses == 1


@in_turn(
    ("send", "status"),
    [
        (lambda member, key: _mark(member, "4711", key), 404),
        (lambda member, key: _mark(member, "x" * 500, key), 404),
        (lambda member, key: writing.send(member, "PATCH", "/v1/bookmarks/1", [], key), 400),
    ],
)
async def test_keyed_refusals_of_a_free_account_count_and_are_bounded(
    cast: Service, send: Callable[[Member, str], Awaitable[httpx.Response]], status: int
) -> None:
    before = await _used(cast.free)
    response = await send(cast.free, f"k-{before.uses}")
    again = await send(cast.free, f"k-{before.uses}")
    after = await _used(cast.free)

    assert (response.status_code, again.status_code) == (status, status)
    assert "idempotency-replayed" in again.headers
    assert after.uses == before.uses + 1
    assert 50 < after.bytes - before.bytes < 600
    await _use(cast.free, uses=limits.KEYED_ANSWERS_PER_DAY)
    assert _is_refused(await send(cast.free, "beyond"))
    await _use(cast.free, uses=-limits.KEYED_ANSWERS_PER_DAY)


async def test_refusals_that_are_not_stored_are_not_counted(cast: Service) -> None:
    response = await writing.send(cast.free, "POST", "/v1/views", {"name": "V"}, "k")

    assert response.status_code == 402
    assert await _used(cast.free) == DayUse()


async def test_a_tool_call_with_a_key_beyond_the_limit_is_refused(alice: Member) -> None:
    await _use(alice, uses=limits.KEYED_ANSWERS_PER_DAY)

    said = await refusal(alice, "create_view", name="V", idempotency_key="k")

    assert said.startswith("IDEMPOTENCY_LIMIT: idempotency_key: this account has stored 10,000")
    assert said.endswith("Call again without idempotency_key.")
    assert (await call(alice, "create_view", name="V"))["slug"] == "v"


class Counting:
    """A database that notes the result of each write."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.results: list[int] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._database, name)

    async def write(self, work: Callable[[Transaction], Awaitable[int]]) -> int:
        self.results.append(await self._database.write(work))
        return self.results[-1]


async def _removed_per_transaction(cast: Service) -> list[int]:
    """Sweeps a day later, and returns how many answers each transaction removed."""
    cast.clock.now += DAY + HOUR
    counting: Any = Counting(cast.database)
    await Sweeping(counting, cast.clock, pause_s=0).sweep()
    assert await cast.database.rows("SELECT 1 FROM idempotency", {}) == []
    return [count for count in counting.results if count]


async def test_expired_answers_are_removed_a_few_at_a_time(cast: Service) -> None:
    for index in range(250):
        await _mark(cast.alice, "4711", f"k-{index}")

    assert await _removed_per_transaction(cast) == [100, 100, 50]


async def test_expired_large_answers_are_removed_one_or_two_at_a_time(cast: Service) -> None:
    for index in range(5):
        await _mark(cast.alice, "4711", f"k-{index}")
        cast.clock.now += 1
    large = {"body": b"x" * 5_000_000, "account_id": cast.alice.account_id}
    sql = "UPDATE idempotency SET body = :body WHERE account_id = :account_id"
    await cast.database.write(lambda t: t.run(sql, large))

    assert await _removed_per_transaction(cast) == [2, 2, 1]
