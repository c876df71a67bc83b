"""Lists: whole ids on a terminal, tab-separated for programs, and JSON."""

import json
import os
import pty
import subprocess
import sys
from typing import Any

from tests.cli.libraries import EMAIL, ROOT, Library
from tests.support.in_turn import in_turn

LISTS = {
    ("account", "list"): {"id", "email", "plan", "bookmarks", "created_at"},
    ("key", "list", EMAIL): {"id", "state", "created_at", "last_used_on", "begins_with", "name"},
    ("device", "list", EMAIL): {"id", "state", "created_at", "last_used_at", "x_account", "name"},
    ("jobs", "list"): {
        *("id", "account", "kind", "state", "attempts", "progress", "created_at", "error"),
    },
    ("imports", "list", EMAIL): {
        *("id", "state", "started_at", "source", "kind", "client", "new", "changed", "unchanged"),
        *("deleted_here", "undo_until"),
    },
    ("doctor",): {"subject", "state", "sentence", "fix"},
}
EMPTY = [
    *(command for command in LISTS if command not in (("account", "list"), ("doctor",))),
    ("imports", "removals", EMAIL),
    ("sources", "list", EMAIL),
    ("webhook", "list", EMAIL),
    ("notify-sunset", "v1", "--note", "https://example.com", "--sunset", "2999-01-01"),
]
LONG_NAME = "Firefox on the laptop of the reading room in the old library"


def listed(library: Library, *command: str) -> Any:
    ran = library.run(*command, "--json")
    assert ran.text == ran.out
    return json.loads(ran.out)


def on_terminal(library: Library, *command: str, columns: int) -> str:
    """The output on a terminal of that width."""
    ours, theirs = pty.openpty()
    ran = subprocess.Popen(
        [sys.executable, "-m", "bowerbird", *command],
        env={**os.environ, **library.environment, "COLUMNS": str(columns), "NO_COLOR": "1"},
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=subprocess.PIPE,
    )
    os.close(theirs)
    output = b""
    try:
        while part := os.read(ours, 65_536):
            output += part
    except OSError:
        # Linux reports the end of a terminal as an error.
        pass
    finally:
        os.close(ours)
    _, errors = ran.communicate()
    assert ran.returncode == 0, errors
    return output.decode()


def test_every_list_is_an_array_of_objects_with_the_same_fields(empty: Library) -> None:
    empty.run("account", "create", EMAIL)
    empty.run("key", "create", EMAIL, "--name", "laptop")
    empty.run("device", "create", EMAIL, "--name", "phone")
    empty.add_other_rows(2)

    for command, fields in LISTS.items():
        rows = listed(empty, *command)
        assert rows, command
        assert all(row.keys() == fields for row in rows), command


@in_turn("command", EMPTY)
def test_a_list_without_rows_is_an_empty_array(empty: Library, command: tuple[str, ...]) -> None:
    empty.run("account", "create", EMAIL)

    assert empty.run(*command, "--json").out == "[]\n"


def test_numbers_are_numbers_dates_have_an_offset_unknown_is_null(empty: Library) -> None:
    account_id = empty.run("account", "create", EMAIL).out.strip()
    empty.run("key", "create", EMAIL)
    empty.add_jobs(int(account_id), "ja")

    assert listed(empty, "jobs", "list")[0]["progress"] == {"done": 1, "total": 2}
    (account,) = listed(empty, "account", "list")
    (key,) = listed(empty, "key", "list", EMAIL)

    assert (account["id"], account["email"], account["bookmarks"]) == (account_id, EMAIL, 0)
    assert account["created_at"].endswith("+00:00")
    assert key["last_used_on"] is None


def test_ids_are_not_cut_on_a_narrow_terminal_or_in_a_pipe(empty: Library) -> None:
    empty.run("account", "create", EMAIL)
    job_id = "3f9c01ab5d2e4a7c8b1f0e6d9a3c5b7e"
    empty.add_jobs(int(empty.value("SELECT account_id FROM person")), job_id)
    empty.run("device", "create", EMAIL, "--name", LONG_NAME)
    device_id = empty.value("SELECT device_id FROM device")

    for columns in (80, 20):
        jobs = on_terminal(empty, "jobs", "list", columns=columns)
        assert jobs.splitlines()[0].split()[:3] == ["Id", "Account", "Kind"]
        assert jobs.splitlines()[1].startswith(f"{job_id}  {EMAIL}  errand  failed ")
        devices = on_terminal(empty, "device", "list", EMAIL, columns=columns)
        assert device_id in devices
        assert LONG_NAME in devices
    assert empty.run("jobs", "list").out.startswith(f"{job_id}\t{EMAIL}\t")


def test_a_name_cannot_break_a_line_or_control_the_terminal(empty: Library) -> None:
    empty.run("account", "create", EMAIL)
    empty.run("key", "create", EMAIL)
    empty.sql("UPDATE api_key SET name = 'a\tb\nc\x1b[2J'")

    (line,) = empty.run("key", "list", EMAIL).out.splitlines()

    assert line.split("\t")[5] == "a?b?c?[2J"
    assert listed(empty, "key", "list", EMAIL)[0]["name"] == "a\tb\nc\x1b[2J"


def test_json_of_a_command_that_acts_is_refused(empty: Library) -> None:
    empty.run("account", "create", EMAIL)

    for command in (("imports", "removals", EMAIL, "1"), ("notify-sunset", "v1", "--send")):
        ran = empty.run(*command, "--json")
        assert ran.code == 2
        assert "--json lists" in ran.text
