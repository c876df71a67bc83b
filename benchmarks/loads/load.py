"""Loads a server with random requests for some seconds and counts the answers.

It uses `wrk` if that is installed. Otherwise a Python client sends the requests. It competes with
the server for the cores, so the figures are lower; ratios between servers stay useful.
"""

import asyncio
import random
import shutil
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from benchmarks.figures import Rates, Times
from benchmarks.loads.client import Answer, Client, request_text
from benchmarks.options import Options
from benchmarks.servers import Server

CONNECTIONS: Final = 16
_SCRIPT: Final = Path(__file__).with_name("load.lua")
_RAW_SCRIPT: Final = Path(__file__).with_name("raw.lua")


class Request(NamedTuple):
    path: str
    key: str


def tool() -> str:
    return "wrk" if shutil.which("wrk") else "asyncio"


class LoadResult(NamedTuple):
    requests: int
    seconds: float

    @property
    def per_second(self) -> float:
        return self.requests / self.seconds


def run(
    port: int, requests: Sequence[Request], seconds: float, seed: int, folder: Path
) -> LoadResult:
    """Sends requests chosen at random. Raises if a request failed."""
    if tool() == "wrk":
        return _run_wrk_requests(port, requests, seconds, seed, folder)
    texts = [request_text(port, request.path, request.key) for request in requests]
    return asyncio.run(_run_asyncio(port, texts, seconds, seed))


def add_round(
    rates: Rates, server: Server, requests: Sequence[Request], options: Options, seed: int
) -> None:
    """Loads the server for the seconds of a round, and adds the rate and the CPU time."""
    before = server.cpu_seconds()
    result = run(server.port, requests, options.seconds, seed, options.work_folder)
    rates.add(result.requests, result.seconds, server.cpu_seconds() - before)


def add_request(times: Times, server: Server, client: Client, path: str, key: str) -> Answer:
    """Sends one request, and adds its duration and its CPU time."""
    before = server.cpu_seconds()
    answer = client.get_ok(path, key)
    times.add(answer.seconds, server.cpu_seconds() - before)
    return answer


def run_raw(port: int, request: bytes, seconds: float, folder: Path) -> LoadResult:
    """Sends the bytes of one request repeatedly. Raises if a request failed."""
    if tool() != "wrk":
        return asyncio.run(_run_asyncio(port, [request], seconds, seed=0))
    file = folder / "request.bin"
    file.write_bytes(request)
    return _run_wrk(port, _RAW_SCRIPT, [str(file)], seconds)


def _run_wrk_requests(
    port: int, requests: Sequence[Request], seconds: float, seed: int, folder: Path
) -> LoadResult:
    file = folder / "requests.txt"
    lines = [f"{request.path}\t{request.key}\n" for request in requests]
    file.write_text("".join(lines), encoding="ascii")
    return _run_wrk(port, _SCRIPT, [str(file), str(seed)], seconds)


def _run_wrk(port: int, script: Path, arguments: Sequence[str], seconds: float) -> LoadResult:
    words = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds:.0f}s", "--timeout", "30s"]
    words += ["-s", str(script), f"http://127.0.0.1:{port}", "--", *arguments]
    run = subprocess.run(words, capture_output=True, text=True, timeout=seconds + 60, check=True)
    result = next(line for line in run.stdout.splitlines() if line.startswith("RESULT "))
    requests, microseconds, failures = map(int, result.split()[1:])
    _check_failures(failures)
    return LoadResult(requests, microseconds / 1e6)


async def _run_asyncio(port: int, texts: Sequence[bytes], seconds: float, seed: int) -> LoadResult:
    started = time.perf_counter()
    connections = [
        _send_until(port, texts, started + seconds, random.Random(seed + n))
        for n in range(CONNECTIONS)
    ]
    counts = await asyncio.gather(*connections)
    _check_failures(sum(failed for _, failed in counts))
    return LoadResult(sum(good for good, _ in counts), time.perf_counter() - started)


async def _send_until(
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


def _check_failures(failures: int) -> None:
    if failures:
        raise RuntimeError(f"{failures} requests failed under load.")
