"""Folders for work under way."""

import os
from pathlib import Path

import pytest

from bowerbird.storage.files.scratch import Scratch


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "scratch").iterdir())


def test_a_new_try_removes_what_the_killed_one_left(tmp_path: Path) -> None:
    scratch = Scratch(tmp_path)
    left = scratch.fresh(7, "job")
    (left / "posts.json").write_text("[]")
    other = scratch.fresh(7, "other")

    found = scratch.fresh(7, "job")

    assert list(found.iterdir()) == []
    assert names(tmp_path) == sorted([found.name, other.name])


def test_an_account_s_folders_go_with_it(tmp_path: Path) -> None:
    scratch = Scratch(tmp_path)
    scratch.fresh(7, "job")
    kept = scratch.fresh(77, "job")

    scratch.forget(7)

    assert names(tmp_path) == [kept.name]


def test_only_what_is_old_is_swept(tmp_path: Path) -> None:
    scratch = Scratch(tmp_path)
    old, new = scratch.fresh(7, "a"), scratch.fresh(7, "b")
    os.utime(old, (1_000, 1_000))

    scratch.remove_old(before=2_000)

    assert names(tmp_path) == [new.name]


def test_a_relative_data_folder_gives_whole_paths(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    assert Scratch(Path("data")).fresh(7, "job").is_absolute()
