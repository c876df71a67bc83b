"""Runs one writing process and says in a sentence how it ended."""

import asyncio
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from bowerbird.exports.tasks import DISK_FULL, OUT_OF_MEMORY, ProcessLimits, Report, Task
from bowerbird.settings import PREFIX

_MODULE: Final = "bowerbird.exports"
_FEWER: Final = "Export fewer posts at a time, by a filter or by dates."
# One core, so that the others stay with those who read meanwhile. One arena, and large pieces of
# memory always apart: a PDF of 1,000 posts takes 199 MB then, otherwise 200 to 250.
_THRIFT: Final = {
    "RAYON_NUM_THREADS": "1",
    "MALLOC_ARENA_MAX": "1",
    "MALLOC_MMAP_THRESHOLD_": "131072",
}
_TOLD_BYTES: Final = 4_000


class ExportFailed(Exception):  # noqa: N818 - it says what happened
    """The file could not be made. The sentence is for the one who asked for it.

    `is_final`: another try with the same posts would end the same way.
    """

    def __init__(self, sentence: str, *, is_final: bool) -> None:
        super().__init__(sentence)
        self.is_final = is_final


async def run(task: Task, folder: Path, further: Callable[[int], Awaitable[None]]) -> Report:
    """The last report of the process. Leaving early, by whatever way, ends the process first."""
    faults = folder / "faults.txt"
    with faults.open("wb") as errors:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", _MODULE),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=errors,
            cwd=folder,
            env=_environment(),
        )
    try:
        async with asyncio.timeout(task.limits.wall_s) as patience:
            last = await _followed(process, task, further)
    except TimeoutError:
        if not patience.expired():
            raise
        raise _too_slow(task.limits) from None
    finally:
        await _ended(process)
    if process.returncode == 0 and last is not None:
        return last
    failure = _failure(process.returncode or 0, task.limits)
    failure.add_note(faults.read_bytes()[-_TOLD_BYTES:].decode(errors="replace"))
    raise failure


def _environment() -> dict[str, str]:
    """Ours without the settings: a writer of files needs no key to the database."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
    return ours | _THRIFT


async def _followed(
    process: asyncio.subprocess.Process, task: Task, further: Callable[[int], Awaitable[None]]
) -> Report | None:
    assert process.stdin is not None
    assert process.stdout is not None
    with suppress(ConnectionError):
        process.stdin.write(msgspec.json.encode(task) + b"\n")
        await process.stdin.drain()
    async for line in process.stdout:
        report = msgspec.json.decode(line, type=Report)
        if report.is_made:
            await process.wait()
            return report
        await further(report.done)
    await process.wait()
    return None


async def _ended(process: asyncio.subprocess.Process) -> None:
    with suppress(ProcessLookupError):
        process.kill()
    await process.wait()


def _too_slow(limits: ProcessLimits) -> ExportFailed:
    sentence = f"The export took more than the {limits.cpu_s} seconds of work it may take. {_FEWER}"
    return ExportFailed(sentence, is_final=True)


def _failure(status: int, limits: ProcessLimits) -> ExportFailed:
    # A library that is refused memory aborts; Python raises and leaves in order.
    if status in (OUT_OF_MEMORY, -signal.SIGABRT, -signal.SIGSEGV):
        memory = f"{limits.memory_mib:,} MiB of memory"
        return ExportFailed(f"The export needed more than {memory}. {_FEWER}", is_final=True)
    if status == -signal.SIGXCPU:
        return _too_slow(limits)
    if status == DISK_FULL:
        sentence = "There is no room left on the server's disk for the export."
        return ExportFailed(sentence, is_final=False)
    if status == -signal.SIGKILL:
        sentence = "The server ended the export before it was finished, likely for lack of memory."
        return ExportFailed(sentence, is_final=False)
    return ExportFailed("The export could not be made; the server's log says why.", is_final=False)
