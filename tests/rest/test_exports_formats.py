"""POST /v1/exports/csv, /pdf, /markdown and /netscape, files on a real S3 server, and failures."""

import io
import resource
import zipfile
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from bowerbird import app
from bowerbird.settings import Settings
from bowerbird.storage.database import Database
from tests.support import databases, service
from tests.support.exporting import begin, export, fetch, finished
from tests.support.postgres import ThrowawayPostgres
from tests.support.service import Service

pytestmark = pytest.mark.anyio


@pytest.fixture
async def on_s3(sqlite: Database, s3: dict[str, Any], tmp_path: Path) -> AsyncIterator[Service]:
    built = await service.build(sqlite, data_dir=tmp_path, **s3)
    yield built
    for client in (built.alice.client, built.bob.client, built.free.client, built.nobody):
        await client.aclose()


async def test_a_csv_export_is_safe_to_open_in_a_spreadsheet(cast: Service) -> None:
    await cast.alice.save(text="=SUM(A1)\nsecond line", tags=["Birds"])

    job = await export(cast, cast.alice, "csv", tag="birds")
    response = await fetch(cast, job)

    assert response.headers["content-type"] == "text/csv; charset=utf-8"
    assert 'filename="bowerbird-2026-07-18.csv"' in response.headers["content-disposition"]
    assert response.content.startswith(b"\xef\xbb\xbf")
    assert b"'=SUM(A1)\nsecond line" in response.content
    assert job["progress"] == {"done": 1, "total": 1}


async def test_a_pdf_export_is_a_pdf_document(cast: Service) -> None:
    await cast.alice.save(text="a bird in the hand")

    job = await export(cast, cast.alice, "pdf")
    response = await fetch(cast, job)

    assert response.headers["content-type"] == "application/pdf"
    assert response.content.startswith(b"%PDF-")
    assert isinstance(job["notes"], list)


@pytest.mark.parametrize("format", ["csv", "pdf", "markdown", "netscape"])
async def test_an_export_without_posts_is_still_a_complete_file(cast: Service, format: str) -> None:
    job = await export(cast, cast.alice, format, q="nothing")

    assert len((await fetch(cast, job)).content) == job["file_size"] > 0


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


@pytest.mark.parametrize("format", ["markdown", "netscape"])
async def test_a_free_account_exports_everything_in_these_formats_but_cannot_filter(
    cast: Service, format: str
) -> None:
    await cast.free.save(text="one")
    refused = await cast.free.client.post(f"/v1/exports/{format}", json={"tag": "x"})

    job = await export(cast, cast.free, format)

    assert (refused.status_code, refused.json()["code"]) == (402, "FILTER_NOT_ALLOWED")
    assert job["progress"] == {"done": 1, "total": 1}


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
