"""POST /v1/exports: what is exported in each format, failures, and the status of a job."""

import io
import json
import re
import resource
import zipfile
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from bowerbird import app
from bowerbird.clock import MICROSECONDS, system_clock
from bowerbird.jobs.exports import ExportJobs
from bowerbird.library.exports import selection
from bowerbird.library.imports.file_imports import FileImports, ImportOptions
from bowerbird.model.jobs import EXPORTS, ExportQuery
from bowerbird.requests import limits
from bowerbird.settings import Settings
from bowerbird.storage.database import Database
from bowerbird.storage.files import Files
from bowerbird.storage.upkeep.jobs import JobStore
from tests.support import databases, make, service, writing
from tests.support.exporting import begin, export, exported, fetch, finished, poll
from tests.support.in_turn import in_turn
from tests.support.postgres import ThrowawayPostgres
from tests.support.service import Member, Service
from tests.support.working import add

pytestmark = pytest.mark.anyio


async def fill(member: Member) -> list[dict[str, Any]]:
    posts = [
        make.post(text="a cat", tags=["Animals"], is_read=True),
        make.post(text="a bird", author="ben", tags=["animals", "Birds"], is_archived=True),
        make.post(text="a stone", posted_at="2025-01-01T00:00:00+00:00"),
    ]
    await member.save_all(posts)
    return posts


def ids(posts: list[dict[str, Any]]) -> list[str]:
    return [post["post_id"] for post in posts]


async def test_an_accepted_job_returns_its_poll_url(alice: Member) -> None:
    response = await alice.client.post("/v1/exports/json")

    job = response.json()["data"]
    assert response.status_code == 202
    assert response.headers["location"] == f"/v1/exports/{job['job_id']}"
    assert response.headers["retry-after"] == "1"
    assert job == {
        "job_id": job["job_id"],
        "format": "json",
        "status": "pending",
        "progress": {"done": 0, "total": 0},
        "poll_url": f"http://localhost:8080/v1/exports/{job['job_id']}",
        "file_size": None,
        "error": None,
        "notes": [],
        "created_at": "2026-07-18T08:21:13.841838+00:00",
        "completed_at": None,
        "attempts": 0,
        "started_at": None,
        "last_error": None,
    }


async def test_long_posts_are_read_and_written_in_pages_of_limited_size(cast: Service) -> None:
    sizes = [10, 700_000, 700_000, 10, 1_500_000, 10]
    await cast.alice.save_all([make.post(text="x" * size) for size in sizes])

    file = (await fetch(cast, await export(cast, cast.alice))).content

    # A page is a line of the file.
    pages = [json.loads(b"[%b]" % line.rstrip(b",")) for line in file.splitlines()[1:-1]]
    assert sum(map(len, pages)) == len(sizes)
    assert len(pages) == 4
    for page in pages:
        length = sum(len(post["tweet_details"]["text"]) for post in page)
        assert len(page) == 1 or length < 1 << 20


async def test_an_export_of_chosen_posts_contains_only_those(cast: Service) -> None:
    first, second, third = ids(await fill(cast.alice))
    theirs = await cast.bob.save()
    chosen = [third, first, "999", theirs["post_id"], "no id", "٣", third]

    assert ids(await exported(cast, cast.alice, tweet_ids=chosen)) == [first, third]
    assert ids(await exported(cast, cast.alice, tweet_ids=chosen, q="cat")) == [first]
    assert await exported(cast, cast.alice, tweet_ids=["999"]) == []
    assert second not in chosen


async def test_an_export_of_a_view_contains_the_posts_it_shows(cast: Service) -> None:
    posts = await fill(cast.alice)
    view = await writing.view(cast.alice, "Animals", base_query={"tag": "animals"})
    slug = view.rpartition("/")[2]

    assert ids(await exported(cast, cast.alice, view=slug)) == ids(posts[:1])
    assert await exported(cast, cast.alice, view=slug, is_unread_only=True) == []
    assert await exported(cast, cast.alice, view=slug, q="stone") == []
    assert ids(await exported(cast, cast.alice, view=slug, author="ben", q="-x")) == []


@in_turn(
    ("body", "named"),
    [
        ({"tag": "birds"}, "tag: is already set by the view."),
        ({"author": "ada", "tag": "birds"}, "tag: is already set by the view."),
        ({"hide_archived": False}, "hide_archived: would include more than the view shows."),
        ({"is_unread_only": "0"}, "is_unread_only: would include more than the view shows."),
    ],
)
async def test_filters_can_narrow_a_view_but_not_override_it(
    alice: Member, body: dict[str, Any], named: str
) -> None:
    query = {"tag": "animals", "is_unread_only": True}
    view = await writing.view(alice, "Animals", base_query=query)

    response = await alice.client.post(
        "/v1/exports/json", json={"view": view.rpartition("/")[2], **body}
    )

    assert (response.status_code, response.json()["code"]) == (400, "INVALID_REQUEST")
    assert response.json()["error"] == named


async def test_the_cover_lists_the_filters_that_narrow_a_view(alice: Member) -> None:
    view = await writing.view(alice, "Animals", base_query={"tag": "animals"})
    await begin(alice, view=view.rpartition("/")[2], q="cat", tweet_ids=["1"])

    (row,) = await alice.database.rows("SELECT parameters FROM job", {})
    asked = msgspec.json.decode(row[0], type=ExportQuery)

    assert selection.description_of(asked) == (
        "The Smart View Animals, narrowed by q cat, 1 chosen post."
    )


async def test_the_cover_shows_numbers(alice: Member) -> None:
    await begin(alice, min_likes=5, max_words="50", label=["a", "b"])

    (row,) = await alice.database.rows("SELECT parameters FROM job", {})
    asked = msgspec.json.decode(row[0], type=ExportQuery)

    assert selection.description_of(asked) == "Narrowed by label a, b, max_words 50, min_likes 5."


@in_turn(
    ("body", "code"),
    [
        ({"view": "nope", "media_type": "bogus"}, "INVALID_REQUEST"),
        ({"view": "nope", "tweet_ids": [1]}, "INVALID_REQUEST"),
        ({"vector_search_term": "x", "tweet_ids": [1]}, "VECTOR_SEARCH_NOT_ALLOWED"),
        ({"vector_search_term": "x", "view": "nope", "tag": 5}, "VECTOR_SEARCH_NOT_ALLOWED"),
    ],
)
async def test_checks_run_in_a_fixed_order(alice: Member, body: dict[str, Any], code: str) -> None:
    await alice.save()

    response = await alice.client.post("/v1/exports/json", json=body)

    assert response.json()["code"] == code


async def test_a_free_account_can_export_everything_but_cannot_filter(cast: Service) -> None:
    posts = await fill(cast.free)
    view = await cast.free.client.post("/v1/exports/csv", json={"tag": "x", "limit": "bad"})
    meaning = await cast.free.client.post("/v1/exports/csv", json={"vector_search_term": "x"})

    assert (view.status_code, view.json()["code"]) == (402, "FILTER_NOT_ALLOWED")
    assert (meaning.status_code, meaning.json()["code"]) == (402, "VECTOR_SEARCH_NOT_ALLOWED")
    assert ids(await exported(cast, cast.free)) == ids(posts)
    assert ids(await exported(cast, cast.free, q="cat")) == ids(posts[:1])


async def test_a_free_account_cannot_export_a_view_that_filters(cast: Service) -> None:
    await cast.free.set_plan("pro")
    view = await writing.view(cast.free, "Animals", base_query={"tag": "animals"})
    plain = await writing.view(cast.free, "All")
    await cast.free.set_plan("free")

    refused = await cast.free.client.post(
        "/v1/exports/json", json={"view": view.rpartition("/")[2]}
    )

    assert (refused.status_code, refused.json()["code"]) == (402, "FILTER_NOT_ALLOWED")
    assert await exported(cast, cast.free, view=plain.rpartition("/")[2]) == []


async def test_an_account_can_queue_up_to_a_hundred_jobs(cast: Service) -> None:
    jobs = []
    for _ in range(100 // limits.EXPORTS_PER_DAY):
        jobs += [await begin(cast.alice) for _ in range(limits.EXPORTS_PER_DAY)]
        cast.clock.now += writing.DAY

    refused = await cast.alice.client.post("/v1/exports/json")

    assert (refused.status_code, refused.json()["code"]) == (429, "RATE_LIMITED")
    assert refused.headers["retry-after"] == "60"
    assert (await cast.bob.client.post("/v1/exports/json")).status_code == 202
    done = await finished(cast, cast.alice, *jobs)
    assert {job["status"] for job in done} == {"completed"}
    assert (await cast.alice.client.post("/v1/exports/json")).status_code == 202


async def test_the_exported_posts_are_selected_when_the_job_starts(cast: Service) -> None:
    await cast.alice.save(post_id="7001")
    job = await begin(cast.alice)
    await cast.alice.save(post_id="7002")

    (done,) = await finished(cast, cast.alice, job)

    assert len((await fetch(cast, done)).json()) == 2


def _without_updates(answer: bytes) -> bytes:
    """An import is an update: its time is the only difference."""
    return re.sub(rb'"updated_at": ?"[^"]*"', b"", answer)


async def _answers(member: Member) -> list[bytes]:
    """Return every page of the list in several sort orders, then some filtered lists."""
    found = []
    for order in ("sort_index", "created_at", "imported_at", "title", "author", "favorite_count"):
        for direction in ("asc", "desc"):
            asked = {"sort_by": order, "sort_order": direction, "limit": 2, "cursor": ""}
            asked |= {"is_unread_only": "false", "hide_archived": "false"}
            while asked["cursor"] is not None:
                answer = (await member.get("/v1/bookmarks", **asked)).json()
                asked["cursor"] = answer["meta"].pop("next_cursor")
                found.append(_without_updates(json.dumps(answer).encode()))
    filters: list[dict[str, str]] = [{}, {"tag": "birds"}, {"q": "bird"}, {"author": "ben"}]
    lists = [(await member.get("/v1/bookmarks", **each)).content for each in filters]
    return found + [_without_updates(each) for each in lists]


async def test_importing_an_export_reproduces_the_lists_byte_for_byte(cast: Service) -> None:
    await fill(cast.alice)
    same = {"sort_index": 77, "metrics": {"favorite_count": 3}, "text": "the same"}
    await cast.alice.save_all([make.post(**same) for _ in range(5)])
    cast.clock.now += 1_000_000
    await cast.alice.save_all(
        [
            make.post(text="später\n\u202b\u05e2\u05d1 \U0001f600", name="Ødé", author="ØDE"),
            make.post(bookmarked_at="2026-03-04T05:06:07.000008+00:00", tags=["Birds", "ärzte"]),
        ]
    )
    file = (await fetch(cast, await export(cast, cast.alice))).content
    cast.clock.now += 99_000_000

    account = await cast.bob.account()
    importing = FileImports(cast.database, cast.clock, account, ImportOptions())
    report = await importing.read(io.BytesIO(file), "export.json", "test")

    assert (report.new, report.left_out) == (10, {})
    assert await _answers(cast.bob) == await _answers(cast.alice)
    again = (await fetch(cast, await export(cast, cast.bob))).content
    assert _without_updates(again) == _without_updates(file)


@pytest.fixture
async def on_s3(sqlite: Database, s3: dict[str, Any], tmp_path: Path) -> AsyncIterator[Service]:
    built = await service.build(sqlite, data_dir=tmp_path, **s3)
    yield built
    for client in (built.alice.client, built.bob.client, built.free.client, built.nobody):
        await client.aclose()


async def test_a_pdf_export_is_a_pdf_document(cast: Service) -> None:
    await cast.alice.save(text="a bird in the hand")

    job = await export(cast, cast.alice, "pdf")
    response = await fetch(cast, job)

    assert response.headers["content-type"] == "application/pdf"
    assert response.content.startswith(b"%PDF-")
    assert isinstance(job["notes"], list)


async def test_a_markdown_export_is_a_zip_file_with_a_file_per_post(cast: Service) -> None:
    await cast.alice.save(post_id="20", text="a bird in the hand", tags=["Birds"])
    await cast.bob.save(text="not mine")

    job = await export(cast, cast.alice, "markdown", tag="birds")
    response = await fetch(cast, job)

    assert response.headers["content-type"] == "application/zip"
    assert '-2026-07-18.zip"' in response.headers["content-disposition"]
    with zipfile.ZipFile(io.BytesIO(response.content)) as archive:
        (name,) = archive.namelist()
        text = archive.read(name).decode()
    assert name == "a-bird-in-the-hand-20.md"
    assert yaml.safe_load(text.split("---\n")[1])["tags"] == ["Birds"]


async def test_a_bookmarks_file_is_a_download_and_not_a_page(cast: Service) -> None:
    await cast.alice.save(text="<script>alert(1)</script>")

    response = await fetch(cast, await export(cast, cast.alice, "netscape"))

    assert response.headers["content-type"] == "text/html; charset=utf-8"
    assert response.headers["content-disposition"].startswith("attachment;")
    assert response.headers["x-content-type-options"] == "nosniff"
    assert b"<script" not in response.content


async def test_files_are_downloaded_from_s3(on_s3: Service, tmp_path: Path) -> None:
    await on_s3.alice.save(text="a" * 1000)

    job = await export(on_s3, on_s3.alice)
    whole = await fetch(on_s3, job)
    part = await fetch(on_s3, job, Range="bytes=100-199")

    assert len(whole.content) == job["file_size"]
    assert (part.status_code, part.content) == (206, whole.content[100:200])
    assert not (tmp_path / "files").exists()


async def test_a_job_fails_with_a_message_when_s3_refuses_access(
    sqlite: Database, s3: dict[str, Any], tmp_path: Path
) -> None:
    built = await service.build(sqlite, data_dir=tmp_path, **{**s3, "files_s3_secret": "wrong"})
    built.app.worker._pauses_s = (0.01, 0.01)  # noqa: SLF001 - keeps the test fast

    (job,) = await finished(built, built.alice, await begin(built.alice))

    assert job["status"] == "failed"
    assert job["error"] == "The files cannot be reached at the moment."
    assert "download_url" not in job


async def test_a_download_returns_503_while_s3_is_unreachable(
    on_s3: Service, sqlite: Database, s3: dict[str, Any], tmp_path: Path
) -> None:
    job = await export(on_s3, on_s3.alice)
    away = {**s3, "data_dir": tmp_path, "files_s3_endpoint": "http://127.0.0.1:9"}
    nobody = service.client_on(app.build(Settings(**away), sqlite, on_s3.clock))

    response = await fetch(replace(on_s3, nobody=nobody), job)

    assert (response.status_code, response.json()["code"]) == (503, "SERVICE_UNAVAILABLE")
    assert "127.0.0.1" not in response.text


async def test_a_full_disk_fails_the_job_with_a_message(
    postgres: ThrowawayPostgres, tmp_path: Path
) -> None:
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    # PostgreSQL, because the limit on file size would also hit a SQLite database.
    async with databases.fresh_postgres(postgres) as database:
        built = await service.build(database, data_dir=tmp_path)
        built.app.worker._pauses_s = (0.01, 0.01)  # noqa: SLF001 - keeps the test fast
        await built.alice.save(text="a" * 3_000_000)
        job = await begin(built.alice)

        resource.setrlimit(resource.RLIMIT_FSIZE, (2_000_000, limit[1]))
        try:
            (failed,) = await finished(built, built.alice, job)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limit)

    assert failed["status"] == "failed"
    assert failed["error"] == "The server's disk is full, so the export could not be written."
    assert not list((tmp_path / "files").rglob("*.json"))


DAY = 24 * 3_600 * MICROSECONDS


async def claimed(service: Service) -> Any:
    store = JobStore(service.database)
    job = await store.claim(["export"], EXPORTS, lease_s=60, now=system_clock())
    assert job is not None
    return job


async def test_a_completed_export_has_a_link_valid_for_five_minutes(cast: Service) -> None:
    await cast.alice.save()

    job = await export(cast, cast.alice)

    assert job["progress"] == {"done": 1, "total": 1}
    assert job["completed_at"] == "2026-07-18T08:21:13.841838+00:00"
    assert job["expires_at"] == "2026-07-18T08:26:13.841838+00:00"
    assert job["download_url"].startswith(f"{job['poll_url']}/file?token=")
    assert job["file_size"] == len((await fetch(cast, job)).content)


async def test_each_poll_creates_a_new_link(cast: Service) -> None:
    first = await export(cast, cast.alice)
    cast.clock.now += 301 * MICROSECONDS

    second = await poll(cast.alice, first)

    assert (await fetch(cast, first)).status_code == 403
    assert (await fetch(cast, second)).status_code == 200


async def test_a_running_export_shows_its_progress(cast: Service) -> None:
    job = await begin(cast.alice, "pdf")
    store = JobStore(cast.database)
    await store.renew_lease(await claimed(cast), 3, 9, lease_s=60)

    response = await cast.alice.client.get(f"/v1/exports/{job['job_id']}")

    shown = response.json()["data"]
    assert (shown["status"], shown["progress"]) == ("processing", {"done": 3, "total": 9})
    assert response.headers["retry-after"] == "2"
    assert "download_url" not in shown
    assert "expires_at" not in shown


async def test_a_failed_export_reports_its_error(cast: Service) -> None:
    job = await begin(cast.alice)
    await JobStore(cast.database).fail(await claimed(cast), "Too many posts.", now=cast.clock())

    response = await cast.alice.client.get(f"/v1/exports/{job['job_id']}")

    shown = response.json()["data"]
    assert (shown["status"], shown["error"]) == ("failed", "Too many posts.")
    assert "retry-after" not in response.headers


async def test_an_export_waiting_for_a_retry_is_pending_not_failed(cast: Service) -> None:
    job = await begin(cast.alice)
    await JobStore(cast.database).postpone(await claimed(cast), "Not now.", pause_s=60)

    shown = await poll(cast.alice, job)

    assert (shown["status"], shown["error"]) == ("pending", None)


async def test_an_export_expires_after_a_day_with_its_file(cast: Service, tmp_path: Any) -> None:
    job = await export(cast, cast.alice)
    cast.clock.now += DAY - MICROSECONDS
    late = await poll(cast.alice, job)
    assert late["expires_at"] == "2026-07-19T08:21:13.841838+00:00"
    cast.clock.now += MICROSECONDS
    files = Files(Settings(data_dir=tmp_path))

    assert (await poll(cast.alice, job))["status"] == "expired"
    assert len(list((tmp_path / "files").rglob("*.json"))) == 1
    await ExportJobs(cast.database, files, cast.clock, tmp_path).expire()

    expired = await poll(cast.alice, job)
    assert expired["status"] == "expired"
    assert "download_url" not in expired
    assert list((tmp_path / "files").rglob("*.json")) == []


async def test_an_export_that_ended_a_month_ago_is_deleted(cast: Service, tmp_path: Any) -> None:
    job = await export(cast, cast.alice)
    cast.clock.now += 31 * DAY
    jobs = ExportJobs(cast.database, Files(Settings(data_dir=tmp_path)), cast.clock, tmp_path)

    await jobs.expire()
    await jobs.delete_old_jobs()

    gone = await cast.alice.client.get(f"/v1/exports/{job['job_id']}")
    assert gone.status_code == 404


async def test_a_job_of_another_kind_is_not_found(alice: Member) -> None:
    job_id = await add(alice.database, alice.account_id, "embed")

    assert (await alice.client.get(f"/v1/exports/{job_id}")).status_code == 404
