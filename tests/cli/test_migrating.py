"""A command that migrates the library of an earlier release says so, and names the copy."""

import json
from pathlib import Path

import pytest

from bowerbird.storage import migrations
from bowerbird.storage.sqlite import schema as sqlite_schema
from tests.cli.libraries import EMAIL, Library, sqlite_library
from tests.support import serving


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
