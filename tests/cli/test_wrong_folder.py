"""A command in a folder without a library says where it looked, and creates nothing."""

from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from bowerbird.cli import program
from tests.cli.libraries import EMAIL, Library, posts, sqlite_library
from tests.support.serving import free_port

# The arguments of every command that works on a library but may not create one.
COMMANDS: dict[tuple[str, ...], tuple[str, ...]] = {
    ("account", "list"): (),
    ("account", "plan"): (EMAIL, "pro"),
    ("account", "email"): (EMAIL, "new@example.com"),
    ("account", "link"): (EMAIL,),
    ("account", "owner"): (EMAIL,),
    ("account", "removed-posts"): (EMAIL, "hide"),
    # Without --yes: nobody is asked about an account that cannot be there.
    ("account", "delete"): (EMAIL,),
    ("account", "export"): (EMAIL, "all.json"),
    ("key", "create"): (EMAIL,),
    ("key", "list"): (EMAIL,),
    ("key", "revoke"): (EMAIL, "1"),
    ("device", "create"): (EMAIL,),
    ("device", "list"): (EMAIL,),
    ("device", "revoke"): (EMAIL, "1"),
    ("reingest",): (),
    ("sources", "list"): (EMAIL,),
    ("sources", "run"): (EMAIL, "1"),
    ("sources", "pause"): (EMAIL, "1"),
    ("sources", "disconnect"): (EMAIL, "1"),
    ("import",): (EMAIL, "missing.json", "--refused", "refused.txt"),
    ("imports", "list"): (EMAIL,),
    ("imports", "undo"): (EMAIL, "1"),
    ("imports", "removals"): (EMAIL,),
    ("save",): (EMAIL, "https://x.com/jack/status/20"),
    ("fetch",): (EMAIL,),
    ("export",): (EMAIL, "--format", "json", "--to", "posts.json"),
    ("digest",): (EMAIL,),
    ("rule", "list"): (EMAIL,),
    ("rule", "on"): (EMAIL, "1"),
    ("rule", "off"): (EMAIL, "1"),
    # A file that exists.
    ("rule", "import"): (EMAIL, __file__),
    ("share", "list"): (),
    # A file that exists.
    ("share", "import"): (EMAIL, __file__),
    ("share", "stop"): ("1",),
    ("share", "allow"): ("1",),
    ("webhook", "list"): (EMAIL,),
    ("webhook", "add"): (EMAIL, "https://hooks.example.com/b"),
    ("webhook", "remove"): (EMAIL, "1"),
    ("webhook", "test"): (EMAIL, "1"),
    ("embed",): (EMAIL,),
    ("backup",): ("copy.tar",),
    ("jobs", "list"): (),
    ("jobs", "retry"): ("1",),
    ("jobs", "cancel"): ("1",),
    ("check",): (),
    ("notify-sunset",): ("v1", "--note", "https://example.com", "--sunset", "2999-01-01"),
}
CREATING = {("serve",), ("migrate",), ("account", "create"), ("restore",)}
# They need no library, or only look whether there is one.
OTHERS = {("worker",), ("version",), ("doctor",), ("spec",), ("model",)}


def leaves(group: click.Group, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    with click.Context(group) as context:
        for name in group.list_commands(context):
            command = group.get_command(context, name)
            if isinstance(command, click.Group):
                yield from leaves(command, (*path, name))
            else:
                yield (*path, name)


def test_every_command_is_listed_here() -> None:
    assert set(leaves(program)) == {*COMMANDS, *CREATING, *OTHERS}


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_the_folder_and_the_setting_that_chose_it_are_named(
    command: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    library = Library({"BOWERBIRD_DATA_DIR": "shelf", "BOWERBIRD_DATABASE_URL": ""})

    ran = library.run(*command, *COMMANDS[command])

    assert ran.code == 1
    assert ran.text == (
        f"Error: There is no library in {tmp_path / 'shelf'}: the folder does not exist. "
        "The setting BOWERBIRD_DATA_DIR=shelf chose this folder. Correct it, or create a library "
        "there with: bowerbird migrate\n"
    )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "command",
    [*COMMANDS, ("serve",), ("migrate",), ("account", "create")],
    ids=" ".join,
)
def test_an_emptied_database_file_is_reported_and_kept(
    command: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shelf").mkdir()
    file = tmp_path / "shelf" / "bowerbird.db"
    file.touch()
    library = Library({"BOWERBIRD_DATA_DIR": "shelf", "BOWERBIRD_DATABASE_URL": ""})
    creating = {("account", "create"): (EMAIL,), ("serve",): ("--port", free_port())}

    ran = library.run(*command, *COMMANDS.get(command, creating.get(command, ())))

    assert ran.code == 1
    assert ran.text.strip() == (
        f"Error: {file} is empty, so the library in it is lost. Restore a backup with: bowerbird "
        "restore FILE. To start with a new library, delete the empty file."
    )
    assert file.stat().st_size == 0


def test_a_backup_replaces_an_emptied_database_file(tmp_path: Path) -> None:
    other = sqlite_library(tmp_path / "other")
    other.fill(2)
    assert other.run("backup", tmp_path / "copy.tar").code == 0
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "bowerbird.db").touch()
    library = sqlite_library(tmp_path / "data")

    assert library.run("restore", "--yes", tmp_path / "copy.tar").code == 0

    assert posts(library) == 2


def test_the_default_folder_is_explained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("BOWERBIRD_DATA_DIR", raising=False)
    (tmp_path / "data").mkdir()

    ran = Library({"BOWERBIRD_DATABASE_URL": ""}).run("account", "list")

    assert ran.code == 1
    assert (
        f"There is no library in {tmp_path / 'data'}: the folder has no bowerbird.db." in ran.text
    )
    assert "BOWERBIRD_DATA_DIR is not set, so the folder is data in the current folder." in ran.text
    assert list((tmp_path / "data").iterdir()) == []


def test_a_refused_restore_creates_nothing(tmp_path: Path) -> None:
    (tmp_path / "copy.tar").write_text("no backup")

    ran = Library({"BOWERBIRD_DATA_DIR": str(tmp_path / "data")}).run(
        "restore", tmp_path / "copy.tar"
    )

    assert ran.code == 1
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("command", [("migrate",), ("account", "create", EMAIL)], ids=" ".join)
def test_a_creating_command_creates_the_library(command: tuple[str, ...], tmp_path: Path) -> None:
    folder = tmp_path / "data"
    library = Library({"BOWERBIRD_DATA_DIR": str(folder), "BOWERBIRD_DATABASE_URL": ""})

    assert library.run(*command).code == 0

    assert (folder / "bowerbird.db").exists()
    assert library.run("account", "list").code == 0


def test_doctor_reports_an_emptied_database_file(tmp_path: Path) -> None:
    (tmp_path / "bowerbird.db").touch()

    ran = Library({"BOWERBIRD_DATA_DIR": str(tmp_path), "BOWERBIRD_DATABASE_URL": ""}).run("doctor")

    assert ran.code == 1
    assert f"✗ database: {tmp_path / 'bowerbird.db'} is empty" in ran.text
