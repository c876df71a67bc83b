"""The files of an open library are deleted or replaced by another program."""

import shutil
from pathlib import Path

import pytest
import structlog

from bowerbird.errors import Refusal
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.sqlite.database import FILE_NAME
from tests.support import service
from tests.support.waiting import until

pytestmark = pytest.mark.anyio


async def nothing(_: Transaction) -> None:
    pass


@pytest.mark.parametrize("name", [FILE_NAME, f"{FILE_NAME}-wal", f"{FILE_NAME}-shm", "write.lock"])
async def test_a_write_to_a_deleted_file_is_refused_with_a_sentence(
    sqlite: Database, tmp_path: Path, name: str
) -> None:
    (tmp_path / name).unlink()

    with pytest.raises(Refusal, match=f"^{name} was deleted or replaced") as refused:
        await sqlite.write(nothing)

    assert (refused.value.status, refused.value.headers) == (503, {"Retry-After": "30"})
    with pytest.raises(Refusal, match=f"^{name} was deleted or replaced"):
        await sqlite.require_ready()


async def test_a_write_to_a_replaced_file_is_refused(sqlite: Database, tmp_path: Path) -> None:
    shutil.copy(tmp_path / FILE_NAME, tmp_path / "copy")
    (tmp_path / "copy").replace(tmp_path / FILE_NAME)

    with pytest.raises(Refusal, match="was deleted or replaced"):
        await sqlite.write(nothing)


async def test_requests_get_503_and_the_log_one_line_until_the_file_is_back(
    sqlite: Database, tmp_path: Path
) -> None:
    cast = await service.build(sqlite)
    post = await cast.alice.save()
    file, away = tmp_path / FILE_NAME, tmp_path / "away"

    async def status() -> int:
        return (await cast.alice.get("/v1/bookmarks")).status_code

    async def is_refused() -> bool:
        return await status() == 503

    async def is_answered() -> bool:
        return await status() == 200

    with structlog.testing.capture_logs() as lines:
        file.rename(away)
        await until(is_refused)
        answer = await cast.alice.client.patch(
            f"/v1/bookmarks/{post['post_id']}", json={"is_read": True}
        )
        ready = await cast.nobody.get("/readyz")
        away.rename(file)
        await until(is_answered)

    assert (answer.status_code, answer.json()["code"]) == (503, "SERVICE_UNAVAILABLE")
    assert "bowerbird.db was deleted or replaced" in answer.json()["error"]
    assert (ready.status_code, ready.headers["Retry-After"]) == (503, "30")
    assert "bowerbird.db was deleted or replaced" in ready.text
    events = [line["event"] for line in lines if line["event"].startswith("library_file")]
    assert events == ["library_file_replaced", "library_file_returned"]
