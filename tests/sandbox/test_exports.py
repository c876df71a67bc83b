"""Exports in the sandbox: the id encodes the job, and the files are real."""

import asyncio
from pathlib import Path
from typing import Any

import httpx
import pytest

from bowerbird.sandbox import exports
from bowerbird.sandbox.exports import MAX_WAITING, Ticket
from bowerbird.sandbox.fixtures import Fixtures
from bowerbird.storage.sqlite.database import SqliteDatabase
from tests.support.in_turn import in_turn
from tests.support.programs import trying
from tests.support.programs.trying import Visitor
from tests.support.service import NOW
from tests.support.writing import DAY, SECOND

pytestmark = pytest.mark.anyio

ORIGIN = "http://localhost:8080"
BIRDS = [post["post_id"] for post in trying.posts() if "birds" in (post["tags"] or [])]


async def _start(visitor: Visitor, format: str = "json", **body: Any) -> dict[str, Any]:
    response = await visitor.post(f"/exports/{format}", body)
    assert response.status_code == 202, response.text
    job: dict[str, Any] = response.json()["data"]
    return job


async def _poll(visitor: Visitor, job: dict[str, Any]) -> dict[str, Any]:
    return dict((await visitor.read(f"/exports/{job['job_id']}"))["data"])


async def _completed(visitor: Visitor, format: str = "json", **body: Any) -> dict[str, Any]:
    job = await _start(visitor, format, **body)
    visitor.clock.now += 2 * SECOND
    return await _poll(visitor, job)


async def _download(visitor: Visitor, job: dict[str, Any], **headers: str) -> httpx.Response:
    return await visitor.client.get(job["download_url"].removeprefix(ORIGIN), headers=headers)


async def test_an_export_makes_progress_and_completes_after_two_seconds(visitor: Visitor) -> None:
    job = await _start(visitor)
    seen = []
    for _ in range(8):
        response = await visitor.get(f"/exports/{job['job_id']}")
        shown = response.json()["data"]
        seen.append((shown["status"], shown["progress"]["done"]))
        assert (shown["status"] == "completed") is ("download_url" in shown)
        assert (shown["status"] == "completed") is ("retry-after" not in response.headers)
        assert response.json()["meta"] == {"sandbox": True}
        visitor.clock.now += SECOND * 2 // 5

    statuses = list(dict.fromkeys(status for status, _ in seen))
    progress = [done for _, done in seen]
    assert statuses == ["pending", "processing", "completed"]
    assert [status for status, _ in seen].index("completed") == 5
    assert progress == sorted(progress)
    assert progress[0] == 0
    assert progress[-1] == len(trying.posts())
    assert len(set(progress)) > 3


@in_turn(
    ("body", "expected"),
    [
        ({"tag": "birds"}, BIRDS),
        ({"view": "birds"}, BIRDS),
        ({"tweet_ids": [BIRDS[1], "404", BIRDS[0]]}, BIRDS[:2]),
        ({"tweet_ids": ["404"]}, []),
        ({"q": "no such word anywhere"}, []),
        ({"q": "?!"}, []),
        ({"tag": "birds", "media_type": "video", "is_unread_only": False}, None),
    ],
)
async def test_an_export_contains_the_selected_posts(
    visitor: Visitor, body: dict[str, Any], expected: list[str] | None
) -> None:
    job = await _completed(visitor, **body)
    if expected is None:
        expected = await visitor.ids(tag="birds", media_type="video", is_unread_only="false")

    posts = (await _download(visitor, job)).json()

    assert sorted(post["post_id"] for post in posts) == sorted(expected)
    assert job["progress"] == {"done": len(expected), "total": len(expected)}


async def test_an_altered_id_is_not_found(visitor: Visitor) -> None:
    job_id = (await _start(visitor))["job_id"]
    altered = [
        job_id[:place] + ("0" if digit != "0" else "1") + job_id[place + 1 :]
        for place, digit in enumerate(job_id)
    ]

    for other in (*altered, job_id[:-2], job_id + "00", job_id.upper(), "x", "00", "é", " " * 52):
        response = await visitor.client.get(f"/v1/sandbox/exports/{other}")
        assert response.status_code == 404, other
        assert response.json()["code"] == "NOT_FOUND"


async def test_a_forged_id_causes_no_server_error(visitor: Visitor) -> None:
    fixtures = Fixtures()
    epoch = (await fixtures.account()).epoch
    in_the_future = [
        exports.encode(Ticket("json", 2**64 - 1, (1,)), epoch),
        exports.encode(Ticket("json", NOW + DAY, (1,)), epoch),
    ]
    unknown_post = exports.encode(Ticket("json", NOW - 5 * SECOND, (1, 90)), epoch)
    in_1970 = exports.encode(Ticket("json", 0, (1,)), epoch)

    for job_id in in_the_future:
        assert (await visitor.get(f"/exports/{job_id}")).status_code == 404
    assert (await visitor.get(f"/exports/{unknown_post}")).status_code == 200
    assert (await visitor.read(f"/exports/{in_1970}"))["data"]["status"] == "expired"
    await fixtures.database.close()


async def test_every_process_accepts_the_id_and_the_link(
    visitor: Visitor, closed_database: SqliteDatabase
) -> None:
    job = await _start(visitor, tag="birds")
    other = trying.visitor(closed_database)
    third = trying.visitor(closed_database)
    other.clock.now = third.clock.now = visitor.clock.now + 2 * SECOND

    completed = await _poll(other, job)
    response = await _download(third, completed)

    assert {post["post_id"] for post in response.json()} == set(BIRDS)
    for client in (other.client, third.client):
        await client.aclose()


async def test_a_link_expires_after_five_minutes_and_a_poll_renews_it(visitor: Visitor) -> None:
    job = await _completed(visitor)
    visitor.clock.now += 300 * SECOND

    late = await _download(visitor, job)
    renewed = await _download(visitor, await _poll(visitor, job))

    assert late.status_code == 403
    assert late.json()["code"] == "LINK_EXPIRED"
    assert late.json()["meta"] == {"sandbox": True}
    assert renewed.status_code == 200


async def test_a_full_queue_returns_429(visitor: Visitor) -> None:
    jobs = [await _start(visitor, "csv", tweet_ids=BIRDS[: n + 1]) for n in range(MAX_WAITING + 2)]
    visitor.clock.now += 2 * SECOND
    polls = [asyncio.create_task(visitor.get(f"/exports/{job['job_id']}")) for job in jobs]

    done, waiting = await asyncio.wait(polls, return_when=asyncio.FIRST_COMPLETED)
    rejected = [poll.result() for poll in done if poll.result().status_code == 429]
    for poll in waiting:
        poll.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)

    assert rejected
    assert all(int(response.headers["retry-after"]) >= 1 for response in rejected)
    assert (await visitor.get(f"/exports/{jobs[0]['job_id']}")).status_code == 200


async def test_an_export_leaves_no_files_on_disk(
    closed_database: SqliteDatabase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch, data = tmp_path / "scratch", tmp_path / "data"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    visitor = trying.visitor(closed_database, data_dir=data)

    response = await _download(visitor, await _completed(visitor, "csv", tag="birds"))

    assert response.status_code == 200
    assert list(scratch.iterdir()) == []
    assert not data.exists()
    await visitor.client.aclose()
