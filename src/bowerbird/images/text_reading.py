"""Reads the text in images with rapidocr, in a process of its own: `python -m` this module.

Decoders of images are where hostile files do harm, and reading takes a second of CPU and half a
gigabyte. The process has a low priority and bounds, and an image on which it dies has no
text. Each image comes with its length before it; each answer is one line of JSON.
"""

import asyncio
import json
import os
import resource
import signal
import sys
from contextlib import suppress
from io import BytesIO
from typing import Any, Final, Self

from bowerbird import errors
from bowerbird.settings import without_settings

_NICE: Final = 10
_MEMORY: Final = 3 << 30
_MOST_PIXELS: Final = 40_000_000
_CPU_S: Final = 60
# The processor may be busy with everything else.
_START_S: Final = 300
_WAIT_S: Final = 600
_LENGTH_BYTES: Final = 4
# What is read with less certainty is rarely a word.
_SURE: Final = 0.8
_ANSWER_MAX: Final = 1 << 20


class TextReader:
    """The process, for as long as there are images. It starts again after it has died."""

    def __init__(self) -> None:
        self._process: asyncio.subprocess.Process | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._end()

    async def read(self, image: bytes) -> str:
        """The text in an image, line by line; "" if there is none, or it cannot be read."""
        process = self._process or await self._start()
        assert process.stdin is not None
        try:
            process.stdin.write(len(image).to_bytes(_LENGTH_BYTES) + image)
            await process.stdin.drain()
            return "\n".join(await self._answer(process, _WAIT_S))
        # `ValueError`: a line that is longer than the buffer.
        except (ConnectionError, EOFError, TimeoutError, ValueError):
            await self._end()
            return ""

    async def _start(self) -> asyncio.subprocess.Process:
        self._process = process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", __name__),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env=without_settings(),
            limit=_ANSWER_MAX,
        )
        try:
            await self._answer(process, _START_S)
        except (EOFError, TimeoutError):
            await self._end()
            raise errors.unavailable(
                "The program that reads text in images cannot start."
            ) from None
        return process

    async def _answer(self, process: asyncio.subprocess.Process, seconds: float) -> list[str]:
        assert process.stdout is not None
        async with asyncio.timeout(seconds):
            line = await process.stdout.readline()
        if not line.endswith(b"\n"):
            raise EOFError
        lines: list[str] = json.loads(line)
        return lines

    async def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()


def main() -> None:
    os.nice(_NICE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY, _MEMORY))
    # The libraries may print; only answers go to the service.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    engine = _engine()
    print("[]", file=answers, flush=True)
    while length := sys.stdin.buffer.read(_LENGTH_BYTES):
        image = sys.stdin.buffer.read(int.from_bytes(length))
        # One that takes longer ends the process.
        signal.setitimer(signal.ITIMER_PROF, _CPU_S)
        print(json.dumps(_lines(engine, image)), file=answers, flush=True)
        signal.setitimer(signal.ITIMER_PROF, 0)


def _engine() -> Any:
    from rapidocr import RapidOCR  # noqa: PLC0415 - an extra

    threads = ("intra_op_num_threads", "inter_op_num_threads")
    return RapidOCR(
        params={
            "Global.log_level": "critical",
            # Text that stands on its head is rare, and looking for it is not free.
            "Global.use_cls": False,
            **{f"EngineConfig.onnxruntime.{name}": 1 for name in threads},
        }
    )


def _lines(engine: Any, image: bytes) -> list[str]:
    from PIL import Image  # noqa: PLC0415 - comes with rapidocr

    try:
        width, height = Image.open(BytesIO(image)).size
        if width * height > _MOST_PIXELS:
            return []
        found = engine(image)
    except Exception:  # noqa: BLE001 - whatever the libraries raise, the next image may be fine
        return []
    lines = zip(found.txts or (), found.scores or (), strict=True)
    return [text.strip() for text, score in lines if score >= _SURE and text.strip()]


if __name__ == "__main__":
    main()
