"""Measures writing export files from a file of posts: CPU and peak memory of the processes.

`python -m benchmarks.export_files FORMAT FILE COUNT` writes one export and prints the figures. It
is a separate small process, because a child process starts with the memory size of its parent.
"""

import asyncio
import json
import resource
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from benchmarks import posts
from benchmarks.figures import Row, below_row
from bowerbird.clock import system_clock
from bowerbird.exports.posts_file import to_json_array
from bowerbird.exports.writer import DocumentInfo, write_export

_PAGE: Final = 200
_CSV_POSTS: Final = 100_000
_CSV_MEMORY_TARGET_MB: Final = 150
_PDF_CPU_TARGET_S: Final = 2
# The number of posts in a PDF -> the target for memory.
_PDF_MEMORY_TARGETS_MB: Final = {1_000: 250, 10_000: 400}


class Run(NamedTuple):
    cpu_s: float
    peak_mb: float
    file_mb: float


def rows(folder: Path) -> Iterator[Row]:
    """Measures only writing the files, without reading posts from a database."""
    run = measure("csv", _CSV_POSTS, folder)
    detail = f"{_CSV_POSTS:,} posts, {run.cpu_s / _CSV_POSTS * 1e6:.0f} µs of CPU each"
    yield below_row("CSV file, peak memory", [run.peak_mb], "MB", _CSV_MEMORY_TARGET_MB, detail)
    for count, target_mb in _PDF_MEMORY_TARGETS_MB.items():
        run = measure("pdf", count, folder)
        detail = f"{run.cpu_s:.2f} s of CPU, {run.file_mb:.1f} MB"
        yield below_row(f"PDF of {count:,}, peak memory", [run.peak_mb], "MB", target_mb, detail)
        if count == min(_PDF_MEMORY_TARGETS_MB):
            yield below_row(f"PDF of {count:,}, CPU", [run.cpu_s], "s", _PDF_CPU_TARGET_S)


def measure(format: str, count: int, folder: Path) -> Run:
    """Writes one export of `count` generated posts."""
    file = folder / f"posts-{count}.json"
    if not file.exists():
        asyncio.run(_write_posts(file, count))
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.export_files", format, str(file), str(count)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"The {format} export failed: {done.stderr[-500:]}")
    return Run(*json.loads(done.stdout))


async def _write_posts(file: Path, count: int) -> None:
    async def pages() -> AsyncIterator[bytes]:
        for first in range(0, count, _PAGE):
            yield b",".join(posts.batch(0, first, min(_PAGE, count - first)))

    with file.open("wb") as output:
        async for piece in to_json_array(pages()):
            output.write(piece)


async def _write_export(format: str, file: Path, count: int) -> Run:
    document = DocumentInfo(
        title="Bookmarks", created_at=system_clock(), total=count, description=""
    )
    with tempfile.TemporaryDirectory() as folder:
        written = await write_export(
            format, file, Path(folder), document, lambda *_: asyncio.sleep(0)
        )
        size = written.path.stat().st_size
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return Run(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, size / 1e6)


if __name__ == "__main__":
    print(json.dumps(asyncio.run(_write_export(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])))))
