"""Temporary folders of jobs."""

import os
from pathlib import Path

import pytest

from bowerbird.storage.files.scratch import Scratch


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
