"""Idempotency-Key on every POST, PUT and PATCH, and how many answers are kept."""

import gzip
import json
from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import pytest

from bowerbird import app
from bowerbird.clock import day_of
from bowerbird.library.upkeep.sweeping import Sweeping
from bowerbird.requests import limits
from bowerbird.settings import Settings
from bowerbird.storage.database import Database, Readable, Transaction, Writable
from bowerbird.storage.libraries import KEYED_ANSWERS, DailyUseStore, DayUse
from tests.support import writing
from tests.support.in_turn import in_turn
from tests.support.offenders import Offenders
from tests.support.service import Member, Service, member
from tests.support.toolcalls import call, refusal
from tests.support.writing import DAY, HOUR

pytestmark = pytest.mark.anyio


ADD = "/v1/labels/add"


def _is_replayed(response: httpx.Response) -> bool:
    return "true" in response.headers.get_list("idempotency-replayed")


async def _raw(
    member: Member, content: bytes, key: str = "k", path: str = ADD, **headers: str
) -> httpx.Response:
    named = {"Idempotency-Key": key, **{n.replace("_", "-"): v for n, v in headers.items()}}
    return await member.client.post(path, content=content, headers=named)


def _body(name: str, *post_ids: str) -> dict[str, Any]:
    return {"tweet_ids": list(post_ids), "label_name": name}


# Writes: method, path, body. "{id}" is the label "x", "{into}" the label "y", "v" the view "V".
WRITES: list[tuple[str, str, Any]] = [
    ("POST", "/v1/bookmarks", {"links": ["https://x.com/ada/status/20", "https://example.com"]}),
    ("POST", "/v1/labels/add", _body("new", "1", "7")),
    ("POST", "/v1/labels/remove", _body("x", "1")),
    ("POST", "/v1/labels/batch", {"operations": [{"op": "add", **_body("n", "1")}, None]}),
    ("PATCH", "/v1/labels/{id}", {"label_name": "z", "metadata": {"a": 1}}),
    ("POST", "/v1/labels/{id}/merge", {"into": "{into}"}),
    ("PATCH", "/v1/bookmarks/1", {"is_read": True}),
    ("POST", "/v1/bookmarks/update", {"tweet_ids": ["1"], "is_archived": True}),
    ("POST", "/v1/bookmarks/2/restore", None),
    ("POST", "/v1/views", {"name": "V"}),
    ("PATCH", "/v1/views/v", {"description": "other"}),
    ("PATCH", "/v1/digests/preferences", {"hour": 6}),
    ("POST", "/v1/exports/json", {"q": "x"}),
]


async def _prepared(owner: Member, path: str, body: Any) -> tuple[str, Any]:
    await owner.save(post_id="1", tags=["x", "y"])
    await owner.save(post_id="2")
    await writing.send(owner, "DELETE", "/v1/bookmarks/2")
    await writing.view(owner, "V")
    text = json.dumps([path, body])
    for mark, name in {"{id}": "x", "{into}": "y"}.items():
        text = text.replace(mark, await writing.label_id(owner, name))
    target, filled = json.loads(text)
    return target, filled


@pytest.mark.both
async def test_a_repeat_returns_the_same_bytes_and_changes_nothing(cast: Service) -> None:
    offenders = Offenders()
    for number, (method, path, body) in enumerate(WRITES):
        owner = await member(cast.app, cast.database, cast.clock, f"owner{number}", "pro")
        async with owner.client:
            target, filled = await _prepared(owner, path, body)
            first = await writing.send(owner, method, target, filled, key="k")
            after = await writing.version(owner)
            cast.clock.now += HOUR
            again = [await writing.send(owner, method, target, filled, key="k") for _ in range(2)]
            with offenders.check((method, path)):
                assert first.status_code < 300
                assert not _is_replayed(first)
                for repeat in again:
                    assert _is_replayed(repeat)
                    assert repeat.status_code == first.status_code
                    assert repeat.content == first.content
                    for name in ("content-type", "location"):
                        assert repeat.headers.get(name) == first.headers.get(name)
                assert await writing.version(owner) == after
                assert await writing.recount(owner) == []
    assert offenders == {}


async def test_keys_are_those_of_an_account(alice: Member, bob: Member) -> None:
    for one, name in ((alice, "x"), (bob, "y")):
        await one.save(post_id="1")
        assert (await writing.send(one, "POST", ADD, _body(name, "1"), key="k")).is_success


async def test_a_different_key_executes_the_request_again(alice: Member) -> None:
    for key in ("a", "A", "a-"):
        response = await writing.send(alice, "POST", "/v1/views", {"name": "V"}, key=key)
        assert not _is_replayed(response)

    assert len((await alice.get("/v1/views")).json()["data"]) == 3


# Scope and fingerprint
async def test_the_same_key_with_another_body_is_422(alice: Member) -> None:
    await alice.save(post_id="1")
    await writing.send(alice, "POST", ADD, _body("x", "1"), key="k")
    others: list[Any] = [_body("y", "1"), _body("x", "1", "1"), _body("x"), {}, None, [], "x"]

    for body in others:
        response = await writing.send(alice, "POST", ADD, body, key="k")
        assert writing.refused(response) == (422, "IDEMPOTENCY_KEY_REUSED")
        assert writing.sentence(response).startswith("Idempotency-Key: ")
        assert not _is_replayed(response)
    assert await writing.labels(alice) == {"x": 1}


async def test_the_same_key_with_another_path_or_method_is_422(alice: Member) -> None:
    await alice.save(post_id="1", tags=["x"])
    body = {"is_read": True}
    await writing.send(alice, "PATCH", "/v1/bookmarks/1", body, key="k")

    for method, path in (
        ("PATCH", "/v1/bookmarks/2"),
        ("POST", "/v1/bookmarks/1/restore"),
        ("POST", "/v1/bookmarks/update"),
    ):
        response = await writing.send(alice, method, path, body, key="k")
        assert writing.refused(response) == (422, "IDEMPOTENCY_KEY_REUSED")


async def test_bodies_are_compared_by_value(alice: Member) -> None:
    await alice.save(post_id="1")
    await _raw(alice, b'{"tweet_ids":["1"],"label_name":"\xc3\xa9"}')

    for same in (
        b'{"label_name":"\xc3\xa9","tweet_ids":["1"]}',
        b' {\n"tweet_ids" : [ "1" ] ,\t"label_name" : "\\u00e9" } \r\n',
        b'{"label_name":"?","tweet_ids":["1"],"label_name":"\\u00E9"}',
    ):
        assert _is_replayed(await _raw(alice, same)), same
    packed = gzip.compress(b'{"tweet_ids":["1"],"label_name":"\xc3\xa9"}')
    assert _is_replayed(await _raw(alice, packed, Content_Encoding="gzip"))
    for other in (
        b'{"tweet_ids":["1"],"label_name":"e\xcc\x81"}',
        b'{"tweet_ids":["1"],"label_name":"\xc3\xa9","x":null}',
        b'{"tweet_ids":["1","2"],"label_name":"\xc3\xa9"}',
    ):
        assert (await _raw(alice, other)).status_code == 422, other


# Stored responses
async def test_400_and_404_are_replayed(alice: Member) -> None:
    bad = await writing.send(alice, "POST", ADD, _body("", "1"), key="bad")
    unknown = await writing.send(alice, "POST", ADD, _body("x", "1"), key="unknown")
    malformed = await _raw(alice, b"{", key="malformed")
    await alice.save(post_id="1")

    again = [
        await writing.send(alice, "POST", ADD, _body("", "1"), key="bad"),
        await writing.send(alice, "POST", ADD, _body("x", "1"), key="unknown"),
        await _raw(alice, b"{", key="malformed"),
    ]

    assert [r.status_code for r in (bad, unknown, malformed)] == [400, 404, 400]
    for first, repeat in zip((bad, unknown, malformed), again, strict=True):
        assert _is_replayed(repeat)
        assert (repeat.status_code, repeat.content) == (first.status_code, first.content)
    assert await writing.labels(alice) == {}
    assert (await _raw(alice, b"{ ", key="malformed")).status_code == 422


async def test_a_402_is_not_stored_and_succeeds_after_the_upgrade(free: Member) -> None:
    await free.save(post_id="1")
    refused = await writing.send(free, "POST", ADD, _body("x", "1"), key="k")
    await free.set_plan("pro")

    served = await writing.send(free, "POST", ADD, _body("x", "1"), key="k")
    again = await writing.send(free, "POST", ADD, _body("x", "1"), key="k")

    assert refused.status_code == 402
    assert served.status_code == 200
    assert not _is_replayed(served)
    assert _is_replayed(again)


async def test_a_replay_is_sent_before_the_plan_is_checked(free: Member) -> None:
    await free.save(post_id="1")
    await free.set_plan("pro")
    first = await writing.send(free, "POST", ADD, _body("x", "1"), key="k")
    await free.set_plan("free")

    again = await writing.send(free, "POST", ADD, _body("x", "1"), key="k")
    reused = await writing.send(free, "POST", ADD, _body("y", "1"), key="k")

    assert (again.status_code, again.content) == (200, first.content)
    assert reused.status_code == 422


async def test_what_is_refused_before_the_request_is_read_is_not_stored(
    cast: Service, alice: Member
) -> None:
    await alice.save(post_id="1")
    body = _body("x", "1")
    nobody = await cast.nobody.post(ADD, json=body, headers={"Idempotency-Key": "k"})
    large = await _raw(alice, json.dumps(body).encode() + b" " * 1024 * 1024)
    unknown = await writing.send(alice, "POST", "/v1/nothing", body, key="k")
    wrong_method = await writing.send(alice, "PUT", ADD, body, key="k")

    served = await writing.send(alice, "POST", ADD, body, key="k")

    refused = [one.status_code for one in (nobody, large, unknown, wrong_method)]
    assert refused == [401, 413, 404, 405]
    assert (served.status_code, _is_replayed(served)) == (200, False)


@pytest.mark.both
async def test_a_response_is_stored_for_24_hours(alice: Member) -> None:
    body = {"name": "V"}
    await writing.send(alice, "POST", "/v1/views", body, key="k")

    alice.clock.now += 24 * HOUR
    kept = await writing.send(alice, "POST", "/v1/views", body, key="k")
    alice.clock.now += 1
    anew = await writing.send(alice, "POST", "/v1/views", body, key="k")
    alice.clock.now += 24 * HOUR
    again = await writing.send(alice, "POST", "/v1/views", body, key="k")

    assert _is_replayed(kept)
    assert not _is_replayed(anew)
    assert anew.json()["data"]["slug"] == "v-2"
    assert _is_replayed(again)
    assert again.content == anew.content


# Keys
@in_turn("key", ["k", "x" * 255, "!~\"'\\;=,/{}", "550e8400-e29b-41d4-a716"])
async def test_a_key_is_up_to_255_visible_ascii_characters(alice: Member, key: str) -> None:
    for is_replayed in (False, True):
        response = await writing.send(alice, "POST", "/v1/views", {"name": "V"}, key=key)
        assert response.status_code == 201
        assert _is_replayed(response) is is_replayed


@in_turn("key", [b"", b"x" * 256, b"a b", b"a\tb", "\u00e9".encode(), b"\xff", b"a\x7f", b"a\x00b"])
async def test_an_invalid_key_is_refused_and_changes_nothing(alice: Member, key: bytes) -> None:
    headers = [(b"idempotency-key", key)]

    response = await alice.client.post("/v1/views", json={"name": "V"}, headers=headers)

    assert writing.refused(response) == (400, "INVALID_REQUEST")
    assert writing.sentence(response).startswith("Idempotency-Key: ")
    assert (await alice.get("/v1/views")).json()["data"] == []


async def test_a_key_is_ignored_on_get_and_delete(alice: Member) -> None:
    await alice.save(post_id="1")
    first = await writing.send(alice, "GET", "/v1/bookmarks", key="k")
    await alice.save(post_id="2")

    second = await writing.send(alice, "GET", "/v1/bookmarks", key="k")
    gone = await writing.send(alice, "DELETE", "/v1/bookmarks/1", key="k")
    again = await writing.send(alice, "DELETE", "/v1/bookmarks/1", key="k")
    used = await writing.send(alice, "PATCH", "/v1/bookmarks/2", {"is_read": True}, key="k")

    assert len(first.json()["data"]) == 1
    assert len(second.json()["data"]) == 2
    assert (gone.status_code, again.status_code, used.status_code) == (200, 404, 200)
    assert not any(map(_is_replayed, (second, again, used)))
    odd = await writing.send(alice, "DELETE", "/v1/bookmarks/2", key="a b")
    assert odd.status_code == 200


# The monthly limit of the free plan
async def test_replays_do_not_count_as_calls_of_the_free_plan(cast: Service) -> None:
    member = cast.free.on(app.build(Settings(free_calls_per_month=2), cast.database, cast.clock))
    await member.save(post_id="1")
    path, body = "/v1/bookmarks/1", {"is_read": True}
    await writing.send(member, "PATCH", path, body, key="k")

    for _ in range(5):
        assert _is_replayed(await writing.send(member, "PATCH", path, body, key="k"))

    assert (await writing.send(member, "PATCH", path, body)).status_code == 200
    assert (await writing.send(member, "PATCH", path, body)).status_code == 402
    # Replays still work after the limit is reached.
    assert _is_replayed(await writing.send(member, "PATCH", path, body, key="k"))
    assert (await writing.send(member, "PATCH", path, body, key="new")).status_code == 402


# From 08:21:13.84 to midnight.
LEFT_OF_DAY_S = 15 * 3_600 + 38 * 60 + 47


async def _use(member: Member, *, uses: int = 0, size: int = 0) -> None:
    store = DailyUseStore(member.database, KEYED_ANSWERS)
    day = day_of(member.clock())
    await member.database.write(
        lambda t: store.add(Writable(t, member.account_id), day, uses=uses, size=size)
    )


async def _used(member: Member) -> DayUse:
    store = DailyUseStore(member.database, KEYED_ANSWERS)
    return await store.used(Readable(member.database, member.account_id), day_of(member.clock()))


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


@pytest.mark.both
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
