"""POST /ingest/v1/files and GET /ingest/v1/files/{job_id}."""

import gzip
import json
import stat
from pathlib import Path
from typing import Any

import pytest
import zstandard

from bowerbird.requests import limits
from tests.ingest.sent_files import counts, imported, own, upload
from tests.support import ingesting, make, waiting, writing
from tests.support.ingesting import Sender, data
from tests.support.service import Member, Service

pytestmark = pytest.mark.anyio


async def test_a_file_is_imported_and_told(laptop: Sender, cast: Service, alice: Member) -> None:
    response = await upload(laptop, own("1", "2"))
    started = data(response)
    job = await imported(cast, laptop, response)

    assert started["status"] == "pending"
    assert started["poll_url"].endswith(response.headers["location"])
    assert (job["status"], job["error"], job["is_dry_run"]) == ("completed", None, False)
    assert job["progress"] == {"done": job["file_size"], "total": job["file_size"]}
    (file,) = job["report"]["files"]
    assert (file["format"], file["found"], file["new"]) == ("Bowerbird JSON", 2, 2)
    assert sorted(await alice.ids()) == ["1", "2"]
    undone = await alice.client.post(f"/v1/imports/{job['report']['run_id']}/undo")
    assert undone.status_code == 200
    assert await alice.ids() == []


async def test_a_dry_run_compares_the_file_with_the_library(
    laptop: Sender, cast: Service, alice: Member
) -> None:
    first, second = make.post(post_id="1"), make.post(post_id="2")
    await imported(cast, laptop, await upload(laptop, json.dumps([first, second]).encode()))
    second["tweet_details"]["text"] = "Later"
    content = json.dumps([first, second, make.post(post_id="3")]).encode() + b'\n{"post_id": "x"}'

    dry = await imported(cast, laptop, await upload(laptop, content, "?dry_run=true"))

    assert (dry["report"]["run_id"], dry["report"]["is_dry_run"]) == ("", True)
    assert counts(dry) == (1, 1, 1)
    (file,) = dry["report"]["files"]
    assert sum(file["left_out"].values()) == len(file["rows"]) > 0
    assert sorted(await alice.ids()) == ["1", "2"]
    assert counts(await imported(cast, laptop, await upload(laptop, content))) == (1, 1, 1)


async def test_a_date_of_saving_in_the_future_is_not_used(
    laptop: Sender, cast: Service, alice: Member
) -> None:
    content = (
        b"id,title,note,excerpt,url,folder,tags,created,cover,highlights,favorite\n"
        b"1,A post,,,https://x.com/ada/status/20,Unsorted,,2099-01-01T00:00:00.000Z,,,false\n"
    )

    job = await imported(cast, laptop, await upload(laptop, content))

    (file,) = job["report"]["files"]
    assert (file["new"], file["future_dates"]) == (1, 1)
    (post,) = (await alice.get("/v1/bookmarks")).json()["data"]
    assert not (post["bookmarked_at"] or "").startswith("2099")


async def test_a_file_brings_its_labels_on_every_plan(cast: Service) -> None:
    laptop = await ingesting.device(cast, cast.free)
    content = json.dumps([make.post(post_id="1", tags=["birds"])]).encode()

    job = await imported(cast, laptop, await upload(laptop, content))

    (post,) = (await cast.free.get("/v1/bookmarks")).json()["data"]
    assert post["tags"] == ["birds"]
    (file,) = job["report"]["files"]
    assert (file["labels_created"], file["new_labels"]) == (1, ["birds"])
    body = {"tweet_ids": ["1"], "label_name": "nests"}
    refused = await writing.send(cast.free, "POST", "/v1/labels/add", body)
    assert writing.refused(refused) == (402, "SUBSCRIPTION_REQUIRED")


async def test_a_form_with_a_file_is_read(laptop: Sender, cast: Service, alice: Member) -> None:
    response = await laptop.client.post(
        "/ingest/v1/files",
        data={"note": "hello"},
        files={"file": ("posts.json", own("1"), "application/json")},
    )

    job = await imported(cast, laptop, response)
    assert job["status"] == "completed"
    assert await alice.ids() == ["1"]


def form(parts: int, content: bytes) -> bytes:
    """A form with a file after so many other parts."""
    return (
        b"--b\r\n\r\nx\r\n" * parts
        + b'--b\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\n'
        + content
        + b"\r\n--b--\r\n"
    )


async def test_a_form_has_at_most_20_parts(laptop: Sender, cast: Service, alice: Member) -> None:
    kind = "multipart/form-data; boundary=b"

    await imported(cast, laptop, await upload(laptop, form(19, own("1")), content_type=kind))
    refused = await upload(laptop, form(20, own("2")), content_type=kind)

    assert await alice.ids() == ["1"]
    assert writing.refused(refused) == (400, "INVALID_REQUEST")
    assert "at most 20 parts" in writing.sentence(refused)


async def test_a_form_with_two_files_is_refused(laptop: Sender, alice: Member) -> None:
    for names in (("file", "file"), ("file", "other"), ("a", "b")):
        files = [
            (name, (f"{number}.json", own(str(number)), "application/json"))
            for number, name in enumerate(names, 1)
        ]
        response = await laptop.client.post("/ingest/v1/files", files=files)

        assert writing.refused(response) == (400, "INVALID_REQUEST")
        assert writing.sentence(response) == (
            "body: has two files in the form; send each by itself."
        )
    assert await alice.ids() == []


@pytest.mark.parametrize("disposition", [b'name="file"', b'name="file"; filename=""', b'name="a"'])
async def test_a_form_without_a_file_is_refused(laptop: Sender, disposition: bytes) -> None:
    head = b"--b\r\ncontent-disposition: form-data; " + disposition
    content = head + b"\r\n\r\n" + own("1") + b"\r\n--b--\r\n"

    response = await upload(laptop, content, content_type="multipart/form-data; boundary=b")

    assert writing.refused(response) == (400, "INVALID_REQUEST")
    assert writing.sentence(response) == (
        "body: must have a file in the form, with its name, as curl -F file=@posts.json sends it."
    )


@pytest.mark.parametrize("query", ["dry_run=yes", "with_likes=True"])
async def test_a_flag_is_true_or_false(laptop: Sender, query: str) -> None:
    name, value = query.split("=")

    response = await upload(laptop, own("1"), f"?{query}")

    assert writing.sentence(response) == f"{name}: must be true or false, got '{value}'."


async def test_a_large_file_in_a_form_arrives_whole(laptop: Sender, cast: Service) -> None:
    kind = "multipart/form-data; boundary=b"
    posts = [make.post(post_id=str(number), text="\r\n--" * 900) for number in range(1, 201)]
    content = json.dumps(posts).encode()
    assert len(content) > 1_000_000

    job = await imported(cast, laptop, await upload(laptop, form(3, content), content_type=kind))

    assert job["file_size"] == len(content)
    assert counts(job) == (200, 0, 0)


@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
async def test_a_file_may_be_compressed(
    laptop: Sender, cast: Service, alice: Member, encoding: str
) -> None:
    packed = gzip.compress(own("1")) if encoding == "gzip" else zstandard.compress(own("1"))

    await imported(cast, laptop, await upload(laptop, packed, content_encoding=encoding))

    assert await alice.ids() == ["1"]


@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
async def test_a_bomb_is_refused(laptop: Sender, encoding: str) -> None:
    raw = b" " * (limits.INGEST_FILE_BYTES_MAX + 200_000)
    packed = gzip.compress(raw) if encoding == "gzip" else zstandard.compress(raw)

    response = await upload(laptop, packed, content_encoding=encoding)

    assert writing.refused(response) == (413, "PAYLOAD_TOO_LARGE")


async def test_a_file_above_50_mb_is_refused_while_it_is_received(laptop: Sender) -> None:
    sent = 0

    async def pieces() -> Any:
        nonlocal sent
        for _ in range(60):
            sent += 1
            yield b" " * 1_000_000

    response = await laptop.client.post("/ingest/v1/files", content=pieces())

    assert writing.refused(response) == (413, "PAYLOAD_TOO_LARGE")
    assert writing.sentence(response) == "The body is larger than 50 MB."
    assert sent < 60


async def test_an_unknown_file_fails_with_one_sentence(
    laptop: Sender, cast: Service, alice: Member
) -> None:
    job = await imported(cast, laptop, await upload(laptop, b"%PDF-1.7 ..."))

    assert (job["status"], job["error"]) == (
        "failed",
        (
            "This file cannot be imported. It looks like a PDF. "
            "Choose what the program exports as JSON, CSV, HTML or text."
        ),
    )
    assert (await alice.get("/v1/imports")).json()["data"] == []


@pytest.mark.parametrize(
    ("content", "content_type"),
    [
        (b"", "application/json"),
        (b"--b\r\n", "multipart/form-data; boundary=b"),
        (b"--b--\r\n", "multipart/form-data; boundary=b"),
        (b"nothing", "multipart/form-data; boundary=b"),
        (b"--b\r\n\r\nx\r\n--b--", "multipart/form-data"),
        (
            b'--b\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\n',
            "multipart/form-data; boundary=b",
        ),
        (b"--b\r\n" + b"x" * 20_000, "multipart/form-data; boundary=b"),
        (form(0, b"\r\n--b-" * 101), "multipart/form-data; boundary=b"),
    ],
)
async def test_an_empty_or_broken_upload_is_refused(
    laptop: Sender, content: bytes, content_type: str
) -> None:
    response = await upload(laptop, content, content_type=content_type)

    assert writing.refused(response) == (400, "INVALID_REQUEST")


async def test_an_account_imports_two_files_at_a_time(
    laptop: Sender, cast: Service, alice: Member
) -> None:
    await alice.database.write(_unfinished(alice.account_id, laptop.clock.now))

    refused = await upload(laptop, own("1"))

    assert writing.refused(refused) == (429, "RATE_LIMITED")
    assert "retry-after" in refused.headers
    laptop.clock.now += 5 * ingesting.MINUTE
    dead = data(await laptop.get("/files/job-0"))
    assert (dead["status"], dead["error"]) == (
        "failed",
        "The server stopped during the import. Send the file again.",
    )
    await imported(cast, laptop, await upload(laptop, own("1")))


async def test_the_files_of_one_account_do_not_keep_others_waiting(
    cast: Service, alice: Member, bob: Member
) -> None:
    laptop, other = await ingesting.device(cast, alice), await ingesting.device(cast, bob)
    large = [own(*map(str, range(first, first + 3_000))) for first in (1, 3_001)]
    locations = [(await upload(laptop, content)).headers["location"] for content in large]
    short = (await upload(other, own("1"))).headers["location"]

    async def state(sender: Sender, location: str) -> str:
        return str(data(await sender.client.get(location))["status"])

    async def is_short_file_imported() -> bool:
        return await state(other, short) == "completed"

    await waiting.until(is_short_file_imported)

    assert "completed" not in [await state(laptop, location) for location in locations]
    await cast.app.file_imports.finished()
    assert [await state(laptop, location) for location in locations] == ["completed"] * 2


async def test_an_account_can_send_a_bounded_number_of_files_per_day(
    cast: Service, alice: Member, bob: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "INGEST_FILES_PER_DAY", 2)
    laptop, other = await ingesting.device(cast, alice), await ingesting.device(cast, bob)
    for post_id in ("1", "2"):
        await imported(cast, laptop, await upload(laptop, own(post_id), "?dry_run=true"))

    refused = await upload(laptop, own("3"))

    assert writing.refused(refused) == (429, "RATE_LIMITED")
    assert int(refused.headers["retry-after"]) > 60
    assert writing.sentence(refused) == (
        "This account has sent 2 files today (UTC), the maximum. Retry tomorrow."
    )
    await imported(cast, other, await upload(other, own("3")))
    cast.clock.now += ingesting.DAY
    await imported(cast, laptop, await upload(laptop, own("3")))
    assert await alice.ids() == ["3"]


def _unfinished(account_id: int, now: int) -> Any:
    async def work(transaction: Any) -> None:
        for number in range(limits.INGEST_UNFINISHED_FILES):
            await transaction.run(
                "INSERT INTO file_import VALUES (:account_id, :job_id, FALSE, 'processing', 0, 1,"
                " :report, NULL, :now, :now, NULL)",
                {
                    "account_id": account_id,
                    "job_id": f"job-{number}",
                    "report": b"{}",
                    "now": now,
                },
            )

    return work


async def test_nothing_of_a_file_stays_on_disk(
    laptop: Sender, cast: Service, tmp_path: Path
) -> None:
    await imported(cast, laptop, await upload(laptop, own("1")))
    await upload(laptop, b"")

    assert list((tmp_path / "scratch").glob("*")) == []
    assert stat.S_IMODE((tmp_path / "scratch").stat().st_mode) == 0o700


async def test_an_unknown_job_is_not_found(laptop: Sender) -> None:
    assert writing.refused(await laptop.get("/files/none")) == (404, "NOT_FOUND")
