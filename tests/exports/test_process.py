"""A writing process may fail or be given up without a trace but a sentence."""

import asyncio
import os
import signal
import sys
from pathlib import Path

import msgspec
import pytest

from bowerbird.exports.process import ExportFailed, run
from bowerbird.exports.tasks import Limits, Task
from bowerbird.exports.writing import make
from tests.exports.files import Progress, about, bookmark, exported, posts_file
from tests.support.waiting import until

pytestmark = pytest.mark.anyio

FEWER = "Export fewer posts at a time, by a filter or by dates."


@pytest.fixture
def endless(tmp_path: Path) -> Path:
    """A file of posts that never comes to an end, because nobody writes it."""
    path = tmp_path / "endless.json"
    os.mkfifo(path)
    return path


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def is_read(pipe: Path) -> bool:
    """Whether any process has the pipe open or is about to."""
    try:
        os.close(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK))
    except OSError:
        return False
    return True


def own_process() -> int:
    """The one writing process that this one has started."""
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
    async def is_open() -> bool:
        return is_read(pipe)

    await until(is_open)
    return os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)


async def test_progress_reaches_the_total_and_nothing_else_is_left(tmp_path: Path) -> None:
    file = await posts_file(tmp_path, [bookmark() for _ in range(7)])
    for format in ("json", "csv", "pdf"):
        progress = Progress()
        made = await make(format, file, tmp_path, about(7), progress)
        assert made.path.is_file()
        assert all(done <= total == 7 for done, total in progress.seen)
        assert progress.seen[-1] == (7, 7)
    assert names(tmp_path) == ["export.csv", "export.pdf", "posts.json"]


async def test_json_is_the_file_of_posts_itself(tmp_path: Path) -> None:
    file = await posts_file(tmp_path, [bookmark()])

    made = await make("json", file, tmp_path, about(1), Progress())

    assert (made.path, made.media_type, made.suffix) == (file, "application/json", ".json")


@pytest.mark.parametrize("format", ["pdf", "csv"])
async def test_too_little_memory_is_told(tmp_path: Path, format: str) -> None:
    # Rows take little: a page of them that is larger than the memory is needed.
    posts = [bookmark(text="long words " * (60_000 if format == "pdf" else 3_000_000))]

    with pytest.raises(ExportFailed) as failed:
        await exported(format, tmp_path, posts, Limits(memory_mib=64))

    assert str(failed.value) == f"The export needed more than 64 MiB of memory. {FEWER}"
    assert failed.value.is_final
    assert names(tmp_path) == ["posts.json"]


async def test_too_much_work_is_told(tmp_path: Path) -> None:
    posts = [bookmark(text="long words\n" * 60_000)]

    with pytest.raises(ExportFailed) as failed:
        await exported("pdf", tmp_path, posts, Limits(cpu_s=1))

    sentence = f"The export took more than the 1 seconds of work it may take. {FEWER}"
    assert str(failed.value) == sentence
    assert failed.value.is_final


async def test_too_long_a_wait_is_told(tmp_path: Path, endless: Path) -> None:
    with pytest.raises(ExportFailed, match="took more than"):
        await make("csv", endless, tmp_path, about(1), Progress(), limits=Limits(wall_s=1))

    assert not is_read(endless)
    assert names(tmp_path) == ["endless.json"]


@pytest.mark.parametrize("step", ["csv", "pdf"])
async def test_a_full_disk_is_told(tmp_path: Path, step: str) -> None:
    source = await posts_file(tmp_path, [])
    if step == "pdf":
        source.write_bytes(b"")
    full = tmp_path / "full.pdf"
    full.symlink_to("/dev/full")
    task = Task(step=step, source=str(source), target=str(full), about=about(0), limits=Limits())

    with pytest.raises(ExportFailed, match="no room left on the server's disk") as failed:
        await run(task, tmp_path, lambda _done: asyncio.sleep(0))

    assert not failed.value.is_final


async def test_a_killed_process_is_told(tmp_path: Path, endless: Path) -> None:
    making = asyncio.create_task(make("csv", endless, tmp_path, about(1), Progress()))
    writer = await until_read(endless)
    os.kill(own_process(), signal.SIGKILL)

    with pytest.raises(ExportFailed, match="The server ended the export before it was finished"):
        await making

    os.close(writer)


async def test_posts_that_cannot_be_read_leave_the_reason_for_the_log(tmp_path: Path) -> None:
    file = tmp_path / "posts.json"
    file.write_bytes(b"[\n{]\n]\n")

    with pytest.raises(ExportFailed, match="the server's log says why") as failed:
        await make("csv", file, tmp_path, about(1), Progress())

    assert "JSON is malformed" in failed.value.__notes__[0]


async def test_cancelling_ends_the_process_and_clears_up(tmp_path: Path, endless: Path) -> None:
    making = asyncio.create_task(make("csv", endless, tmp_path, about(1), Progress()))
    writer = await until_read(endless)

    making.cancel()
    with pytest.raises(asyncio.CancelledError):
        await making

    os.close(writer)
    assert not is_read(endless)
    assert names(tmp_path) == ["endless.json"]


async def test_a_progress_that_refuses_ends_the_process(tmp_path: Path) -> None:
    async def lost(_done: int, _total: int) -> None:
        raise LookupError("the lease was lost")

    file = await posts_file(tmp_path, [bookmark()])

    with pytest.raises(LookupError):
        await make("csv", file, tmp_path, about(1), lost)

    assert names(tmp_path) == ["posts.json"]


async def test_a_process_goes_with_its_service(tmp_path: Path, endless: Path) -> None:
    task = Task(
        step="csv", source=str(endless), target=str(tmp_path / "x"), about=about(1), limits=Limits()
    )
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bowerbird.exports"), stdin=asyncio.subprocess.PIPE
    )
    assert process.stdin is not None
    process.stdin.write(msgspec.json.encode(task) + b"\n")
    writer = await until_read(endless)

    process.stdin.close()

    assert await asyncio.wait_for(process.wait(), 20) == 1
    os.close(writer)


async def test_a_process_knows_no_settings(
    tmp_path: Path, endless: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BOWERBIRD_DATABASE_URL", "postgresql://secret@127.0.0.1/x")
    making = asyncio.create_task(make("csv", endless, tmp_path, about(1), Progress()))
    writer = await until_read(endless)
    environment = environment_of(own_process())

    making.cancel()
    with pytest.raises(asyncio.CancelledError):
        await making

    os.close(writer)
    assert b"PATH=" in environment
    assert b"secret" not in environment
