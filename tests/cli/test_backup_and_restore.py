"""`bowerbird backup` and `bowerbird restore`."""

import io
import json
import shutil
import signal
import stat
import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from bowerbird.storage import archives, copies, migrations, replacing
from tests.cli.libraries import WRITER, Library, Ran, sqlite_library
from tests.support.postgres import ThrowawayPostgres
from tests.support.waiting import wait_until

# Runs a command in a forked process that kills itself with SIGKILL at the n-th change of the file
# system. For each line of the input, so that everything is imported once.
DYING = """
import os, signal, sys
left = 1_000_000
def counted(function):
    def step(*arguments, **options):
        global left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return function(*arguments, **options)
    return step
for name in ("rename", "replace", "link", "unlink", "rmdir"):
    setattr(os, name, counted(getattr(os, name)))
from bowerbird.cli import main
for line in sys.stdin:
    steps, folder, *arguments = line.rstrip("\\n").split("\\t")
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        left, os.environ["BOWERBIRD_DATA_DIR"], sys.argv[1:] = int(steps), folder, arguments
        main()
        os._exit(1)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


@pytest.fixture
def library(tmp_path: Path) -> Library:
    library = sqlite_library(tmp_path / "data")
    library.fill(5)
    (library.folder / "files").mkdir()
    (library.folder / "files" / "export.csv").write_text("five")
    return library


@pytest.fixture
def copy(library: Library, tmp_path: Path) -> Path:
    copy = tmp_path / "copy.tar"
    assert library.run("backup", copy).code == 0
    return copy


def posts_so_far(library: Library) -> int:
    return int(library.value("SELECT count(*) FROM bookmark"))


def wait_for_more_than(before: int, library: Library) -> None:
    wait_until(lambda: posts_so_far(library) > before)


def posts(library: Library) -> int:
    number = posts_so_far(library)
    assert library.value("SELECT total FROM library") == number
    return number


def test_a_copy_brings_everything_back(library: Library, copy: Path) -> None:
    library.sql("INSERT INTO secret VALUES ('signing', x'00ff', 1)")
    assert library.run("backup", copy, "--force").code == 0
    library.fill(2, first=100)
    library.sql("DELETE FROM secret")
    (library.folder / "files" / "export.csv").write_text("seven")
    ran = library.run("restore", copy, "--yes")
    assert ran.code == 0, ran.text
    assert posts(library) == 5
    assert library.value("SELECT value FROM secret") == b"\x00\xff"
    assert (library.folder / "files" / "export.csv").read_text() == "five"
    assert library.run("check", "--deep").code == 0


def test_a_copy_moves_to_a_machine_without_a_library(copy: Path, tmp_path: Path) -> None:
    moved = sqlite_library(tmp_path / "elsewhere" / "data")
    ran = moved.run("restore", copy)
    assert ran.code == 0, ran.text
    assert posts(moved) == 5
    assert "kept" not in ran.text


def test_only_the_owner_can_read_a_copy(copy: Path) -> None:
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600


def test_nothing_is_left_beside_a_copy(copy: Path) -> None:
    assert sorted(path.name for path in copy.parent.iterdir()) == ["copy.tar", "data"]


def test_a_manifest_tells_what_the_copy_is(copy: Path) -> None:
    with tarfile.open(copy) as tar:
        assert tar.getnames() == ["bowerbird.db", "files/export.csv", "manifest.json"]
        file = tar.extractfile("manifest.json")
        assert file
        manifest = json.load(file)
    assert manifest["schema_step"] >= 1
    assert set(manifest["members"]) == {"bowerbird.db", "files/export.csv"}


def test_an_existing_file_is_overwritten_only_by_force(library: Library, copy: Path) -> None:
    before = copy.read_bytes()
    ran = library.run("backup", copy)
    assert (ran.code, ran.text) == (
        1,
        f"Error: {copy} exists. Choose another name, or say --force.",
    )
    assert copy.read_bytes() == before
    assert library.run("backup", copy, "--force").code == 0


def test_a_folder_without_a_library_cannot_be_copied(tmp_path: Path) -> None:
    ran = sqlite_library(tmp_path / "none").run("backup", tmp_path / "copy.tar")
    assert (ran.code, ran.text) == (1, f"Error: There is no library in {tmp_path / 'none'}.")
    assert not (tmp_path / "none").exists()


def test_a_damaged_library_is_not_copied(library: Library, tmp_path: Path) -> None:
    library.sql("DELETE FROM keyword_data WHERE id > 10")
    ran = library.run("backup", tmp_path / "copy.tar")
    assert ran.code == 1
    assert "The library's file is damaged" in ran.text
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


def test_two_backups_do_not_write_one_file(library: Library, tmp_path: Path) -> None:
    part = tmp_path / "copy.tar.part"
    with copies._part(tmp_path / "copy.tar"):  # noqa: SLF001 - a second backup, halfway
        ran = library.run("backup", tmp_path / "copy.tar")
        assert ran.text == f"Error: Another backup is writing {tmp_path / 'copy.tar'}."
        assert part.exists()


def test_a_library_is_copied_while_another_process_writes(library: Library, tmp_path: Path) -> None:
    stop = tmp_path / "stop"
    with library.start(stop, script=WRITER) as writer:
        assert writer.stdout
        assert writer.stdout.readline() == "ready\n"
        counts = []
        for number in range(4):
            before = posts_so_far(library)
            assert library.run("backup", tmp_path / f"{number}.tar").code == 0
            wait_for_more_than(before, library)
            restored = sqlite_library(tmp_path / f"restored-{number}")
            assert restored.run("restore", tmp_path / f"{number}.tar").code == 0
            counts.append(posts(restored))
            assert restored.run("check", "--deep").code == 0
        stop.touch()
        output, problems = writer.communicate(timeout=30)
    assert (writer.returncode, problems) == (0, "")
    assert counts == sorted(counts)
    assert counts[0] < counts[-1] <= posts(library) == int(output) - 1000 + 5


def test_a_restore_renews_every_epoch(library: Library, copy: Path) -> None:
    library.fill(1, email="bob@example.com")
    library.run("backup", copy, "--force")
    before = library.sql("SELECT account_id, epoch FROM library ORDER BY account_id")
    library.run("restore", copy, "--yes")
    after = library.sql("SELECT account_id, epoch FROM library ORDER BY account_id")
    assert [row[0] for row in before] == [row[0] for row in after]
    assert not {row[1] for row in before} & {row[1] for row in after}


def test_a_restore_asks_first(library: Library, copy: Path) -> None:
    library.fill(1, first=100)
    assert library.run("restore", copy, answer="n\n").code == 1
    assert posts(library) == 6
    assert library.run("restore", copy, answer="y\n").code == 0
    assert posts(library) == 5


def test_what_was_there_is_kept_and_never_overwritten(library: Library, copy: Path) -> None:
    library.fill(1, first=100)
    first = library.run("restore", copy, "--yes")
    second = library.run("restore", copy, "--yes")
    assert f"{library.folder / 'bowerbird.db.before-restore'} and" in first.text
    assert "bowerbird.db.before-restore-2" in second.text
    old = apsw.Connection(str(library.folder / "bowerbird.db.before-restore"))
    assert old.execute("SELECT count(*) FROM bookmark").fetchall() == [(6,)]
    old.close()
    assert (library.folder / "files.before-restore" / "export.csv").read_text() == "five"


def test_a_restore_needs_no_file_system_with_links(
    library: Library, copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise OSError

    monkeypatch.setattr(Path, "hardlink_to", refused)
    library.fill(1, first=100)

    assert library.run("restore", copy, "--yes").code == 0

    assert posts(library) == 5
    kept = library.folder / "bowerbird.db.before-restore"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    old = apsw.Connection(str(kept))
    assert old.execute("SELECT count(*) FROM bookmark").fetchall() == [(6,)]
    old.close()


def test_a_copy_that_has_no_room_is_told_before_anything_changes(
    library: Library, copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(library.folder)._replace(free=3 << 20)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    with copy.open("ab") as file:
        file.truncate(5 << 20)
    library.fill(1, first=100)

    ran = library.run("restore", copy, "--yes")

    assert (ran.code, posts(library)) == (1, 6)
    assert f"{library.folder} has 3 MB free; the copy needs 6." in ran.text


def test_a_file_that_goes_while_it_is_copied_is_left_out(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.write_text("kept")
    about = archives.Manifest(release="1", schema_step=1, made_at="2026-07-18")
    parts = {"bowerbird.db": kept, "files/gone": tmp_path / "gone"}
    with (tmp_path / "copy.tar").open("wb") as file:
        archives.write(file, parts, about, lambda *_: None)

    with tarfile.open(tmp_path / "copy.tar") as tar:
        assert tar.getnames() == ["bowerbird.db", "manifest.json"]


def test_a_restore_waits_for_no_server(library: Library, copy: Path) -> None:
    stop = copy.with_name("stop")
    with library.start(stop, script=WRITER) as writer:
        assert writer.stdout
        writer.stdout.readline()

        def refused() -> Ran | None:
            ran = library.run("restore", copy, "--yes")
            return ran if ran.code else None

        # Between two of its writes the writer does not hold the library.
        ran = wait_until(refused)
        stop.touch()
        writer.communicate(timeout=30)
    assert ran is not None
    assert ran.text.startswith(f"Error: Another process uses {library.folder}.")


def test_a_program_that_knows_no_lock_is_noticed(library: Library, copy: Path) -> None:
    library.fill(1, first=100)
    shell = apsw.Connection(str(library.folder / "bowerbird.db"))
    rows = shell.execute("SELECT number FROM bookmark")
    next(rows)
    ran = library.run("restore", copy, "--yes")
    rows.close()
    shell.close()
    assert ran.text.startswith("Error: Another program has")
    assert posts(library) == 6


def test_a_broken_library_can_be_replaced(library: Library, copy: Path) -> None:
    (library.folder / "bowerbird.db").write_bytes(b"no database" * 1000)
    (library.folder / "bowerbird.db-wal").write_bytes(b"no log" * 1000)
    assert library.run("restore", copy, "--yes").code == 0
    assert posts(library) == 5
    assert (library.folder / "bowerbird.db.before-restore").read_bytes().startswith(b"no database")
    assert (library.folder / "bowerbird.db.before-restore-wal").read_bytes().startswith(b"no log")


def test_a_copy_of_an_older_schema_is_migrated(
    library: Library, copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    newer = (*migrations.available("sqlite"), _next_migration())
    monkeypatch.setattr(migrations, "available", lambda _: newer)
    ran = library.run("restore", copy, "--yes")
    assert ran.code == 0, ran.text
    assert f"applied {newer[-1].name}" in ran.text
    assert library.sql("SELECT * FROM added") == []
    assert not list(library.folder.glob("*.part"))


def _next_migration() -> migrations.Migration:
    known = migrations.available("sqlite")
    return migrations.Migration(
        number=known[-1].number + 1,
        name="9999_added.sql",
        sql="CREATE TABLE added (account_id INTEGER)",
        is_compatible=False,
    )


def test_a_copy_of_a_newer_schema_is_refused(library: Library, copy: Path) -> None:
    library.sql("INSERT INTO schema_migration VALUES (9999, 'x', 0)")
    newer = copy.with_name("newer.tar")
    assert library.run("backup", newer).code == 0
    ran = library.run("restore", newer, "--yes")
    assert "migrated by a newer release (step 9999)" in ran.text


def test_postgresql_has_tools_of_its_own(postgres: ThrowawayPostgres, tmp_path: Path) -> None:
    library = Library({"BOWERBIRD_DATABASE_URL": postgres.url()})
    for command, tool in (("backup", "pg_dump"), ("restore", "pg_restore")):
        ran = library.run(command, tmp_path / "copy.tar")
        assert ran.code == 1
        assert f"use {tool}, as docs/postgresql.md shows" in ran.text


def without_end(copy: Path) -> None:
    copy.write_bytes(copy.read_bytes()[:20_000])


def with_a_flipped_byte(copy: Path) -> None:
    raw = bytearray(copy.read_bytes())
    raw[30_000] ^= 1
    copy.write_bytes(raw)


def of_nothing(copy: Path) -> None:
    copy.write_bytes(b"")


def of_text(copy: Path) -> None:
    copy.write_text("account,post\n" * 1000)


def zipped(copy: Path) -> None:
    with tarfile.open(copy, "w:gz") as tar:
        tar.addfile(tarfile.TarInfo("bowerbird.db"))


def without_manifest(copy: Path) -> None:
    rewrite(copy, [], drop="manifest.json")


def without_database(copy: Path) -> None:
    rewrite(copy, [], drop="bowerbird.db")


def with_a_manifest(raw: bytes) -> Callable[[Path], None]:
    def change(copy: Path) -> None:
        rewrite(copy, [], drop="manifest.json")
        header = tarfile.TarInfo("manifest.json")
        header.size = len(raw)
        with tarfile.open(copy, "a") as tar:
            tar.addfile(header, io.BytesIO(raw))

    return change


def with_a_negative_size(copy: Path) -> None:
    header = bytearray(tarfile.TarInfo("bowerbird.db").tobuf(tarfile.GNU_FORMAT))
    header[124:136] = b"\xff" * 11 + b"\x00"
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    copy.write_bytes(bytes(header) + copy.read_bytes())


def with_a_member(name: str, kind: bytes = tarfile.REGTYPE) -> Callable[[Path], None]:
    def change(copy: Path) -> None:
        header = tarfile.TarInfo(name)
        header.type, header.linkname = kind, "/etc/passwd"
        rewrite(copy, [header])

    return change


def rewrite(copy: Path, added: list[tarfile.TarInfo], drop: str = "") -> None:
    """The same archive with further members before the others, or without one."""
    with tarfile.open(copy) as tar:
        members = {}
        for header in tar.getmembers():
            file = tar.extractfile(header)
            assert file
            members[header.name] = file.read()
    with tarfile.open(copy, "w") as tar:
        for header in added:
            tar.addfile(header, io.BytesIO())
        for name, data in members.items():
            header = tarfile.TarInfo(name)
            header.size = len(data)
            if name != drop:
                tar.addfile(header, io.BytesIO(data))


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (without_end, "damaged or no backup"),
        (with_a_flipped_byte, "'bowerbird.db' in the archive is damaged"),
        (of_nothing, "damaged or no backup"),
        (of_text, "damaged or no backup"),
        (zipped, "damaged or no backup"),
        (without_manifest, "ends before its manifest"),
        (without_database, "lacks 'bowerbird.db'"),
        (with_a_manifest(b"{"), "The archive's manifest cannot be read: "),
        (with_a_manifest(b'{"release":"9","schema_step":1,"made_at":"","format":9}'), "newer"),
        (with_a_manifest(b" " * (64 << 20) + b"{}"), "manifest is too large to be one"),
        (with_a_negative_size, "damaged or no backup"),
        (with_a_member("/etc/cron.d/x"), "which no backup has"),
        (with_a_member("files/../../x"), "which no backup has"),
        (with_a_member("files//x"), "which no backup has"),
        (with_a_member("../x"), "which no backup has"),
        (with_a_member("folder.lock"), "which no backup has"),
        (with_a_member("files"), "which no backup has"),
        (with_a_member("files/x"), "'files/x' in the archive is damaged"),
        (with_a_member("files/export.csv"), "'files/export.csv' twice"),
        (with_a_member("files/export.csv/x"), "as file and folder"),
        (with_a_member("files/x", tarfile.SYMTYPE), "no plain file"),
        (with_a_member("files/x", tarfile.LNKTYPE), "no plain file"),
        (with_a_member("files/x", tarfile.CHRTYPE), "no plain file"),
        (with_a_member("files/x", tarfile.FIFOTYPE), "no plain file"),
        (with_a_member("files/x", tarfile.DIRTYPE), "no plain file"),
        (with_a_member("files/x", tarfile.GNUTYPE_SPARSE), "no plain file"),
    ],
)
def test_a_broken_or_hostile_archive_changes_nothing(
    library: Library, copy: Path, damage: Callable[[Path], None], sentence: str
) -> None:
    damage(copy)
    before = {path: path.read_bytes() for path in library.folder.rglob("*") if path.is_file()}
    ran = library.run("restore", copy, "--yes")
    assert ran.code == 1
    assert sentence in ran.text
    after = {path: path.read_bytes() for path in library.folder.rglob("*") if path.is_file()}
    assert before == after


def test_a_failure_is_one_sentence_on_stderr(library: Library, tmp_path: Path) -> None:
    with library.start("restore", tmp_path / "missing.tar", "--yes") as process:
        output, problem = process.communicate(timeout=30)
    assert (process.returncode, output) == (1, "")
    assert problem == f"Error: There is no file {tmp_path / 'missing.tar'}.\n"


def test_a_restore_killed_at_any_step_leaves_the_old_or_the_new_library(
    library: Library, copy: Path, tmp_path: Path
) -> None:
    original = _left_by_a_killed_server(library, tmp_path / "original")
    with library.start(script=DYING, stdin=subprocess.PIPE) as process:
        seen = _restored_at_each_step(process, original, copy)
    assert set(seen) == {(7, "seven"), (5, "five")}
    assert seen == sorted(seen, reverse=True)
    assert len(seen) > 8


def _restored_at_each_step(
    process: subprocess.Popen[str], original: Path, copy: Path
) -> list[tuple[int, str]]:
    """What each restore left behind, the last of which was not killed."""
    assert process.stdin
    assert process.stdout
    seen = []
    for step in range(1, 100):
        folder = original.with_name(f"killed-{step}")
        shutil.copytree(original, folder)
        killed = sqlite_library(folder)
        print(step, folder, "restore", copy, "--yes", sep="\t", file=process.stdin, flush=True)
        code = int(process.stdout.readline())
        # Before anything of ours looks at it, the name leads to a whole library already.
        assert killed.value("PRAGMA integrity_check") == "ok"
        assert posts(killed) in (5, 7)
        assert killed.run("check", "--deep").code == 0
        seen.append((posts(killed), (folder / "files" / "export.csv").read_text()))
        assert not replacing.is_interrupted(folder)
        if code == 0:
            break
        assert code == -signal.SIGKILL
    process.stdin.close()
    return seen


def _left_by_a_killed_server(library: Library, target: Path) -> Path:
    """Seven posts, of which two stand in the log only."""
    (library.folder / "files" / "export.csv").write_text("seven")
    holding = apsw.Connection(str(library.folder / "bowerbird.db"))
    holding.execute("SELECT count(*) FROM bookmark").fetchall()
    library.fill(2, first=100)
    shutil.copytree(library.folder, target)
    holding.close()
    (target / "bowerbird.db-shm").unlink()
    assert (target / "bowerbird.db-wal").stat().st_size > 0
    return target
