"""Help, listings, the published document and migrations on the command line."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest
from click import shell_completion
from click.testing import CliRunner

from bowerbird.cli import LazyCommands, program
from bowerbird.storage import migrations
from bowerbird.storage.sqlite import schema as sqlite_schema
from tests.cli.libraries import EMAIL, ROOT, Library, sqlite_library
from tests.support import serving
from tests.support.in_turn import in_turn


def test_the_help_of_every_command_shows_an_example() -> None:
    for command in _leaves(program):
        with click.Context(command) as context:
            help_text = command.get_help(context)
        assert "\n  Example:\n    " in help_text, command.name


def test_an_unknown_command_gets_a_suggestion_out_of_all_commands() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "bowerbird", "workr"], capture_output=True, check=False
    )

    assert b"Did you mean 'worker'?" in ran.stderr


def test_a_command_imports_only_its_own_code() -> None:
    program = (
        "import sys; from click.testing import CliRunner; from bowerbird.cli import program;"
        "assert CliRunner().invoke(program, ['import', '--help']).exit_code == 0;"
        "print(*(name for name in sys.modules if name.startswith('bowerbird.cli.commands.')))"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)

    assert ran.stdout.split() == [b"bowerbird.cli.commands.import_files"]


def _leaves(command: click.Command) -> list[click.Command]:
    if isinstance(command, LazyCommands):
        command.load_all()
    if isinstance(command, click.Group):
        return [leaf for part in command.commands.values() for leaf in _leaves(part)]
    return [command]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_its_script_and_completes(shell: str) -> None:
    kind = shell_completion.get_completion_class(shell)
    assert kind
    completing = kind(program, {}, "bowerbird", "_BOWERBIRD_COMPLETE")

    def offered(*words: str) -> list[str]:
        return [one.value for one in completing.get_completions(list(words[:-1]), words[-1])]

    assert f"_BOWERBIRD_COMPLETE={shell}_complete" in completing.source()
    assert offered("ac") == ["account"]
    assert offered("jobs", "list", "--js") == ["--json"]


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


OURS = '[project]\nname = "bowerbird"\n'


@pytest.mark.parametrize(
    ("described", "has_folder"),
    [
        (None, True),
        (OURS, False),
        ('[project]\nname = "another"\n', True),
        ("project = 1\n", True),
        ("[project\n", True),
        ("\udcff", True),
    ],
)
@pytest.mark.parametrize("option", ["--write", "--check", "--publish"])
def test_a_folder_that_is_not_the_project_is_left_alone(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    option: str,
    described: str | None,
    *,
    has_folder: bool,
) -> None:
    monkeypatch.chdir(tmp_path)
    if described is not None:
        (tmp_path / "pyproject.toml").write_text(described, "utf-8", errors="surrogateescape")
    if has_folder:
        (tmp_path / "spec").mkdir()
    before = sorted(tmp_path.rglob("*"))

    ran = CliRunner().invoke(program, ["spec", option])

    assert ran.exit_code == 1
    assert ran.output == (
        f"Error: {tmp_path} is not a checkout of bowerbird (a folder with its pyproject.toml and "
        "spec/). Change to one, or run bowerbird spec without an option to print the document.\n"
    )
    assert sorted(tmp_path.rglob("*")) == before


def test_the_files_of_a_checkout_are_written_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text(OURS, encoding="utf-8")
    (tmp_path / "spec").mkdir()

    first = CliRunner().invoke(program, ["spec", "--write"])
    second = CliRunner().invoke(program, ["spec", "--write"])

    assert first.exit_code == second.exit_code == 0
    assert "wrote spec/openapi.json\n" in first.output
    assert second.output == ""
    assert CliRunner().invoke(program, ["spec", "--check"]).exit_code == 0


def test_the_document_is_printed_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    ran = CliRunner().invoke(program, ["spec"])

    assert json.loads(ran.stdout)["openapi"].startswith("3.")
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def old(tmp_path: Path) -> Library:
    """A library in which the last two steps are missing."""
    sqlite_schema.prepare(tmp_path / "data", migrations.available("sqlite")[:-2])
    return sqlite_library(tmp_path / "data")


def sentence(library: Library) -> str:
    number = migrations.available("sqlite")[-3].number
    return (
        "Migrated the library to this release (2 steps). The database as it was before is kept "
        f"as {library.folder / f'before-migration-{number:04d}.db'}.\n"
    )


@pytest.mark.parametrize("command", [("account", "list", "--json"), ("jobs", "list", "--json")])
def test_a_listing_says_on_stderr_that_it_migrated(old: Library, command: tuple[str, ...]) -> None:
    ran = old.run(*command)

    assert ran.code == 0
    assert ran.text.startswith(sentence(old))
    assert json.loads(ran.out) == []
    assert old.run(*command).text == ran.out


def test_migrate_names_the_copy(old: Library) -> None:
    ran = old.run("migrate")

    assert sentence(old) in ran.text
    assert ran.out.count("applied ") == 2


def test_a_new_library_is_not_called_migrated(tmp_path: Path) -> None:
    ran = sqlite_library(tmp_path / "data").run("account", "create", EMAIL)

    assert ran.code == 0
    assert "igrated" not in ran.text


def test_a_server_logs_that_it_migrated(old: Library) -> None:
    with serving.serving(old.folder.parent) as server:
        logged = server.log()

    (event,) = [event for event in logged if event["event"] == "library_migrated"]
    assert len(event["steps"]) == 2
    assert Path(event["kept"]).exists()
