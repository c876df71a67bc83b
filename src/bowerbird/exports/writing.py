"""Makes an export file from a file of posts. What is heavy runs in processes of its own."""

import shutil
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final, TypeAlias

from msgspec import Struct

from bowerbird.exports.formats import FORMATS, VOLUMES, Format
from bowerbird.exports.process import ExportFailed, run
from bowerbird.exports.tasks import About, ProcessLimits, Report, Task

__all__ = ["About", "ExportFailed", "Made", "ProcessLimits", "make"]

Progress: TypeAlias = Callable[[int, int], Awaitable[None]]

_DEFAULT: Final = ProcessLimits()


class Made(Struct, frozen=True):
    """A finished file. The notes are sentences for whoever reads it."""

    path: Path
    media_type: str
    suffix: str
    notes: list[str]


async def make(
    format: str,
    posts: Path,
    folder: Path,
    about: About,
    progress: Progress,
    *,
    limits: ProcessLimits = _DEFAULT,
) -> Made:
    """Writes the export into the folder and leaves nothing else there, whatever happens."""
    if format == "json":
        await progress(about.total, about.total)
        return _made(posts, FORMATS["json"], [])
    scratch = Path(tempfile.mkdtemp(prefix="making-", dir=folder))
    try:
        making = _Making(posts, scratch, about, progress, limits)
        made = await (making.csv() if format == "csv" else making.pdf())
        # Only a whole file gets a name outside of the scratch folder.
        return _made(made.path.rename(folder / f"export{made.suffix}"), made, made.notes)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _made(path: Path, format: Format | Made, notes: list[str]) -> Made:
    return Made(path, format.media_type, format.suffix, notes)


class _Making:
    def __init__(
        self, posts: Path, scratch: Path, about: About, progress: Progress, limits: ProcessLimits
    ) -> None:
        # Whole paths: the processes that write run in a folder of their own.
        self._posts = posts.absolute()
        self._scratch = scratch.absolute()
        self._about = about
        self._progress = progress
        self._limits = limits
        self._done = 0

    async def csv(self) -> Made:
        target = self._scratch / "export.csv"
        await self._step("csv", self._posts, target)
        return _made(target, FORMATS["csv"], [])

    async def pdf(self) -> Made:
        """Each volume has a process of its own: what setting one takes is free for the next."""
        arranged = await self._step("arrange", self._posts, self._scratch)
        names, notes = arranged.names, []
        for number, name in enumerate(names, 1):
            volume = await self._step(
                "pdf", self._scratch / f"{name}.posts", self._scratch / name, number, len(names)
            )
            self._done += volume.done
            await self._further(0)
            notes += [note for note in volume.notes if note not in notes]
        if len(names) == 1:
            return _made(self._scratch / names[0], FORMATS["pdf"], notes)
        target = self._scratch / "export.zip"
        await self._step("zip", self._scratch, target)
        return _made(target, VOLUMES, notes)

    async def _step(
        self, step: str, source: Path, target: Path, volume: int = 1, volumes: int = 1
    ) -> Report:
        task = Task(
            step=step,
            source=str(source),
            target=str(target),
            about=self._about,
            limits=self._limits,
            volume=volume,
            volumes=volumes,
        )
        return await run(task, self._scratch, self._further)

    async def _further(self, done: int) -> None:
        await self._progress(min(self._done + done, self._about.total), self._about.total)
