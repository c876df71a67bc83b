"""Writes an export file from a file of posts.

The heavy steps run in their own processes, whose progress is followed and whose failure is
explained in a sentence.
"""

import asyncio
import shutil
import signal
import sys
import tempfile
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Final, TypeAlias

import msgspec
from msgspec import Struct

from bowerbird.exports.tasks import (
    DISK_FULL,
    FORMATS,
    OUT_OF_MEMORY,
    ZIPPED_VOLUMES,
    DocumentInfo,
    Format,
    ProcessLimits,
    Report,
    Task,
)
from bowerbird.settings import without_settings

_MODULE: Final = "bowerbird.exports"
_EXPORT_FEWER: Final = "Export fewer posts at a time: filter them, for example by date."
# One thread leaves the other cores to requests. One malloc arena, with large blocks mapped
# separately: a PDF of 1,000 posts takes 199 MB instead of 200 to 250. The arena grows in large
# steps and keeps what is freed at its end, because asking the system again took 0.08 s per PDF.
_LOW_MEMORY: Final = {
    "RAYON_NUM_THREADS": "1",
    "MALLOC_ARENA_MAX": "1",
    "MALLOC_TOP_PAD_": str(16 << 20),
    "MALLOC_TRIM_THRESHOLD_": str(256 << 20),
}
_MAPPED_BLOCKS: Final = {"MALLOC_MMAP_THRESHOLD_": "131072"}
# Steps that allocate large blocks again and again. Mapping each page of a CSV file separately
# doubles the time to write it.
_UNMAPPED_STEPS: Final = ("csv",)
_LOG_BYTES: Final = 4_000


class ExportFailed(Exception):  # noqa: N818 - it says what happened
    """The file could not be written. The message is for the user who started the export.

    `is_final`: a retry with the same posts would fail in the same way.
    """

    def __init__(self, sentence: str, *, is_final: bool) -> None:
        super().__init__(sentence)
        self.is_final = is_final


async def run_task(
    task: Task, folder: Path, on_progress: Callable[[int], Awaitable[None]]
) -> Report:
    """Returns the last report. A cancelled or failing call kills the process before it returns."""
    stderr = folder / "stderr.txt"
    with stderr.open("wb") as output:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", _MODULE),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=output,
            cwd=folder,
            env=_environment(task.step),
        )
    try:
        async with asyncio.timeout(task.limits.wall_s) as deadline:
            last = await _follow(process, task, on_progress)
    except TimeoutError:
        if not deadline.expired():
            raise
        raise _too_slow(f"{task.limits.wall_s:,} seconds") from None
    finally:
        await _kill(process)
    if process.returncode == 0 and last is not None:
        return last
    failure = _failure_of(process.returncode or 0, task.limits)
    failure.add_note(stderr.read_bytes()[-_LOG_BYTES:].decode(errors="replace"))
    raise failure


def _environment(step: str) -> dict[str, str]:
    """Leaves out our settings: a writing process must not see the database password."""
    return without_settings() | _LOW_MEMORY | ({} if step in _UNMAPPED_STEPS else _MAPPED_BLOCKS)


async def _follow(
    process: asyncio.subprocess.Process, task: Task, on_progress: Callable[[int], Awaitable[None]]
) -> Report | None:
    assert process.stdin is not None
    assert process.stdout is not None
    with suppress(ConnectionError):
        process.stdin.write(msgspec.json.encode(task) + b"\n")
        await process.stdin.drain()
    async for line in process.stdout:
        report = msgspec.json.decode(line, type=Report)
        if report.is_finished:
            await process.wait()
            return report
        await on_progress(report.done)
    await process.wait()
    return None


async def _kill(process: asyncio.subprocess.Process) -> None:
    with suppress(ProcessLookupError):
        process.kill()
    await process.wait()


def _too_slow(limit: str) -> ExportFailed:
    sentence = f"The export took longer than {limit}."
    return ExportFailed(f"{sentence} {_EXPORT_FEWER}", is_final=True)


def _failure_of(status: int, limits: ProcessLimits) -> ExportFailed:
    # Without memory, Python raises MemoryError, but a native library aborts.
    if status in (OUT_OF_MEMORY, -signal.SIGABRT, -signal.SIGSEGV):
        sentence = f"The export needed more than {limits.memory_mib:,} MiB of memory."
        return ExportFailed(f"{sentence} {_EXPORT_FEWER}", is_final=True)
    if status == -signal.SIGXCPU:
        return _too_slow(f"{limits.cpu_s} seconds of CPU time")
    if status == DISK_FULL:
        sentence = "The server's disk is full, so the export could not be written."
        return ExportFailed(sentence, is_final=False)
    if status == -signal.SIGKILL:
        sentence = "The server killed the export, probably because it ran out of memory."
        return ExportFailed(sentence, is_final=False)
    return ExportFailed("The export failed. The server's log has the reason.", is_final=False)


__all__ = ["DocumentInfo", "ExportFailed", "ProcessLimits", "WrittenFile", "write_export"]

Progress: TypeAlias = Callable[[int, int], Awaitable[None]]

_DEFAULT: Final = ProcessLimits()


class WrittenFile(Struct, frozen=True):
    """A finished file. The notes are sentences for the reader of the file."""

    path: Path
    media_type: str
    suffix: str
    notes: list[str]


async def write_export(
    format: str,
    posts: Path,
    folder: Path,
    document: DocumentInfo,
    progress: Progress,
    *,
    limits: ProcessLimits = _DEFAULT,
    pictures: Path | None = None,
) -> WrittenFile:
    """Writes the export into the folder and removes its temporary files, even when it fails."""
    known = FORMATS[format]
    if format == "json":
        await progress(document.total, document.total)
        return _file(posts, known, [])
    scratch = Path(tempfile.mkdtemp(prefix="export-", dir=folder))
    try:
        writer = _Writer(posts, scratch, document, progress, limits)
        writer.pictures = str(pictures or "")
        written = await (writer.converted(format, known) if known.module else writer.pdf())
        # Moved out of the scratch folder only when complete, so no reader sees half a file.
        return _file(
            written.path.rename(folder / f"export{written.suffix}"), written, written.notes
        )
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _file(path: Path, format: Format | WrittenFile, notes: list[str]) -> WrittenFile:
    return WrittenFile(path, format.media_type, format.suffix, notes)


class _Writer:
    def __init__(
        self,
        posts: Path,
        scratch: Path,
        document: DocumentInfo,
        progress: Progress,
        limits: ProcessLimits,
    ) -> None:
        # Absolute paths: the writing processes run in another working directory.
        self._posts = posts.absolute()
        self._scratch = scratch.absolute()
        self._document = document
        self._progress = progress
        self._limits = limits
        self._done = 0
        self.pictures = ""

    async def converted(self, step: str, format: Format) -> WrittenFile:
        target = self._scratch / f"export{format.suffix}"
        report = await self._step(step, self._posts, target)
        return _file(target, format, report.notes)

    async def pdf(self) -> WrittenFile:
        """Writes each volume in a new process, which gives its memory back when it exits.

        A single volume is already written by the process that sorts the posts.
        """
        split = await self._step("split", self._posts, self._scratch)
        names, notes = split.names, list[str]()
        if len(names) == 1:
            await self._report_progress(split.done)
            return _file(self._scratch / names[0], FORMATS["pdf"], split.notes)
        for number, name in enumerate(names, 1):
            volume = await self._step(
                "pdf", self._scratch / f"{name}.posts", self._scratch / name, number, len(names)
            )
            self._done += volume.done
            await self._report_progress(0)
            notes += [note for note in volume.notes if note not in notes]
        target = self._scratch / "export.zip"
        await self._step("zip", self._scratch, target)
        return _file(target, ZIPPED_VOLUMES, notes)

    async def _step(
        self, step: str, source: Path, target: Path, volume: int = 1, volumes: int = 1
    ) -> Report:
        task = Task(
            step=step,
            source=str(source),
            target=str(target),
            document=self._document,
            limits=self._limits,
            volume=volume,
            volumes=volumes,
            pictures=self.pictures,
        )
        return await run_task(task, self._scratch, self._report_progress)

    async def _report_progress(self, done: int) -> None:
        await self._progress(min(self._done + done, self._document.total), self._document.total)
