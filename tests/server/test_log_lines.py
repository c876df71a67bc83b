"""The log: lines for people on a terminal, JSON otherwise, and a setting for either."""

import json
import os
import pty
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from bowerbird.logs import TerminalLines
from tests.support import serving
from tests.support.serving import BOWERBIRD
from tests.support.waiting import PATIENCE_S, wait_until

NOW = 1_700_000_000_000_000
REQUEST = {
    "id": "7f18",
    "method": "GET",
    "route": "/v1/bookmarks",
    "status": 200,
    "ms": 0.91,
    "bytes": 1979,
    "account": None,
    "event": "request",
}


@contextmanager
def on_terminal(folder: Path, **variables: str) -> Iterator[tuple[int, int]]:
    """A server whose log is a terminal; its port, and our end of the terminal."""
    port = serving.free_port()
    settings = {"data_dir": folder / "data", "port": port, "model_dir": os.devnull}
    environment = serving.environment_of(**settings, tool_preload="off")
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*BOWERBIRD, "serve"],
        env={**environment, "TERM": "xterm", **variables},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=theirs,
    )
    os.close(theirs)
    try:
        yield port, ours
    finally:
        process.terminate()
        process.wait(PATIENCE_S)
        os.close(ours)


def first_line(port: int, terminal: int) -> str:
    """The line of a request for a page that does not exist."""

    def is_sent() -> bool:
        try:
            return serving.http.get(f"http://127.0.0.1:{port}/v1/sandbox/none").status_code == 404
        except httpx.TransportError:
            return False

    wait_until(is_sent)
    read = b""
    while b"404" not in read or not read.endswith(b"\n"):
        read += os.read(terminal, 65_536)
    return next(line for line in read.decode().splitlines() if "404" in line)


def test_a_terminal_shows_lines_for_people_unless_json_is_forced(tmp_path: Path) -> None:
    with on_terminal(tmp_path, NO_COLOR="") as (port, terminal):
        line = first_line(port, terminal)
    assert re.match(r"\x1b\[2m\d\d:\d\d:\d\d\x1b\[0m GET ", line)
    assert "\x1b[33m404\x1b[0m" in line

    with on_terminal(tmp_path, BOWERBIRD_LOG_FORMAT="json") as (port, terminal):
        assert json.loads(first_line(port, terminal))["status"] == 404


def test_no_color_is_honoured(tmp_path: Path) -> None:
    with on_terminal(tmp_path, NO_COLOR="1") as (port, terminal):
        line = first_line(port, terminal)

    assert re.match(r"\d\d:\d\d:\d\d GET .* 404 \d+\.\d ms ", line)
    assert "\x1b" not in line


def test_text_can_be_forced_into_a_file(tmp_path: Path) -> None:
    with serving.serving(tmp_path, log_format="text") as server:
        server.get("/v1/sandbox/none")
        wait_until(lambda: " 404 " in server.errors())

        assert "\x1b" not in server.errors()


def test_a_request_is_one_line_without_empty_fields() -> None:
    line = TerminalLines(has_colour=False).line(NOW, "info", REQUEST).decode()

    assert line[8:] == " GET /v1/bookmarks 200 0.9 ms 1,979 bytes id=7f18"


@pytest.mark.parametrize("level", ["warning", "error"])
def test_other_events_name_their_level_and_fields(level: str) -> None:
    fields = {"event": "job failed", "job": "3f9c", "reason": "It broke."}

    line = TerminalLines(has_colour=False).line(NOW, level, fields).decode()

    assert line[8:] == f" {level} job failed job=3f9c reason='It broke.'"


def test_no_field_can_control_the_terminal() -> None:
    fields = {"event": "x\x1b[2J", "name": "a\nb\x07", "exception": "Traceback\n  \x1b]0;x\x07"}

    line = TerminalLines(has_colour=False).line(NOW, "info", fields).decode()

    assert "\x1b" not in line
    assert "\x07" not in line
    assert line.splitlines()[1:] == ["  Traceback", "    \\x1b]0;x\\x07"]


def test_an_unknown_format_is_refused(tmp_path: Path) -> None:
    environment = serving.environment_of(data_dir=tmp_path, log_format="xml")

    ran = serving.bowerbird("serve", environment=environment)

    assert ran.stderr == "Error: BOWERBIRD_LOG_FORMAT='xml' must be one of auto, json, text.\n"
