"""Builds missing models in a separate process of low priority while the service runs."""

import asyncio
import os
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from contextlib import suppress
from pathlib import Path
from typing import Final

import structlog

from bowerbird.model_build.catalogue import are_named

_COMMAND: Final = ("-P", "-m", "bowerbird", "model", "--low-priority")
_STOP_S: Final = 5.0
_CHUNK_BYTES: Final = 4096
# pip may write long errors; the last lines give the reason.
_KEPT_BYTES: Final = 2000


async def build_if_missing(folder: Path, stopping: asyncio.Event) -> None:
    """Returns when the build has ended or the service stops. A failure is logged, never raised.

    Only the next start tries again. Until then search by meaning is unavailable and says so.
    """
    if await asyncio.to_thread(are_named, folder):
        return
    try:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, *_COMMAND),
            stdin=DEVNULL,
            stdout=PIPE,
            stderr=PIPE,
            # The processes that it starts, such as pip, stop together with it.
            start_new_session=True,
        )
    except OSError as error:
        _log_failure(str(error))
        return
    errors = await _run(process, stopping)
    if process.returncode == 0:
        structlog.get_logger().info("model_built", folder=str(folder))
    elif not stopping.is_set():
        _log_failure(errors)


async def _run(process: Process, stopping: asyncio.Event) -> str:
    """Logs the steps until the process ends or must stop; returns the end of its errors."""
    assert process.stdout is not None
    assert process.stderr is not None
    steps = asyncio.create_task(_log_steps(process.stdout))
    errors = asyncio.create_task(_end_of(process.stderr))
    ending = asyncio.gather(steps, errors, process.wait())
    stop = asyncio.create_task(stopping.wait())
    try:
        await asyncio.wait((ending, stop), return_when=asyncio.FIRST_COMPLETED)
    finally:
        stop.cancel()
        await _stop(process)
        await ending
    return errors.result()


async def _stop(process: Process) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        if process.returncode is not None:
            return
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with suppress(TimeoutError):
            async with asyncio.timeout(_STOP_S):
                await process.wait()


async def _log_steps(stream: asyncio.StreamReader) -> None:
    log = structlog.get_logger()
    async for line in stream:
        log.info("building_model", step=line.decode(errors="replace").strip())


async def _end_of(stream: asyncio.StreamReader) -> str:
    kept = b""
    while chunk := await stream.read(_CHUNK_BYTES):
        kept = (kept + chunk)[-_KEPT_BYTES:]
    return kept.decode(errors="replace").strip()


def _log_failure(errors: str) -> None:
    *details, sentence = errors.splitlines() or [""]
    structlog.get_logger().warning(
        "model_not_built",
        reason=sentence.removeprefix("Error: ") or "The build was ended by another program.",
        details="\n".join(details),
    )
