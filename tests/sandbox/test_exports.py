"""Exports of the sandbox: jobs that exist only in their ids, and files that are real."""

import asyncio
import csv
import io
from pathlib import Path
from typing import Any

import httpx
import pypdfium2  # type: ignore[import-untyped] # it has none
import pytest

from bowerbird.sandbox import tickets
from bowerbird.sandbox.file_creation import MOST_WAITING
from bowerbird.sandbox.fixtures import Fixtures
from bowerbird.sandbox.tickets import Ticket
from bowerbird.storage.sqlite.database import SqliteDatabase
from tests.support import trying
from tests.support.service import NOW
from tests.support.trying import Visitor
from tests.support.writing import DAY, SECOND

pytestmark = pytest.mark.anyio

ORIGIN = "http://localhost:8080"
BIRDS = [post["post_id"] for post in trying.posts() if "birds" in (post["tags"] or [])]


async def _begun(visitor: Visitor, format: str = "json", **body: Any) -> dict[str, Any]:
    response = await visitor.post(f"/exports/{format}", body)
    assert response.status_code == 202, response.text
    job: dict[str, Any] = response.json()["data"]
    return job


async def _poll(visitor: Visitor, job: dict[str, Any]) -> dict[str, Any]:
    return dict((await visitor.read(f"/exports/{job['job_id']}"))["data"])


async def _completed(visitor: Visitor, format: str = "json", **body: Any) -> dict[str, Any]:
    job = await _begun(visitor, format, **body)
    visitor.clock.now += 2 * SECOND
    return await _poll(visitor, job)


async def _fetched(visitor: Visitor, job: dict[str, Any], **headers: str) -> httpx.Response:
    return await visitor.client.get(job["download_url"].removeprefix(ORIGIN), headers=headers)


async def test_an_export_is_accepted(visitor: Visitor) -> None:
    response = await visitor.post("/exports/json", {})

    job = response.json()["data"]
    assert response.status_code == 202
    assert job["status"] == "pending"
    assert response.headers["location"] == f"/v1/sandbox/exports/{job['job_id']}"
    assert job["poll_url"] == ORIGIN + response.headers["location"]
    assert int(response.headers["retry-after"]) >= 1
    assert response.json()["meta"] == {"sandbox": True}
    assert "download_url" not in job


async def test_a_body_may_be_left_out(visitor: Visitor) -> None:
    response = await visitor.client.post("/v1/sandbox/exports/json")

    assert response.status_code == 202


async def test_it_grows_and_is_completed_two_seconds_later(visitor: Visitor) -> None:
    job = await _begun(visitor)
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


async def test_the_json_file_holds_the_posts_as_the_api_shows_them(visitor: Visitor) -> None:
    job = await _completed(visitor)

    response = await _fetched(visitor, job)

    shown = await visitor.read("/bookmarks", limit=100, **trying.EVERYTHING)
    by_id = {bookmark["post_id"]: bookmark for bookmark in shown["data"]}
    assert response.status_code == 200
    assert {post["post_id"]: post for post in response.json()} == by_id
    assert job["file_size"] == len(response.content)
    assert response.headers["x-service-environment"] == "sandbox"
    assert "attachment" in response.headers["content-disposition"]


async def test_the_csv_file_has_a_row_a_post(visitor: Visitor) -> None:
    job = await _completed(visitor, "csv", tag="birds")

    text = (await _fetched(visitor, job)).content.decode("utf-8-sig")

    rows = list(csv.reader(io.StringIO(text)))
    assert len(rows) == 1 + len(BIRDS)


async def test_the_pdf_file_is_made_once_and_can_be_opened(visitor: Visitor) -> None:
    job = await _completed(visitor, "pdf", tag="東京")
    again = await _completed(visitor, "pdf", tag="東京")

    first, second = await _fetched(visitor, job), await _fetched(visitor, again)

    assert first.headers["content-type"] == "application/pdf"
    assert first.content == second.content
    document = pypdfium2.PdfDocument(first.content)
    text = "".join(page.get_textpage().get_text_bounded() for page in document)
    assert "tori_no_koe" in text
    document.close()


@pytest.mark.parametrize(
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
    ids=str,
)
async def test_it_holds_what_was_asked_for(
    visitor: Visitor, body: dict[str, Any], expected: list[str] | None
) -> None:
    job = await _completed(visitor, **body)
    if expected is None:
        expected = await visitor.ids(tag="birds", media_type="video", is_unread_only="false")

    posts = (await _fetched(visitor, job)).json()

    assert sorted(post["post_id"] for post in posts) == sorted(expected)
    assert job["progress"] == {"done": len(expected), "total": len(expected)}


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"colour": "red"}, 400, "INVALID_REQUEST"),
        ({"tweet_ids": [1]}, 400, "INVALID_REQUEST"),
        ({"tweet_ids": []}, 400, "INVALID_REQUEST"),
        ({"media_type": "smell"}, 400, "INVALID_REQUEST"),
        ({"view": "none"}, 404, "NOT_FOUND"),
        ({"vector_search_term": "x"}, 402, "VECTOR_SEARCH_NOT_ALLOWED"),
        ([], 400, "INVALID_REQUEST"),
    ],
    ids=str,
)
async def test_what_the_api_refuses_is_refused(
    visitor: Visitor, body: Any, status: int, code: str
) -> None:
    response = await visitor.post("/exports/csv", body)

    assert response.status_code == status
    assert response.json()["code"] == code
    assert response.json()["meta"] == {"sandbox": True}


async def test_an_id_that_was_bent_is_not_found(visitor: Visitor) -> None:
    job_id = (await _begun(visitor))["job_id"]
    bent = [
        job_id[:place] + ("0" if digit != "0" else "1") + job_id[place + 1 :]
        for place, digit in enumerate(job_id)
    ]

    for other in (*bent, job_id[:-2], job_id + "00", job_id.upper(), "x", "00", "é", " " * 52):
        response = await visitor.client.get(f"/v1/sandbox/exports/{other}")
        assert response.status_code == 404, other
        assert response.json()["code"] == "NOT_FOUND"


async def test_a_forged_id_can_ask_for_nothing_that_fails(visitor: Visitor) -> None:
    fixtures = Fixtures()
    epoch = (await fixtures.account()).epoch
    forged = [
        tickets.write(Ticket("json", 2**64 - 1, (1,)), epoch),
        tickets.write(Ticket("json", NOW + DAY, (1,)), epoch),
    ]
    unknown = tickets.write(Ticket("json", NOW - 5 * SECOND, (1, 90)), epoch)
    first = tickets.write(Ticket("json", 0, (1,)), epoch)

    for job_id in forged:
        assert (await visitor.get(f"/exports/{job_id}")).status_code == 404
    assert (await visitor.get(f"/exports/{unknown}")).status_code == 200
    assert (await visitor.read(f"/exports/{first}"))["data"]["status"] == "expired"
    await fixtures.database.close()


async def test_any_process_knows_the_job_and_its_link(
    visitor: Visitor, closed_database: SqliteDatabase
) -> None:
    job = await _begun(visitor, tag="birds")
    other = trying.visitor(closed_database)
    third = trying.visitor(closed_database)
    other.clock.now = third.clock.now = visitor.clock.now + 2 * SECOND

    completed = await _poll(other, job)
    response = await _fetched(third, completed)

    assert {post["post_id"] for post in response.json()} == set(BIRDS)
    for client in (other.client, third.client):
        await client.aclose()


async def test_a_link_lives_five_minutes_and_is_made_anew(visitor: Visitor) -> None:
    job = await _completed(visitor)
    visitor.clock.now += 300 * SECOND

    late = await _fetched(visitor, job)
    renewed = await _fetched(visitor, await _poll(visitor, job))

    assert late.status_code == 403
    assert late.json()["code"] == "LINK_EXPIRED"
    assert late.json()["meta"] == {"sandbox": True}
    assert renewed.status_code == 200


async def test_a_link_that_was_bent_or_is_of_another_job_is_refused(visitor: Visitor) -> None:
    job = await _completed(visitor)
    other = await _completed(visitor, tag="birds")
    path, _, token = job["download_url"].removeprefix(ORIGIN).partition("?token=")
    others = other["download_url"].partition("?token=")[2]

    for bad in (others, token[:-2], f"{token[:-1]}!", ""):
        response = await visitor.client.get(path, params={"token": bad})
        assert response.status_code == 403, bad


async def test_a_part_of_the_file_is_sent_when_asked_for(visitor: Visitor) -> None:
    job = await _completed(visitor)

    whole = await _fetched(visitor, job)
    part = await _fetched(visitor, job, Range="bytes=10-19")

    assert part.status_code == 206
    assert part.content == whole.content[10:20]
    assert part.headers["x-service-environment"] == "sandbox"


async def test_the_file_is_gone_after_a_day(visitor: Visitor) -> None:
    job = await _completed(visitor)
    visitor.clock.now += DAY

    late = await _poll(visitor, job)

    assert late["status"] == "expired"
    assert "download_url" not in late


async def test_beyond_a_short_queue_the_next_is_429(visitor: Visitor) -> None:
    jobs = [await _begun(visitor, "csv", tweet_ids=BIRDS[: n + 1]) for n in range(MOST_WAITING + 2)]
    visitor.clock.now += 2 * SECOND
    polls = [asyncio.create_task(visitor.get(f"/exports/{job['job_id']}")) for job in jobs]

    done, waiting = await asyncio.wait(polls, return_when=asyncio.FIRST_COMPLETED)
    refused = [poll.result() for poll in done if poll.result().status_code == 429]
    for poll in waiting:
        poll.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)

    assert refused
    assert all(int(answer.headers["retry-after"]) >= 1 for answer in refused)
    assert (await visitor.get(f"/exports/{jobs[0]['job_id']}")).status_code == 200


async def test_nothing_is_left_on_the_disk(
    closed_database: SqliteDatabase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch, data = tmp_path / "scratch", tmp_path / "data"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    visitor = trying.visitor(closed_database, data_dir=data)

    response = await _fetched(visitor, await _completed(visitor, "csv", tag="birds"))

    assert response.status_code == 200
    assert list(scratch.iterdir()) == []
    assert not data.exists()
    await visitor.client.aclose()
