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

from benchmarks import library, load, servers
from benchmarks.client import Client
from benchmarks.figures import Row, below_row, ratio_row
from benchmarks.options import Options
from benchmarks.servers import Server

_TARGET: Final = 0.9
_STDIO_TARGET_MS, _START_TARGET_S = 5, 0.3
_CALLS: Final = 300
_STARTS: Final = 10
_PACKAGE: Final = Path(__file__).parents[1] / "packages" / "bowerbird-mcp" / "src"
_NEWEST: Final = "2026-07-28"
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


def _compare(options: Options, server: Server, bare: Server, key: str, version: str) -> Row:
    rates: dict[int, list[float]] = {server.port: [], bare.port: []}
    costs: dict[int, list[float]] = {server.port: [], bare.port: []}
    for _ in track(range(options.rounds), description=f"Calling tools, {version}"):
        for one in (bare, server):
            before = one.cpu_seconds()
            request = _request(one.port, key, version)
            result = load.run_raw(one.port, request, options.seconds, options.work_folder)
            costs[one.port].append((one.cpu_seconds() - before) / result.requests * 1e6)
            rates[one.port].append(result.per_second)
    row = ratio_row(
        f"list_bookmarks of 20 / bare SDK server, {version}",
        rates[server.port],
        rates[bare.port],
        _TARGET,
    )
    mine, theirs = (statistics.median(costs[one.port]) for one in (server, bare))
    detail = f"{row.detail}; CPU per call {mine:,.0f} against {theirs:,.0f} µs"
    return Row(row.work, row.measured, row.target, row.is_met, detail)


def _stdio(server: Server, key: str) -> Iterator[Row]:
    direct, piped = [], []
    with Client(server.port) as client, _start_stdio(server, key) as process:
        request = _request(server.port, key, "2025-11-25")
        _call(process, "initialize", _INITIALIZE)
        for _ in track(range(_CALLS), description="Calling through stdio"):
            started = time.perf_counter()
            client.send(request)
            direct.append(time.perf_counter() - started)
            started = time.perf_counter()
            _call(process, "tools/call", _PARAMS)
            piped.append(time.perf_counter() - started)
    added = (statistics.median(piped) - statistics.median(direct)) * 1000
    detail = f"{statistics.median(piped) * 1000:.2f} ms through stdio, median of {_CALLS} calls"
    yield below_row("time that stdio adds to a call", [added], "ms", _STDIO_TARGET_MS, detail)
    seconds = [_time_start() for _ in track(range(_STARTS), description="Starting stdio")]
    detail = f"median of {_STARTS}, slowest {max(seconds):.2f} s"
    yield below_row("stdio, start to first answer", seconds, "s", _START_TARGET_S, detail)


def _time_start() -> float:
    started = time.perf_counter()
    with _start_stdio(None, "") as process:
        _call(process, "initialize", _INITIALIZE)
        return time.perf_counter() - started


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
    with Client(server.port) as client:
        answer = client.send(_request(server.port, key, "2025-11-25"))
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
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    body = msgspec.json.encode(message)
    head = (
        f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {key}\r\n"
        "Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n"
        f"{headers}Content-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body
