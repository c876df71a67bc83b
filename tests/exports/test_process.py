"""A writing process that fails or is cancelled leaves no files, only an error message."""

import asyncio
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path

import msgspec
import pytest

from bowerbird.exports.tasks import ProcessLimits, Task
from bowerbird.exports.writer import ExportFailed, run_task, write_export
from tests.exports.files import Progress, bookmark, document_info, posts_file, write_posts
from tests.support.waiting import until

pytestmark = pytest.mark.anyio

FEWER = "Export fewer posts at a time: filter them, for example by date."


@pytest.fixture
def endless(tmp_path: Path) -> Path:
    """A pipe without a writer, so that reading posts from it never ends."""
    path = tmp_path / "endless.json"
    os.mkfifo(path)
    return path


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def is_read(pipe: Path) -> bool:
    """Whether a process has opened the pipe for reading."""
    try:
        os.close(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK))
    except OSError:
        return False
    return True


def writing_process() -> int:
    """The id of the one writing process that the test has started."""
    lists = [file.read_text() for file in Path("/proc/self/task").glob("*/children")]
    children = [int(number) for numbers in lists for number in numbers.split()]
    (found,) = (
        number
        for number in children
        if b"bowerbird.exports" in Path(f"/proc/{number}/cmdline").read_bytes()
    )
    return found


def environment_of(process: int) -> bytes:
    return Path(f"/proc/{process}/environ").read_bytes()


async def until_read(pipe: Path) -> int:
    """Opens the pipe for writing as soon as a process reads it.

    Opened once: a first writer that closes the pipe again would end the file for the reader.
    """
    opened: list[int] = []

    async def is_open() -> bool:
        with suppress(OSError):
            opened.append(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK))
        return bool(opened)

    await until(is_open)
    return opened[0]


async def test_progress_reaches_the_total_and_no_temporary_files_remain(tmp_path: Path) -> None:
    file = await posts_file(tmp_path, [bookmark() for _ in range(7)])
    for format in ("json", "csv", "pdf"):
        progress = Progress()
        written = await write_export(format, file, tmp_path, document_info(7), progress)
        assert written.path.is_file()
        assert all(done <= total == 7 for done, total in progress.reports)
        assert progress.reports[-1] == (7, 7)
    assert names(tmp_path) == ["export.csv", "export.pdf", "posts.json"]


async def test_the_process_that_sorts_the_posts_of_one_document_also_typesets_it(
    tmp_path: Path,
) -> None:
    posts = await posts_file(tmp_path, [bookmark(text="one"), bookmark(text="two")])
    task = Task(
        step="split",
        source=str(posts),
        target=str(tmp_path),
        document=document_info(2),
        limits=ProcessLimits(),
    )

    report = await run_task(task, tmp_path, lambda _done: asyncio.sleep(0))

    assert (report.names, report.done) == (["export.pdf"], 2)
    assert (tmp_path / "export.pdf").read_bytes().startswith(b"%PDF")


async def test_a_json_export_is_the_file_of_posts(tmp_path: Path) -> None:
    file = await posts_file(tmp_path, [bookmark()])

    written = await write_export("json", file, tmp_path, document_info(1), Progress())

    assert (written.path, written.media_type, written.suffix) == (
        file,
        "application/json",
        ".json",
    )


@pytest.mark.parametrize("format", ["pdf", "csv"])
async def test_reaching_the_memory_limit_is_reported(tmp_path: Path, format: str) -> None:
    # CSV needs little memory, so its page of posts must be larger than the limit.
    posts = [bookmark(text="long words " * (60_000 if format == "pdf" else 3_000_000))]

    with pytest.raises(ExportFailed) as failed:
        await write_posts(format, tmp_path, posts, ProcessLimits(memory_mib=64))

    assert str(failed.value) == f"The export needed more than 64 MiB of memory. {FEWER}"
    assert failed.value.is_final
    assert names(tmp_path) == ["posts.json"]


async def test_reaching_the_cpu_limit_is_reported(tmp_path: Path) -> None:
    posts = [bookmark(text="long words\n" * 60_000)]

    with pytest.raises(ExportFailed) as failed:
        await write_posts("pdf", tmp_path, posts, ProcessLimits(cpu_s=1))

    sentence = f"The export took longer than 1 seconds of CPU time. {FEWER}"
    assert str(failed.value) == sentence
    assert failed.value.is_final


async def test_reaching_the_time_limit_is_reported(tmp_path: Path, endless: Path) -> None:
    limits = ProcessLimits(wall_s=1)

    with pytest.raises(ExportFailed, match=r"took longer than 1 seconds\. Export fewer"):
        await write_export("csv", endless, tmp_path, document_info(1), Progress(), limits=limits)

    assert not is_read(endless)
    assert names(tmp_path) == ["endless.json"]


@pytest.mark.parametrize("step", ["csv", "pdf"])
async def test_a_full_disk_is_reported(tmp_path: Path, step: str) -> None:
    source = await posts_file(tmp_path, [])
    if step == "pdf":
        source.write_bytes(b"")
    full = tmp_path / "full.pdf"
    full.symlink_to("/dev/full")
    task = Task(
        step=step,
        source=str(source),
        target=str(full),
        document=document_info(0),
        limits=ProcessLimits(),
    )

    with pytest.raises(ExportFailed, match="The server's disk is full") as failed:
        await run_task(task, tmp_path, lambda _done: asyncio.sleep(0))

    assert not failed.value.is_final


async def test_a_killed_process_is_reported(tmp_path: Path, endless: Path) -> None:
    writing = asyncio.create_task(
        write_export("csv", endless, tmp_path, document_info(1), Progress())
    )
    writer = await until_read(endless)
    os.kill(writing_process(), signal.SIGKILL)

    with pytest.raises(ExportFailed, match="The server killed the export"):
        await writing

    os.close(writer)


async def test_the_reason_of_an_unexpected_failure_is_kept_for_the_log(tmp_path: Path) -> None:
    file = tmp_path / "posts.json"
    file.write_bytes(b"[\n{]\n]\n")

    with pytest.raises(ExportFailed, match="The server's log has the reason") as failed:
        await write_export("csv", file, tmp_path, document_info(1), Progress())

    assert "JSON is malformed" in failed.value.__notes__[0]


async def test_cancelling_kills_the_process_and_removes_its_files(
    tmp_path: Path, endless: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BOWERBIRD_DATABASE_URL", "postgresql://secret@127.0.0.1/x")
    writing = asyncio.create_task(
        write_export("csv", endless, tmp_path, document_info(1), Progress())
    )
    writer = await until_read(endless)
    environment = environment_of(writing_process())
    writing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await writing
    os.close(writer)
    assert not is_read(endless)
    assert names(tmp_path) == ["endless.json"]
    # It had none of our settings.
    assert b"PATH=" in environment
    assert b"secret" not in environment


async def test_an_error_in_the_progress_callback_kills_the_process(tmp_path: Path) -> None:
    async def lost(_done: int, _total: int) -> None:
        raise LookupError("the lease was lost")

    file = await posts_file(tmp_path, [bookmark()])

    with pytest.raises(LookupError):
        await write_export("csv", file, tmp_path, document_info(1), lost)

    assert names(tmp_path) == ["posts.json"]


async def test_a_process_exits_when_its_service_exits(tmp_path: Path, endless: Path) -> None:
    task = Task(
        step="csv",
        source=str(endless),
        target=str(tmp_path / "x"),
        document=document_info(1),
        limits=ProcessLimits(),
    )
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bowerbird.exports"), stdin=asyncio.subprocess.PIPE
    )
    assert process.stdin is not None
    process.stdin.write(msgspec.json.encode(task) + b"\n")
    writer = await until_read(endless)

    process.stdin.close()

    assert await asyncio.wait_for(process.wait(), 40) == 1
    os.close(writer)


async def test_a_writing_process_imports_no_log_and_no_event_loop(tmp_path: Path) -> None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-X", "importtime", "-P", "-m", "bowerbird.exports"),
        stdin=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        cwd=tmp_path,
    )
    _, imported = await process.communicate()

    assert b" msgspec\n" in imported
    assert b" structlog\n" not in imported
    assert b" asyncio\n" not in imported
