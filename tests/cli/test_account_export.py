"""Copies of an account: one file, and a folder that follows it."""

import asyncio
import json
import signal
import stat
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from bowerbird.cli.context import LibraryContext, opened_library
from bowerbird.exports.folder import STATE, ExportFolder
from bowerbird.exports.markdown_note import Note
from bowerbird.library.bookmarks.trash import Trash
from bowerbird.library.labels.labels import Labels
from bowerbird.model.accounts import Account
from bowerbird.requests.labels import LabelChange
from bowerbird.storage.database import Transaction
from tests.cli.libraries import EMAIL, Library, sqlite_library


@pytest.fixture
def target(tmp_path: Path) -> Path:
    (tmp_path / "exports").mkdir()
    return tmp_path / "exports" / "alice.json"


def test_the_file_contains_everything_except_secrets(empty: Library, target: Path) -> None:
    empty.fill(7)
    key = empty.run("key", "create", EMAIL, "--name", "laptop").out.strip()
    empty.sql("INSERT INTO api_call SELECT account_id, 202607, 12 FROM library")
    empty.sql("UPDATE api_key SET last_used_day = 20652")

    ran = empty.run("account", "export", EMAIL, target)

    assert ran.text == f"Wrote 7 posts and all other data of {EMAIL} to {target}.\n"
    document = _read(target)
    assert (document["account"]["email"], document["account"]["plan"]) == (EMAIL, "pro")
    assert [
        (each["name"], each["begins_with"], each["last_used_on"]) for each in document["keys"]
    ] == [("laptop", key[:19], "2026-07-18")]
    assert document["calls"] == [{"month": "2026-07", "calls": 12}]
    assert [(label["label_name"], label["count"]) for label in document["labels"]] == [
        ("apples", 2),
        ("Birds", 5),
    ]
    assert [bookmark["post_id"] for bookmark in document["bookmarks"]] == list("1234567")
    assert key not in target.read_text()
    assert stat.S_IMODE(target.stat().st_mode) == 0o600


def test_an_import_of_the_file_restores_the_bookmarks_exactly(empty: Library, target: Path) -> None:
    empty.fill(1203)
    empty.run("account", "export", EMAIL, target)
    empty.run("account", "create", "bob@example.com")

    ran = empty.run("import", "bob@example.com", target)

    again = target.with_name("bob.json")
    empty.run("account", "export", "bob@example.com", again)
    assert "  new 1203\n  changed 0\n  unchanged 0\n" in ran.out
    found, expected = _read(again)["bookmarks"], _read(target)["bookmarks"]
    # An import is an update.
    assert {one.pop("updated_at") for one in found}.isdisjoint(
        {one.pop("updated_at") for one in expected}
    )
    assert found == expected


def test_the_file_contains_views_and_deleted_bookmarks(empty: Library, target: Path) -> None:
    empty.fill(2)
    empty.add_other_rows(501)

    empty.run("account", "export", EMAIL, target)

    document = _read(target)
    assert [(view["slug"], view["base_query"]) for view in document["views"]] == [
        ("v", {"q": "birds"})
    ]
    assert len(document["trash"]) == 501
    assert document["trash"][-1] == {
        "post_id": "900500",
        "deleted_at": "1970-01-01T00:00:00.000500+00:00",
        "bookmark": {},
    }
    assert len(document["bookmarks"]) == 2


@pytest.mark.both
def test_the_file_contains_devices_and_imports_but_no_token(empty: Library, target: Path) -> None:
    empty.fill(1)
    token = empty.run("device", "create", EMAIL, "--name", "laptop").out.strip()
    link = target.with_name("links.txt")
    link.write_text("https://x.com/ada/status/20\n")
    empty.run("import", EMAIL, link)

    empty.run("account", "export", EMAIL, target)

    document = _read(target)
    (device,) = document["devices"]
    assert (device["name"], device["last_used_at"], device["revoked_at"]) == ("laptop", None, None)
    (run,) = document["imports"]
    assert (run["state"], run["counts"]["new"], run["undone"]["removed"]) == ("finished", 1, 0)
    assert token not in target.read_text()
    assert empty.run("import", EMAIL, target).out.count("  unchanged 2\n") == 1


def test_the_file_contains_posts_that_are_known_only_by_their_id(
    empty: Library, target: Path
) -> None:
    empty.fill(1)
    for post_id in (1, 20):
        empty.sql(
            "INSERT INTO source_post (account_id, source, source_user_id, post_id, seen_run,"  # noqa: S608 - a number
            " changed_at, gone_at, gone_reason, sort_index)"
            f" SELECT account_id, 'x', '', '{post_id}', '', 0, 0, 'Deleted', 5 FROM library"
        )
    empty.run("account", "removed-posts", EMAIL, "hide")
    empty.run("account", "export", EMAIL, target)

    document = _read(target)
    assert document["account"]["removed_posts"] == "hide"
    assert document["unavailable_posts"] == [
        {
            "post_id": "20",
            "gone_at": "1970-01-01T00:00:00.000000+00:00",
            "gone_reason": "Deleted",
            "sort_index": 5,
        }
    ]


def test_a_file_of_the_release_before_can_be_imported(empty: Library, target: Path) -> None:
    empty.fill(2)
    empty.run("account", "export", EMAIL, target)
    document = _read(target)
    for later in ("devices", "unavailable_posts", "imports"):
        del document[later]
    target.write_text(json.dumps(document))
    empty.run("account", "create", "bob@example.com")

    ran = empty.run("import", "bob@example.com", target)

    assert "  new 2\n" in ran.out


def test_an_existing_file_is_overwritten_only_with_force(empty: Library, target: Path) -> None:
    empty.fill(1)
    target.write_text("mine")

    ran = empty.run("account", "export", EMAIL, target)

    assert (ran.code, ran.text) == (
        1,
        f"Error: {target} already exists. To overwrite it, use --force.\n",
    )
    assert target.read_text() == "mine"
    assert empty.run("account", "export", EMAIL, target, "--force").code == 0
    assert len(_read(target)["bookmarks"]) == 1


def test_a_failed_export_leaves_no_file(empty: Library, target: Path) -> None:
    ran = empty.run("account", "export", EMAIL, target)

    assert ran.code == 1
    assert list(target.parent.iterdir()) == []


def test_a_missing_folder_is_reported_in_one_sentence(empty: Library, target: Path) -> None:
    empty.fill(1)

    ran = empty.run("account", "export", EMAIL, target.parent / "no" / "a.json")

    assert ran.code == 1
    assert "No such file or directory: " in ran.text
    assert ran.text.count("\n") <= 1


def _read(file: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(file.read_bytes())
    return document


# Runs the command in a process that kills itself at the n-th file that it replaces or removes.
KILLED_AT_STEP = """
import os, signal, sys
left = int(sys.argv[1])
def counted(function):
    def step(*arguments, **options):
        global left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return function(*arguments, **options)
    return step
for name in ("replace", "unlink"):
    setattr(os, name, counted(getattr(os, name)))
sys.argv[1:] = sys.argv[2:]
from bowerbird.cli import main
main()
"""


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    return tmp_path / "vault"


@pytest.fixture
def library(tmp_path: Path) -> Library:
    library = sqlite_library(tmp_path / "data")
    library.fill(5)
    return library


def sync(library: Library, vault: Path, *options: str) -> dict[str, int]:
    arguments = ("export", EMAIL, "--format", "markdown", "--to", vault, *options)
    ran = library.run(*arguments)
    assert ran.code == 0, ran.text
    return {name: int(count) for name, count in (line.split() for line in ran.out.splitlines())}


def contents(vault: Path) -> dict[str, str]:
    return {file.name: file.read_text() for file in vault.glob("*.md")}


def ids(vault: Path) -> list[str]:
    fronts = [yaml.safe_load(text.split("---\n")[1]) for text in contents(vault).values()]
    return sorted(front["post_id"] for front in fronts)


def add(library: Library, post_id: str, text: str) -> None:
    library.folder.mkdir(exist_ok=True)
    file = library.folder / "posts.json"
    file.write_text(json.dumps([{"post_id": post_id, "tweet_details": {"text": text}}]))
    assert library.run("import", EMAIL, file).code == 0


def within(
    library: Library,
    change: Callable[[LibraryContext, Transaction, Account], Awaitable[object]],
) -> None:
    """Changes the library as the website does."""

    async def work() -> None:
        async with opened_library(library.settings) as opened:
            account = await opened.account(EMAIL)
            await opened.database.write(
                lambda transaction: change(opened, transaction, account), account.account_id
            )

    asyncio.run(work())


def delete(library: Library, post_id: str) -> None:
    within(
        library,
        lambda opened, transaction, account: Trash(opened.database, opened.clock).delete(
            transaction, account, post_id
        ),
    )


def change(library: Library) -> None:
    """Deletes post 1, changes the text of post 2, and adds posts 6 and 7."""
    library.fill(2, first=6)
    add(library, "2", "another text")
    delete(library, "1")


@pytest.mark.both
def test_only_what_has_changed_is_written_and_deleted_posts_lose_their_file(
    empty: Library, vault: Path
) -> None:
    empty.fill(5)
    assert sync(empty, vault) == {"written": 5, "removed": 0, "unchanged": 0}
    before = contents(vault)
    mine = vault / "mine-2.md"
    mine.write_text("my own words")
    assert sync(empty, vault, "--since-last") == {"written": 0, "removed": 0, "unchanged": 0}

    change(empty)
    counts = sync(empty, vault, "--since-last")

    assert counts == {"written": 3, "removed": 1, "unchanged": 0}
    assert mine.read_text() == "my own words"
    mine.unlink()
    assert ids(vault) == ["2", "3", "4", "5", "6", "7"]
    after = contents(vault)
    assert {name for name in before if before[name] == after.get(name)} == {
        name for name in before if name.endswith(("-3.md", "-4.md", "-5.md"))
    }
    assert "another-text-2.md" in after
    assert sync(empty, vault) == {"written": 0, "removed": 0, "unchanged": 6}


def test_a_renamed_label_is_renamed_in_the_files(library: Library, vault: Path) -> None:
    sync(library, vault)
    label_id = str(library.value("SELECT label_id FROM label WHERE name = 'Birds'"))
    within(
        library,
        lambda opened, transaction, account: Labels(opened.database, opened.clock).update(
            transaction, account, label_id, LabelChange(label_name="Feathers")
        ),
    )

    assert sync(library, vault, "--since-last")["written"] > 0

    texts = "".join(contents(vault).values())
    assert '"Feathers"' in texts
    assert '"Birds"' not in texts


@pytest.mark.slow
def test_a_run_that_was_killed_is_repeated_by_the_next_one(
    library: Library, vault: Path, tmp_path: Path
) -> None:
    sync(library, vault)
    change(library)
    state = (vault / STATE).read_text()
    arguments = ("export", EMAIL, "--format", "markdown", "--to", vault, "--since-last")
    codes = []
    for step in range(1, 30):
        with library.start(step, *arguments, script=KILLED_AT_STEP) as process:
            process.communicate()
        codes.append(process.returncode)
        if process.returncode == 0:
            break
        assert process.returncode == -signal.SIGKILL
        assert (vault / STATE).read_text() == state
        assert all(text.endswith("\n") for text in contents(vault).values())

    assert len(codes) > 2
    assert codes[-1] == 0
    assert ids(vault) == ["2", "3", "4", "5", "6", "7"]
    whole = tmp_path / "whole"
    sync(library, whole)
    assert contents(vault) == contents(whole)
    assert {file.name for file in vault.iterdir()} == {file.name for file in whole.iterdir()}


def test_a_post_that_was_written_by_a_killed_run_and_then_deleted_loses_its_file(
    library: Library, vault: Path
) -> None:
    sync(library, vault)
    state = (vault / STATE).read_text()
    library.fill(1, first=6)
    sync(library, vault, "--since-last")
    # As if that run had been killed before its last step.
    (vault / STATE).write_text(state)
    delete(library, "6")

    assert sync(library, vault, "--since-last")["removed"] == 1
    assert ids(vault) == ["1", "2", "3", "4", "5"]


def test_nothing_outside_of_the_folder_is_written_or_removed(
    library: Library, vault: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text('---\npost_id: "9"\n---\n')
    sync(library, vault)
    (name,) = (name for name in contents(vault) if name.endswith("-3.md"))
    (vault / name).unlink()
    (vault / name).symlink_to(outside)
    (vault / "link-9.md").symlink_to(outside)
    (vault / ".bowerbird-export.part").symlink_to(outside)

    sync(library, vault)

    assert outside.read_text() == '---\npost_id: "9"\n---\n'
    assert not (vault / name).is_symlink()
    (vault / "pictures").symlink_to(tmp_path)
    ran = library.run("export", EMAIL, "--format", "markdown", "--to", vault)
    assert ran.code == 1
    assert "is a link to another folder" in ran.text


def test_changes_that_are_not_known_any_more_are_found_by_looking_at_all_posts(
    library: Library, vault: Path
) -> None:
    sync(library, vault)
    change(library)
    for state in ("{", json.dumps({**json.loads((vault / STATE).read_text()), "number": 10**6})):
        (vault / STATE).write_text(state)

        sync(library, vault, "--since-last")

        assert ids(vault) == ["2", "3", "4", "5", "6", "7"]


def test_a_folder_of_another_account_and_a_second_run_are_refused(
    library: Library, vault: Path
) -> None:
    sync(library, vault)
    library.run("account", "create", "bob@example.com")

    ran = library.run("export", "bob@example.com", "--format", "markdown", "--to", vault)
    assert (ran.code, ran.text) == (
        1,
        "Error: The folder has the posts of another account. Choose another one.\n",
    )
    with ExportFolder(vault):
        ran = library.run("export", EMAIL, "--format", "markdown", "--to", vault)
    assert (ran.code, ran.text) == (1, f"Error: Another export is writing into {vault}.\n")


def test_pictures_are_written_beside_the_files_and_removed_with_the_last_of_them(
    library: Library, vault: Path
) -> None:
    sync(library, vault)
    content = b"a picture"
    name = "0123456789abcdef0123456789abcdef"
    with ExportFolder(vault) as folder:
        state = folder.state
        assert state is not None
        folder.put_picture(f"{name}.jpg", content)
        folder.put("8", Note("a-8.md", f'---\npost_id: "8"\n---\n![](pictures/{name}.jpg)\n', ()))
        folder.finish(state)
    picture = vault / "pictures" / f"{name}.jpg"
    (vault / "pictures" / "mine.jpg").write_text("mine")
    assert picture.read_bytes() == content

    sync(library, vault)

    assert [file.name for file in picture.parent.iterdir()] == ["mine.jpg"]


@pytest.mark.parametrize("format", ["json", "csv", "pdf", "netscape"])
def test_other_formats_are_one_file(library: Library, tmp_path: Path, format: str) -> None:
    target = tmp_path / "file"

    ran = library.run("export", EMAIL, "--format", format, "--to", target)

    assert (ran.code, ran.out) == (0, f"Wrote 5 posts of {EMAIL} to {target}.\n")
    assert target.stat().st_size > 0
    again = library.run("export", EMAIL, "--format", format, "--to", target)
    assert again.code == 1
    refused = library.run("export", EMAIL, "--format", format, "--to", target, "--since-last")
    assert "--since-last is for --format markdown." in refused.text
    assert list(library.folder.glob("export-*")) == []
