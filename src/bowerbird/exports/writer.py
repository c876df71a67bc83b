"""Writes an export file from a file of posts. The heavy steps run in their own processes."""

import shutil
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final, TypeAlias

from msgspec import Struct

from bowerbird.exports.process import ExportFailed, run_task
from bowerbird.exports.tasks import (
    FORMATS,
    ZIPPED_VOLUMES,
    DocumentInfo,
    Format,
    ProcessLimits,
    Report,
    Task,
)

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
    if format == "json":
        await progress(document.total, document.total)
        return _file(posts, FORMATS["json"], [])
    scratch = Path(tempfile.mkdtemp(prefix="export-", dir=folder))
    try:
        writer = _Writer(posts, scratch, document, progress, limits)
        writer.pictures = str(pictures or "")
        written = await (writer.csv() if format == "csv" else writer.pdf())
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

    async def csv(self) -> WrittenFile:
        target = self._scratch / "export.csv"
        await self._step("csv", self._posts, target)
        return _file(target, FORMATS["csv"], [])

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
