"""The monthly call limit of the free plan is exact, also for many calls at once and large ones."""

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from bowerbird import app
from bowerbird.app import App
from bowerbird.settings import Settings
from bowerbird.storage.database import Database
from tests.support import make, writing
from tests.support.databases import two_of_postgres
from tests.support.postgres import ThrowawayPostgres
from tests.support.service import Member, Service, SetClock
from tests.support.service import build as build_service
from tests.support.toolcalls import result_of

pytestmark = [pytest.mark.anyio, pytest.mark.both]


PARALLEL = 200


def _service(cast: Service, calls: int) -> App:
    return app.build(Settings(free_calls_per_month=calls), cast.database, cast.clock)


async def _statuses(*requests: Any) -> Counter[int]:
    return Counter([response.status_code for response in await asyncio.gather(*requests)])


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


IDS = [str(100 + number) for number in range(12)]


def with_calls(cast: Service, calls: int) -> Member:
    settings = Settings(free_calls_per_month=calls)
    return cast.free.on(app.build(settings, cast.database, cast.clock))


async def test_a_marking_without_a_call_left_changes_nothing(cast: Service) -> None:
    free = with_calls(cast, 1)
    await free.save_all([make.post(post_id=post_id) for post_id in IDS])

    answers = await asyncio.gather(
        *(
            writing.send(
                free,
                "POST",
                "/v1/bookmarks/update",
                {"tweet_ids": IDS[start : start + 4], "is_read": True},
                key=str(start),
            )
            for start in (0, 4, 8)
        )
    )

    assert Counter(answer.status_code for answer in answers) == {200: 1, 402: 2}
    account = await free.account()
    assert (account.total - account.unread, account.calls_this_month) == (4, 1)
