"""Measures tool calls against a bare server of the SDK, and through the stdio package."""

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import msgspec
from rich.progress import track

from benchmarks import bars, library, servers
from benchmarks.bars import Bar
from benchmarks.figures import Rates, Row, Times, bar_row, per_one, ratio_row
from benchmarks.loads import load
from benchmarks.loads.client import Client
from benchmarks.options import Options
from benchmarks.servers import Server

_CALLS: Final = 300
_STARTS: Final = 10
_PACKAGE: Final = Path(__file__).parents[2] / "packages" / "bowerbird-mcp" / "src"
_NEWEST: Final = "2026-07-28"
_VERSION_HEADER: Final = "MCP-Protocol-Version: 2025-11-25\r\n"
_PARAMS: Final = {"name": "list_bookmarks", "arguments": {"limit": 20}}
_INITIALIZE: Final = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {}}


def measure(options: Options) -> Iterator[Row]:
    ours = library.prepare(options.scale)
    key = ours.keys[0]
    with servers.bowerbird(ours.folder, options.log, log_level=options.log_level) as server:
        file = options.work_folder / "tool_result.json"
        file.write_bytes(msgspec.json.encode(_result(server, key)))
        with servers.module("bare_tools", file, options.log) as bare:
            for version in ("2025-11-25", _NEWEST):
                yield _compare(options, server, bare, key, version)
        yield from _stdio(server, key)
        yield _tokens(bars.TOOL_LIST, _ask(server, key, "tools/list", {})["tools"])
        posts = _result(server, key)["content"][0]["text"]
        yield bar_row(bars.TOOL_POSTS, [len(posts) / 4], detail="without structuredContent")
    yield _first_call(ours, options)


def _tokens(bar: Bar, answer: Any) -> Row:
    return bar_row(bar, [len(msgspec.json.encode(answer).decode()) / 4])


def _first_call(ours: library.Library, options: Options) -> Row:
    """From the first answer of the server to the result of a tool, as an impatient client asks."""
    times = Times()
    for _ in track(range(options.rounds), description="Calling a tool after a start"):
        with servers.bowerbird(ours.folder, options.log) as server:
            started, before = time.perf_counter(), server.cpu_seconds()
            _result(server, ours.keys[0])
            times.add(time.perf_counter() - started, server.cpu_seconds() - before)
    cpu_s = statistics.median(times.cpu_seconds)
    detail = f"called at once; median of {options.rounds}, slowest {max(times.seconds):.2f} s"
    cpu = f"{cpu_s:.2f} s"
    return bar_row(bars.FIRST_TOOL_CALL, times.seconds, cpu=cpu, by_cpu=cpu_s, detail=detail)


def _compare(options: Options, server: Server, bare: Server, key: str, version: str) -> Row:
    rates = {server.port: Rates(), bare.port: Rates()}
    for _ in track(range(options.rounds), description=f"Calling tools, {version}"):
        for one in (bare, server):
            before = one.cpu_seconds()
            request = _request(one.port, key, version)
            result = load.run_raw(one.port, request, options.seconds, options.work_folder)
            spent = one.cpu_seconds() - before
            rates[one.port].add(result.requests, result.seconds, spent)
    work = f"{bars.TOOL_CALL.name}, {version}"
    return ratio_row(bars.TOOL_CALL, rates[server.port], rates[bare.port], work=work)


def _stdio(server: Server, key: str) -> Iterator[Row]:
    direct, piped = Times(), Times()
    with Client(server.port) as client, _start_stdio(server, key) as process:
        stdio = Server(server.port, process.pid)
        request = _request(server.port, key, "2025-11-25")
        _call(process, "initialize", _INITIALIZE)
        for _ in track(range(_CALLS), description="Calling through stdio"):
            direct.add(client.send(request).seconds, 0)
            started, before = time.perf_counter(), stdio.cpu_seconds()
            _call(process, "tools/call", _PARAMS)
            piped.add(time.perf_counter() - started, stdio.cpu_seconds() - before)
    added = piped.percentile(50) - direct.percentile(50)
    cpu_s = statistics.median(piped.cpu_seconds)
    yield bar_row(
        bars.STDIO_CALL,
        [added],
        cpu=per_one(cpu_s, "call"),
        by_cpu=cpu_s * 1000,
        detail=f"{piped.percentile(50):.2f} ms through stdio, median of {_CALLS} calls",
    )
    starts = [_time_start() for _ in track(range(_STARTS), description="Starting stdio")]
    seconds, cpu_s = [one[0] for one in starts], statistics.median(one[1] for one in starts)
    detail = f"median of {_STARTS}, slowest {max(seconds):.2f} s"
    yield bar_row(bars.STDIO_START, seconds, cpu=f"{cpu_s:.2f} s", by_cpu=cpu_s, detail=detail)


def _time_start() -> tuple[float, float]:
    """Seconds and CPU seconds."""
    started = time.perf_counter()
    with _start_stdio(None, "") as process:
        _call(process, "initialize", _INITIALIZE)
        return time.perf_counter() - started, Server(0, process.pid).cpu_seconds()


def _start_stdio(server: Server | None, key: str) -> "subprocess.Popen[bytes]":
    address = "" if server is None else f"http://127.0.0.1:{server.port}/mcp"
    environment = {"PYTHONPATH": str(_PACKAGE), "SERVICE_TOKEN": key, "SERVICE_URL": address}
    return subprocess.Popen(
        [sys.executable, "-m", "bowerbird_mcp"],
        env={**os.environ, **environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )


def _call(process: "subprocess.Popen[bytes]", method: str, params: Any) -> Any:
    assert process.stdin
    assert process.stdout
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    process.stdin.write(msgspec.json.encode(message) + b"\n")
    process.stdin.flush()
    return msgspec.json.decode(process.stdout.readline())


def _result(server: Server, key: str) -> Any:
    """The result of the call on our server."""
    return _ask(server, key, "tools/call", _PARAMS)


def _ask(server: Server, key: str, method: str, params: dict[str, Any]) -> Any:
    with Client(server.port) as client:
        answer = client.send(_message(server.port, key, method, params, _VERSION_HEADER))
    if answer.status != 200:
        raise RuntimeError(f"The tool server returned {answer.status}: {answer.body[:300]!r}")
    return answer.json["result"]


def _request(port: int, key: str, version: str) -> bytes:
    params: dict[str, Any] = dict(_PARAMS)
    headers = f"MCP-Protocol-Version: {version}\r\n"
    if version == _NEWEST:
        params["_meta"] = {
            "io.modelcontextprotocol/protocolVersion": version,
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        headers += "Mcp-Method: tools/call\r\nMcp-Name: list_bookmarks\r\n"
    return _message(port, key, "tools/call", params, headers)


def _message(port: int, key: str, method: str, params: dict[str, Any], headers: str) -> bytes:
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    body = msgspec.json.encode(message)
    head = (
        f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {key}\r\n"
        "Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n"
        f"{headers}Content-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body
