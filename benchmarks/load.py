"""Loads a server with random requests for a while and counts the answers.

`wrk` does it where it is installed. The fallback in Python shares the cores with what it measures
and so shows smaller figures; ratios between servers stay useful.
"""

import asyncio
import random
import shutil
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from benchmarks.client import request_text

CONNECTIONS: Final = 16
_SCRIPT: Final = Path(__file__).with_name("load.lua")
_RAW_SCRIPT: Final = Path(__file__).with_name("raw.lua")


class Ask(NamedTuple):
    path: str
    key: str


def tool() -> str:
    return "wrk" if shutil.which("wrk") else "asyncio"


class Loaded(NamedTuple):
    requests: int
    seconds: float

    @property
    def per_second(self) -> float:
        return self.requests / self.seconds


def run(port: int, asks: Sequence[Ask], seconds: float, seed: int, folder: Path) -> Loaded:
    """Raises when an answer was no success."""
    if tool() == "wrk":
        return _by_wrk(port, asks, seconds, seed, folder)
    texts = [request_text(port, ask.path, ask.key) for ask in asks]
    return asyncio.run(_by_asyncio(port, texts, seconds, seed))


def run_raw(port: int, request: bytes, seconds: float, folder: Path) -> Loaded:
    """Sends one request, byte for byte, again and again. Raises when an answer was no success."""
    if tool() != "wrk":
        return asyncio.run(_by_asyncio(port, [request], seconds, seed=0))
    file = folder / "request.bin"
    file.write_bytes(request)
    return _wrk(port, _RAW_SCRIPT, [str(file)], seconds)


def _by_wrk(port: int, asks: Sequence[Ask], seconds: float, seed: int, folder: Path) -> Loaded:
    file = folder / "requests.txt"
    file.write_text("".join(f"{ask.path}\t{ask.key}\n" for ask in asks), encoding="ascii")
    return _wrk(port, _SCRIPT, [str(file), str(seed)], seconds)


def _wrk(port: int, script: Path, arguments: Sequence[str], seconds: float) -> Loaded:
    words = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds:.0f}s", "--timeout", "30s"]
    words += ["-s", str(script), f"http://127.0.0.1:{port}", "--", *arguments]
    run = subprocess.run(words, capture_output=True, text=True, timeout=seconds + 60, check=True)
    result = next(line for line in run.stdout.splitlines() if line.startswith("RESULT "))
    requests, microseconds, failures = map(int, result.split()[1:])
    _require_success(failures)
    return Loaded(requests, microseconds / 1e6)


async def _by_asyncio(port: int, texts: Sequence[bytes], seconds: float, seed: int) -> Loaded:
    started = time.perf_counter()
    callers = [
        _call(port, texts, started + seconds, random.Random(seed + n)) for n in range(CONNECTIONS)
    ]
    counts = await asyncio.gather(*callers)
    _require_success(sum(failed for _, failed in counts))
    return Loaded(sum(good for good, _ in counts), time.perf_counter() - started)


async def _call(
    port: int, texts: Sequence[bytes], end: float, rng: random.Random
) -> tuple[int, int]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 20)
    counts = [0, 0]
    while time.perf_counter() < end:
        writer.write(rng.choice(texts))
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        length = head.partition(b"content-length:")[2].partition(b"\r\n")[0]
        await reader.readexactly(int(length))
        counts[b" 200 " not in head.partition(b"\r\n")[0] + b" "] += 1
    writer.close()
    return counts[0], counts[1]


def _require_success(failures: int) -> None:
    if failures:
        raise RuntimeError(f"{failures} requests of the load failed.")
