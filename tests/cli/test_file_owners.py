"""What root's commands create in a data folder belongs to the folder's owner, who runs the service.

Without root's rights no command can change owners, so these tests need them.
"""

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bowerbird.settings import Settings
from bowerbird.storage import private_files
from bowerbird.storage.backup import archives
from bowerbird.storage.files import Files
from tests.cli.libraries import EMAIL, Library, Ran, sqlite_library
from tests.support import make

OWNER = 65_534
pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can change owners")


@pytest.fixture
def library(tmp_path: Path) -> Library:
    """The data folder of another user, still empty."""
    folder = tmp_path / "data"
    folder.mkdir(mode=0o700)
    os.chown(folder, OWNER, OWNER)
    return sqlite_library(folder)


def of_root(folder: Path) -> list[str]:
    return sorted(
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if (path.lstat().st_uid, path.lstat().st_gid) != (OWNER, OWNER)
    )


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A backup with a post and a file."""
    other = sqlite_library(tmp_path / "other")
    other.fill(1)
    (other.folder / "files" / "media").mkdir(parents=True)
    (other.folder / "files" / "media" / "picture").write_bytes(b"picture")
    assert other.run("backup", tmp_path / "copy.tar").code == 0
    return tmp_path / "copy.tar"


def test_a_restored_library_belongs_to_the_folders_owner(library: Library, copy: Path) -> None:
    assert library.run("restore", "--yes", copy).code == 0

    assert (library.folder / "files" / "media" / "picture").exists()
    assert of_root(library.folder) == []


def test_a_library_that_a_restore_replaces_keeps_its_owner(library: Library, copy: Path) -> None:
    library.fill(1)

    assert library.run("restore", "--yes", copy).code == 0

    assert (library.folder / "bowerbird.db.before-restore").exists()
    assert of_root(library.folder) == []


def test_all_that_commands_create_belongs_to_the_folders_owner(
    library: Library, tmp_path: Path
) -> None:
    (tmp_path / "posts.json").write_text(json.dumps([make.post()]))

    assert library.run("account", "create", EMAIL).code == 0
    assert library.run("import", EMAIL, tmp_path / "posts.json").code == 0
    assert library.run("backup", tmp_path / "copy.tar").code == 0

    assert {path.name for path in library.folder.iterdir()} >= {
        "bowerbird.db",
        "folder.lock",
        "write.lock",
        archives.LAST_NAME,
    }
    assert of_root(library.folder) == []


@pytest.mark.anyio
async def test_stored_and_scratch_files_belong_to_the_folders_owner(library: Library) -> None:
    files = Files(Settings(data_dir=library.folder))
    source = files.scratch.create(7, "job") / "source"
    source.write_bytes(b"text")

    await files.put("exports/7/one.csv", b"text")
    await files.put_new("mark", b"text")
    await files.move("exports/7/two.csv", source)

    assert of_root(library.folder) == []


def test_a_file_that_a_command_writes_elsewhere_is_roots(library: Library, tmp_path: Path) -> None:
    library.fill(1)
    output = tmp_path / "output"
    output.mkdir()
    os.chown(output, OWNER, OWNER)

    library.run("backup", output / "copy.tar")
    library.run("account", "export", EMAIL, output / "all.json")

    assert of_root(output) == ["all.json", "copy.tar"]


@contextmanager
def as_owner() -> Iterator[None]:
    os.seteuid(OWNER)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def reachable() -> Iterator[Library]:
    """A library of another user, below a folder that this user can enter."""
    with tempfile.TemporaryDirectory() as above:
        Path(above).chmod(0o755)
        folder = Path(above) / "data"
        folder.mkdir(mode=0o700)
        os.chown(folder, OWNER, OWNER)
        library = sqlite_library(folder)
        library.fill(1)
        yield library


def doctor_of_owner(library: Library) -> Ran:
    # Root loads the modules, which the other user may be unable to read.
    assert library.run("doctor").code == 0
    with as_owner():
        return library.run("doctor")


def test_the_owner_can_use_what_root_created(reachable: Library) -> None:
    assert "✓ schema: is up to date" in doctor_of_owner(reachable).text


@pytest.mark.parametrize("name", ["bowerbird.db", "write.lock", archives.LAST_NAME])
def test_doctor_names_the_owner_of_a_file_without_permission(reachable: Library, name: str) -> None:
    file = reachable.folder / name
    file.touch()
    os.chown(file, 0, 0)
    file.chmod(0o600)

    ran = doctor_of_owner(reachable)

    assert ran.code == 1
    assert (
        f"✗ permissions: {file} belongs to root; this user, nobody, has no permission" in ran.text
    )
    assert f"fix: as root, run chown -R nobody: {reachable.folder}\n" in ran.text
    assert "restore" not in ran.text


def test_doctor_names_the_command_for_a_file_its_owner_cannot_write(reachable: Library) -> None:
    file = reachable.folder / "bowerbird.db"
    file.chmod(0o400)

    ran = doctor_of_owner(reachable)

    assert ran.code == 1
    assert f"✗ permissions: {file} belongs to nobody" in ran.text
    assert f"fix: run chmod u+rwX {file}\n" in ran.text
    assert "restore" not in ran.text


def test_doctor_in_the_folder_of_another_user_names_that_user(reachable: Library) -> None:
    os.chown(reachable.folder, 1, 1)

    ran = doctor_of_owner(reachable)

    assert ran.code == 1
    assert f"✗ permissions: {reachable.folder} belongs to daemon" in ran.text
    assert "fix: run bowerbird as daemon, the owner of the folder; or, as root, run" in ran.text


def test_links_to_files_of_root_are_not_followed(library: Library, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    (library.folder / "folder.lock").symlink_to(secret)
    (library.folder / "write.lock").hardlink_to(secret)

    for name in ("folder.lock", "write.lock"):
        os.close(private_files.open_for_update(library.folder / name))
        private_files.give_to_folder_owner(library.folder / name)

    assert secret.stat().st_uid == 0
