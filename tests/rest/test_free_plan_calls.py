"""What the free plan lacks, and its monthly call limit, which is exact for many calls at once."""

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

import httpx
import pytest
from structlog.testing import capture_logs

from bowerbird import app
from bowerbird.app import App
from bowerbird.settings import Settings
from bowerbird.storage.accounts.accounts import AccountStore
from bowerbird.storage.database import Database
from tests.rest.test_isolation import ASKED, UNKNOWN, request
from tests.support import service, writing
from tests.support.databases import fresh_postgres, two_of_postgres
from tests.support.offenders import Offenders
from tests.support.postgres import ThrowawayPostgres
from tests.support.service import Member, Service, SetClock
from tests.support.service import build as build_service
from tests.support.toolcalls import result_of
from tests.support.waiting import PATIENCE_S

pytestmark = pytest.mark.anyio


DAY = 86_400 * 1_000_000

PAID = {
    *(("post", f"/v1/labels/{path}") for path in ("add", "remove", "batch", "{label_id}/merge")),
    *((method, "/v1/labels/{label_id}") for method in ("patch", "delete")),
    *(("post", "/v1/views"), ("patch", "/v1/views/{slug}"), ("delete", "/v1/views/{slug}")),
    *(("post", f"/v1/rules{path}") for path in ("", "/preview", "/{rule_id}/apply")),
    *((method, "/v1/rules/{rule_id}") for method in ("patch", "delete")),
    ("get", "/v1/bookmarks/{post_id}/suggested_labels"),
    ("delete", "/v1/bookmarks/{post_id}/suggested_labels/{label_id}"),
    ("post", "/v1/bookmarks/{post_id}/new_labels"),
    ("post", "/v1/imports/{run_id}/suggested_labels/apply"),
    ("post", "/v1/bookmarks/duplicates/resolve"),
    # A webhook of an account that has paid before can be removed.
    *(one for one in ASKED if one[1].startswith("/v1/webhooks") and one[0] != "delete"),
}
# Refused if they add labels, or once the import is found.
PARTLY_PAID = {
    *(("post", "/v1/bookmarks"), ("post", "/v1/bookmarks/changes")),
    ("get", "/v1/imports/{run_id}/suggested_labels"),
}


async def test_only_paid_endpoints_are_refused_and_before_other_checks(free: Member) -> None:
    await free.save(post_id="7001", tags=["theirs"])
    offenders = Offenders()
    for row in [row for row in ASKED if row not in PARTLY_PAID]:
        is_paid = row in PAID
        wrong = [("", {"unheard_of": 7})] if is_paid and row[0] in ("post", "patch") else []
        for asked in ASKED[row] + wrong:
            with offenders.check((*row, asked)):
                response = await request(free, *row, asked, UNKNOWN)
                assert ("SUBSCRIPTION_REQUIRED" in response.text) is is_paid
    assert offenders == {}
    assert await writing.labels(free) == {"theirs": 1}


async def _use(member: Member, calls: int) -> None:
    for _ in range(calls):
        assert (await member.get("/v1/bookmarks")).status_code == 200


def _is_used_up(response: httpx.Response) -> bool:
    return response.status_code == 402 and response.json()["code"] == "SUBSCRIPTION_REQUIRED"


async def test_the_free_plan_allows_a_hundred_calls_per_month(free: Member) -> None:
    await _use(free, 100)

    response = await free.get("/v1/bookmarks")

    assert response.status_code == 402
    assert response.json() == {
        "status": False,
        "code": "SUBSCRIPTION_REQUIRED",
        "error": (
            "All 100 calls of the free plan for this month are used. "
            "The next month begins on 2026-08-01 (UTC)."
        ),
        "upgrade_url": "http://localhost:8080/upgrade",
    }


@pytest.fixture
def nearly(cast: Service) -> Member:
    """The free member on a service that allows one call per month."""
    return cast.free.on(_service(cast, 1))


async def test_errors_options_and_key_checks_are_not_counted(nearly: Member) -> None:
    record = await nearly.save()
    path = f"/v1/bookmarks/{record['post_id']}"
    requests = [
        ("GET", "/v1/bookmarks?limit=0", 400),
        ("GET", "/v1/bookmarks?author=x", 402),
        ("GET", "/v1/bookmarks?cursor=x", 402),
        ("GET", "/v1/bookmarks/4711", 404),
        ("GET", "/v1/nothing", 404),
        ("PUT", "/v1/bookmarks", 405),
        ("POST", "/v1/bookmarks", 400),
        ("OPTIONS", "/v1/bookmarks", 204),
        # A count without parameters only checks the key.
        ("GET", "/v1/bookmarks/count", 200),
        ("HEAD", "/v1/bookmarks/count", 200),
    ]

    for method, target, status in requests * 2:
        response = await nearly.client.request(method, target)
        assert response.status_code == status

    assert (await nearly.get(path)).status_code == 200
    assert _is_used_up(await nearly.get(path))
    # A client can still check its key after the limit is reached.
    assert (await nearly.get("/v1/bookmarks/count")).status_code == 200


async def test_not_modified_responses_are_not_counted(cast: Service, free: Member) -> None:
    member = free.on(_service(cast, 2))
    tag = (await member.get("/v1/bookmarks")).headers["etag"]

    for _ in range(5):
        response = await member.client.get("/v1/bookmarks", headers={"If-None-Match": tag})
        assert response.status_code == 304

    assert (await member.get("/v1/bookmarks")).status_code == 200
    assert _is_used_up(await member.get("/v1/bookmarks"))


async def test_the_monthly_limit_is_checked_before_filters_and_parameters(nearly: Member) -> None:
    await _use(nearly, 1)

    assert _is_used_up(await nearly.get("/v1/bookmarks", author="x", limit=0))
    assert (await nearly.get("/v1/nothing")).status_code == 404


async def test_the_count_starts_at_zero_each_month(nearly: Member) -> None:
    await _use(nearly, 1)
    assert _is_used_up(await nearly.get("/v1/bookmarks"))

    nearly.clock.now += 13 * DAY
    assert _is_used_up(await nearly.get("/v1/bookmarks")), "still the 31st of July"
    nearly.clock.now += DAY

    await _use(nearly, 1)
    assert "2026-09-01" in (await nearly.get("/v1/bookmarks")).json()["error"]
    nearly.clock.now += 136 * DAY
    await _use(nearly, 1)
    assert "2027-01-01" in (await nearly.get("/v1/bookmarks")).json()["error"]


async def test_a_call_is_stored_before_it_is_answered(cast: Service, free: Member) -> None:
    await _use(free, 3)
    assert (await free.account()).calls_this_month == 3

    await cast.app.calls.flush()

    assert (await free.account()).calls_this_month == 3


async def test_calls_are_written_to_the_month_they_belong_to(cast: Service, free: Member) -> None:
    await _use(free, 2)
    free.clock.now += 14 * DAY
    await _use(free, 1)

    accounts = AccountStore(cast.database)
    for month, calls in ((202607, 2), (202608, 1)):
        account = await accounts.by_id(free.account_id, month)
        assert account
        assert account.calls_this_month == calls


async def test_a_plan_change_takes_effect_on_the_next_request(nearly: Member) -> None:
    await _use(nearly, 1)
    assert _is_used_up(await nearly.get("/v1/bookmarks"))

    await nearly.set_plan("pro")
    assert (await nearly.get("/v1/bookmarks", author="x")).status_code == 200

    await nearly.set_plan("free")
    assert _is_used_up(await nearly.get("/v1/bookmarks", author="x"))


async def test_a_failed_write_is_logged_and_repeated_later(cast: Service, free: Member) -> None:
    calls, account = cast.app.calls, await free.account()
    await _rename(cast, "api_call", "away")
    with capture_logs() as logs:
        counting = asyncio.create_task(calls.flushing.run())
        await asyncio.sleep(0)
        calls.add(account)
        calls.flushing.stop()
        await asyncio.wait_for(counting, PATIENCE_S)
    await _rename(cast, "away", "api_call")

    assert [(line["event"], line["waiting"]) for line in logs] == [("calls not written", 1)]
    await calls.flush()
    assert (await free.account()).calls_this_month == 1


async def test_reads_go_on_and_are_counted_later_when_the_disk_is_full(
    postgres: ThrowawayPostgres, tmp_path: Path
) -> None:
    async with fresh_postgres(postgres) as database:
        cast = await service.build(database, data_dir=tmp_path, free_calls_per_month=5)
        await _use(cast.free, 1)
        await cast.database.write(lambda t: t.run(DISK_FULL, {}))
        await cast.database.write(lambda t: t.run(DISK_FULL_ON_CALLS, {}))

        await _use(cast.free, 4)

        assert _is_used_up(await cast.free.get("/v1/bookmarks"))
        assert (await cast.free.account()).calls_this_month == 1
        await cast.database.write(lambda t: t.run("DROP TRIGGER full_disk ON api_call", {}))
        await cast.app.calls.flush()
        assert (await cast.free.account()).calls_this_month == 5


DISK_FULL = """
    CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'no space left' USING ERRCODE = '53100'; END $$"""

DISK_FULL_ON_CALLS = """
    CREATE TRIGGER full_disk BEFORE INSERT OR UPDATE ON api_call
        FOR EACH ROW EXECUTE FUNCTION full_disk()"""


async def test_polling_an_export_is_not_counted(cast: Service, free: Member) -> None:
    member = free.on(_service(cast, 1))
    started = await writing.send(member, "POST", "/v1/exports/json")
    assert started.status_code == 202

    for _ in range(3):
        assert (await member.get(started.headers["location"])).status_code == 200

    assert _is_used_up(await member.get("/v1/bookmarks"))


async def _rename(cast: Service, old: str, new: str) -> None:
    await cast.database.write(lambda t: t.run(f"ALTER TABLE {old} RENAME TO {new}", {}))


PARALLEL = 200


def _service(cast: Service, calls: int) -> App:
    return app.build(Settings(free_calls_per_month=calls), cast.database, cast.clock)


async def _statuses(*requests: Any) -> Counter[int]:
    return Counter([response.status_code for response in await asyncio.gather(*requests)])


@pytest.mark.both
async def test_one_call_left_means_that_one_of_many_parallel_reads_succeeds(cast: Service) -> None:
    service = _service(cast, 3)
    free = cast.free.on(service)
    for _ in range(2):
        await free.listed()

    statuses = await _statuses(*[free.get("/v1/bookmarks") for _ in range(PARALLEL)])

    assert statuses[200] == 1
    # 503 if more of them wait to be counted than the account may have waiting.
    assert statuses[402] + statuses[503] == PARALLEL - 1
    await service.calls.flush()
    assert (await free.account()).calls_this_month == 3


@pytest.mark.both
async def test_one_call_left_means_that_one_of_many_parallel_writes_succeeds(cast: Service) -> None:
    free = cast.free.on(_service(cast, 1))
    posts = [await free.save() for _ in range(40)]

    statuses = await _statuses(
        *[
            writing.send(free, "PATCH", f"/v1/bookmarks/{post['post_id']}", {"is_read": True}, key)
            for index, post in enumerate(posts)
            for key in (None, f"key-{index}")
        ]
    )

    assert statuses == {200: 1, 402: 2 * len(posts) - 1}
    account = await free.account()
    assert (account.unread, account.calls_this_month) == (len(posts) - 1, 1)


@pytest.mark.both
async def test_one_call_left_means_that_one_parallel_tool_call_succeeds(cast: Service) -> None:
    free = cast.free.on(_service(cast, 1))
    saved = await free.save()
    post_ids = [saved["post_id"]]

    results = await asyncio.gather(
        *[result_of(free, "list_bookmarks") for _ in range(PARALLEL // 2)],
        *[
            result_of(free, "update_bookmarks", post_ids=post_ids, is_read=True)
            for _ in range(PARALLEL // 2)
        ],
    )

    assert sum(not result["isError"] for result in results) == 1
    assert (await free.account()).calls_this_month == 1


@pytest.mark.both
async def test_refused_calls_leave_the_last_call_for_a_call_that_succeeds(cast: Service) -> None:
    free = cast.free.on(_service(cast, 1))

    statuses = await _statuses(
        *[free.get("/v1/bookmarks/4711") for _ in range(20)],
        free.get("/v1/bookmarks"),
        *[
            writing.send(free, "PATCH", "/v1/bookmarks/4711", {"is_read": True}, f"key-{index}")
            for index in range(20)
        ],
    )

    assert statuses[200] == 1
    assert statuses[200] + statuses[402] + statuses[404] == 41


@pytest.mark.both
async def test_two_services_on_one_database_share_the_last_calls(
    postgres: ThrowawayPostgres, tmp_path: Path
) -> None:
    async with two_of_postgres(postgres) as databases:
        cast = await build_service(databases[0], data_dir=tmp_path)
        members = [_on(cast.free, database, cast.clock) for database in databases]

        statuses = await _statuses(
            *[member.get("/v1/bookmarks") for _ in range(PARALLEL // 2) for member in members]
        )

        assert statuses[200] == 5
        assert statuses[402] + statuses[503] == PARALLEL - 5
        assert (await cast.free.account()).calls_this_month == 5


def _on(member: Member, database: Database, clock: SetClock) -> Member:
    return member.on(app.build(Settings(free_calls_per_month=5), database, clock))
