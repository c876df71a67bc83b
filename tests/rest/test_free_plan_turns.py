"""A change of many or long posts of a free account costs one call, or changes nothing."""

import asyncio
from collections import Counter

import pytest

from bowerbird import app
from bowerbird.settings import Settings
from tests.library.test_words_ahead import article
from tests.support import make, writing
from tests.support.service import Member, Service

pytestmark = [pytest.mark.anyio, pytest.mark.both]

IDS = [str(100 + number) for number in range(12)]
KEYS = pytest.mark.parametrize("key", [None, "k"])


def with_calls(cast: Service, calls: int) -> Member:
    settings = Settings(free_calls_per_month=calls)
    return cast.free.on(app.build(settings, cast.database, cast.clock))


async def calls_of(member: Member) -> int:
    return (await member.account()).calls_this_month


@KEYS
async def test_restoring_a_long_post_needs_one_call(cast: Service, key: str | None) -> None:
    free = with_calls(cast, 2)
    await free.save_all([article("7")])
    assert (await writing.send(free, "DELETE", "/v1/bookmarks/7")).status_code == 200
    before = await calls_of(free)

    restored = await writing.send(free, "POST", "/v1/bookmarks/7/restore", None, key)

    assert restored.status_code == 200
    assert await calls_of(free) == before + 1
    assert (await free.account()).total == 1


@KEYS
async def test_marking_many_posts_costs_one_call(cast: Service, key: str | None) -> None:
    free = with_calls(cast, 2)
    await free.save_all([make.post(post_id=post_id) for post_id in IDS])

    body = {"tweet_ids": IDS, "is_read": True}
    marked = await writing.send(free, "POST", "/v1/bookmarks/update", body, key)

    assert marked.json()["meta"]["affected"] == len(IDS)
    assert await calls_of(free) == 1


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
