"""`bowerbird backup` and `restore` that cannot work: damaged, full, in use, or missing."""

import re
from pathlib import Path

import pytest

from bowerbird.storage.sqlite.schema import FolderLock
from tests.cli.libraries import Library, sqlite_library

# Runs a command that cannot write larger files than this, as on a full disk.
BOUNDED = """
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, ({0}, resource.RLIM_INFINITY))
from bowerbird.cli import main
main()
"""


@pytest.fixture
def library(tmp_path: Path) -> Library:
    library = sqlite_library(tmp_path / "data")
    library.fill(5)
    return library


@pytest.mark.parametrize("first", [0, 16, 100])
def test_a_library_with_an_unreadable_header_is_not_backed_up(
    library: Library, tmp_path: Path, first: int
) -> None:
    with (library.folder / "bowerbird.db").open("r+b") as file:
        file.seek(first)
        file.write(b"\xff" * 60)

    ran = library.run("backup", tmp_path / "copy.tar")

    assert (ran.code, ran.text) == (1, "Error: The database file is damaged. Restore a backup.")
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


# The largest file, as a share of the database: too small for the copy, or for the archive.
@pytest.mark.parametrize("share", [0.2, 1.001])
def test_a_backup_that_does_not_fit_fails_with_a_sentence_and_leaves_nothing(
    library: Library, tmp_path: Path, share: float
) -> None:
    library.fill(200, first=1_000)
    most = int((library.folder / "bowerbird.db").stat().st_size * share)

    with library.start("backup", tmp_path / "copy.tar", script=BOUNDED.format(most)) as process:
        _, problem = process.communicate(timeout=120)

    assert process.returncode == 1
    assert re.fullmatch(
        "Error: (Cannot copy the library: the disk is full or failing|The disk of .* is full, so "
        r"nothing was changed\. Free some space)\.\n",
        # The bound also stops the file in which the measurement of coverage ends.
        problem.partition("Exception ignored in atexit callback: <bound method Coverage")[0],
    ), problem
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


def test_nobody_is_asked_while_the_library_is_in_use(library: Library, tmp_path: Path) -> None:
    copy = tmp_path / "copy.tar"
    assert library.run("backup", copy).code == 0
    lock = FolderLock(library.folder)
    with lock.shared():
        ran = library.run("restore", copy, answer="n\n")
    lock.close()

    assert ran.code == 1
    assert ran.text.startswith(f"Error: Another process is using {library.folder}.")


def test_a_backup_into_a_missing_folder_names_the_folder(library: Library, tmp_path: Path) -> None:
    ran = library.run("backup", tmp_path / "missing" / "copy.tar")

    assert ran.code == 1
    assert ran.text == (
        f"Error: The folder {tmp_path / 'missing'} does not exist. Create it first."
    )
