"""Temporary folders of jobs, and of files that are received."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from bowerbird.storage.files import Scratch, UploadFolders


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "scratch").iterdir())


def test_a_new_attempt_deletes_the_folder_of_the_previous_one(tmp_path: Path) -> None:
    scratch = Scratch(tmp_path)
    leftover = scratch.create(7, "job")
    (leftover / "posts.json").write_text("[]")
    other = scratch.create(7, "other")

    found = scratch.create(7, "job")

    assert list(found.iterdir()) == []
    assert names(tmp_path) == sorted([found.name, other.name])


def test_only_the_folders_of_the_account_are_deleted(tmp_path: Path) -> None:
    scratch = Scratch(tmp_path)
    scratch.create(7, "job")
    kept = scratch.create(77, "job")

    scratch.delete_of_account(7)

    assert names(tmp_path) == [kept.name]


def test_only_old_folders_are_deleted(tmp_path: Path) -> None:
    scratch = Scratch(tmp_path)
    old, new = scratch.create(7, "a"), scratch.create(7, "b")
    os.utime(old, (1_000, 1_000))

    scratch.delete_old(before=2_000)

    assert names(tmp_path) == [new.name]


def test_a_relative_data_folder_gives_absolute_paths(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    assert Scratch(Path("data")).create(7, "job").is_absolute()


_RECEIVE = """
import sys, time
from pathlib import Path
from bowerbird.storage.files import UploadFolders

folder = UploadFolders(Path(sys.argv[1])).create(7)
(folder.path / "sent").write_text("[]")
print(folder.path.name, flush=True)
time.sleep(600)
"""


def test_a_folder_is_deleted_after_its_process_was_killed_and_not_before(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _RECEIVE, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as receiving:
        assert receiving.stdout is not None
        name = receiving.stdout.readline().strip()
        UploadFolders(tmp_path).delete_leftovers()
        assert names(tmp_path) == [name]

        os.kill(receiving.pid, signal.SIGKILL)

    UploadFolders(tmp_path).delete_leftovers()
    assert names(tmp_path) == []


def test_folders_that_are_used_and_those_of_others_stay(tmp_path: Path) -> None:
    used = UploadFolders(tmp_path).create(7)
    export = Scratch(tmp_path).create(7, "job")
    (export / "lock").touch()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "lock").touch()
    link = tmp_path / "scratch" / "7-upload0123456789abcdef-abcdefgh"
    link.symlink_to(elsewhere)

    UploadFolders(tmp_path).delete_leftovers()

    assert names(tmp_path) == sorted([used.path.name, export.name, link.name])
    assert (elsewhere / "lock").exists()
    used.remove()
    used.remove()
    assert names(tmp_path) == sorted([export.name, link.name])


def test_a_server_without_uploads_has_no_leftovers(tmp_path: Path) -> None:
    UploadFolders(tmp_path).delete_leftovers()

    assert list(tmp_path.iterdir()) == []
