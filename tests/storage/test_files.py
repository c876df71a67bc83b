"""Files in a folder and on a real S3 server, and the errors when these are unavailable."""

import asyncio
import os
import socket
from pathlib import Path
from typing import Any

import pytest

from bowerbird.errors import Refusal
from bowerbird.settings import Settings
from bowerbird.storage.files import Files

pytestmark = pytest.mark.anyio

LARGE = os.urandom(9_000_000)


@pytest.fixture(params=["folder", "s3"])
def files(request: pytest.FixtureRequest, tmp_path: Path) -> Files:
    if request.param == "folder":
        return Files(Settings(data_dir=tmp_path))
    return Files(Settings(**request.getfixturevalue("s3")))


async def content(files: Files, name: str, first: int, end: int) -> bytes:
    opened = await files.open(name, first, end)
    assert opened is not None
    return b"".join([chunk async for chunk in opened.chunks])


async def test_a_file_can_be_read_completely_and_in_ranges(files: Files, tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.write_bytes(LARGE)

    await files.put("exports/7/large", source)

    assert await files.size("exports/7/large") == len(LARGE)
    assert await content(files, "exports/7/large", 0, len(LARGE)) == LARGE
    assert await content(files, "exports/7/large", 8_999_990, 9_000_000) == LARGE[-10:]
    assert await content(files, "exports/7/large", 3, 5) == LARGE[3:5]


async def test_a_moved_file_is_complete_and_private(files: Files, tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.write_bytes(LARGE)
    source.chmod(0o644)

    await files.move("exports/7/moved", source)

    assert await content(files, "exports/7/moved", 0, len(LARGE)) == LARGE
    if files.folder is not None:
        moved = files.folder / "exports/7/moved"
        assert (moved.stat().st_mode & 0o777, source.exists()) == (0o600, False)


async def test_a_file_that_cannot_be_moved_is_refused(files: Files, tmp_path: Path) -> None:
    with pytest.raises(Refusal):
        await files.move("exports/7/none", tmp_path / "missing")

    assert await files.size("exports/7/none") is None


async def test_a_missing_file_is_none(files: Files) -> None:
    assert await files.size("exports/none") is None
    assert await files.open("exports/none", 0, 1) is None
    await files.delete("exports/none")


async def test_put_new_does_not_overwrite_a_file(files: Files) -> None:
    name = f"mark-{os.urandom(4).hex()}"

    assert await files.put_new(name, b"first") == b"first"
    assert await files.put_new(name, b"second") == b"first"


async def test_the_files_of_a_folder_are_deleted_together(files: Files) -> None:
    for name in ("exports/8/a", "exports/8/b", "exports/88/c"):
        await files.put(name, b"x")

    assert await files.delete_under("exports/8", older_than_s=3600) == 0
    assert await files.delete_under("exports/8") == 2

    assert await files.size("exports/8/a") is None
    assert await files.size("exports/88/c") == 1


async def test_incomplete_files_are_deleted_with_their_folder(tmp_path: Path) -> None:
    files = Files(Settings(data_dir=tmp_path))
    await files.put("exports/9/whole", b"x")
    (tmp_path / "files" / "exports" / "9" / "half#1").write_bytes(b"x")

    await files.delete_under("exports/9")

    assert list((tmp_path / "files" / "exports" / "9").iterdir()) == []


async def test_a_files_url_names_the_folder(tmp_path: Path) -> None:
    shared = tmp_path / "a shared place"
    files = Files(Settings(data_dir=tmp_path, files_url=shared.as_uri()))

    await files.put("exports/x", b"x")

    assert (shared / "exports" / "x").read_bytes() == b"x"
    assert not (tmp_path / "files").exists()


async def test_a_wrong_secret_is_reported_as_unreachable_storage(s3: dict[str, Any]) -> None:
    files = Files(Settings(**{**s3, "files_s3_secret": "wrong"}))

    with pytest.raises(Refusal, match="The files cannot be reached at the moment") as refused:
        await files.put("exports/x", b"x")

    assert refused.value.status == 503
    assert "403" in str(refused.value.__cause__)


async def test_unreachable_storage_is_reported(s3: dict[str, Any]) -> None:
    files = Files(Settings(**{**s3, "files_s3_endpoint": "http://127.0.0.1:9"}))

    with pytest.raises(Refusal, match="cannot be reached"):
        await files.size("exports/x")


async def test_a_slow_reader_gets_the_complete_file(s3: dict[str, Any]) -> None:
    await Files(Settings(**s3)).put("exports/slow", LARGE)
    opened = await Files(Settings(**s3), silence_s=3.0).open("exports/slow", 0, len(LARGE))
    assert opened is not None

    read = 0
    async for chunk in opened.chunks:
        read += len(chunk)
        # A fixed wait on purpose: the reader takes longer in total than the storage may be silent.
        await asyncio.sleep(0.18)

    assert read == len(LARGE)


async def test_silent_storage_is_reported() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        settings = Settings(
            files_url="s3://shelf",
            files_s3_endpoint=f"http://127.0.0.1:{silent.getsockname()[1]}",
            files_s3_key_id="bower",
            files_s3_secret="s",
        )
        async with asyncio.timeout(120):
            with pytest.raises(Refusal, match="cannot be reached"):
                await Files(settings, silence_s=0.2).size("exports/x")


async def test_a_folder_that_cannot_be_created_is_reported(tmp_path: Path) -> None:
    (tmp_path / "files").write_text("in the way")
    files = Files(Settings(data_dir=tmp_path))

    with pytest.raises(Refusal, match="The files cannot be reached at the moment") as refused:
        await files.put("exports/x", b"x")

    assert str(tmp_path) not in str(refused.value)
    # Only the log has the path.
    assert str(tmp_path / "files") in str(refused.value.__cause__)
