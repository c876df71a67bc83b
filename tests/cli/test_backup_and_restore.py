"""`bowerbird backup` and `bowerbird restore`."""

import io
import json
import re
import shutil
import stat
import tarfile
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from bowerbird.storage import migrations
from bowerbird.storage.backup import archives, copies
from tests.cli.libraries import WRITER, Library, posts, posts_so_far, sqlite_library
from tests.support.in_turn import in_turn
from tests.support.postgres import ThrowawayPostgres
from tests.support.waiting import wait_until


@pytest.fixture
def library(tmp_path: Path) -> Library:
    library = sqlite_library(tmp_path / "data")
    library.fill(5)
    (library.folder / "files").mkdir()
    (library.folder / "files" / "export.csv").write_text("five")
    # Both are deleted after a day, so backups leave them out.
    for name in ("exports", "checked"):
        (library.folder / "files" / name / "1").mkdir(parents=True)
        (library.folder / "files" / name / "1" / "file").write_text("passing")
    return library


@pytest.fixture
def copy(library: Library, tmp_path: Path) -> Path:
    copy = tmp_path / "copy.tar"
    assert library.run("backup", copy).code == 0
    return copy


def wait_for_more_than(before: int, library: Library) -> None:
    wait_until(lambda: posts_so_far(library) > before)


def test_a_restore_brings_everything_back(library: Library, copy: Path) -> None:
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


def test_a_backup_can_be_restored_where_there_is_no_library(copy: Path, tmp_path: Path) -> None:
    moved = sqlite_library(tmp_path / "elsewhere" / "data")
    ran = moved.run("restore", copy)
    assert ran.code == 0, ran.text
    assert posts(moved) == 5
    assert "kept" not in ran.text


def test_a_backup_says_that_the_key_of_sources_is_not_in_it(
    library: Library, tmp_path: Path
) -> None:
    key = library.folder / "sources.key"
    assert "sources" not in library.run("backup", tmp_path / "without.tar").out
    key.write_text("f" * 64)
    copy = tmp_path / "with.tar"

    said = library.run("backup", copy).out

    assert f"The key of connected sources and webhooks, {key}, is not in it." in said
    assert "connect their sources again, and webhooks need new secrets" in said
    with tarfile.open(copy) as archive:
        assert not [name for name in archive.getnames() if "sources.key" in name]


def test_the_manifest_lists_the_files_of_the_backup(copy: Path) -> None:
    with tarfile.open(copy) as tar:
        assert tar.getnames() == ["bowerbird.db", "files/export.csv", "manifest.json"]
        assert sorted(path.name for path in copy.parent.iterdir()) == ["copy.tar", "data"]
        file = tar.extractfile("manifest.json")
        assert file
        manifest = json.load(file)
    assert manifest["schema_step"] >= 1
    assert set(manifest["members"]) == {"bowerbird.db", "files/export.csv"}


def test_an_existing_file_is_overwritten_only_with_force(library: Library, copy: Path) -> None:
    before = copy.read_bytes()
    ran = library.run("backup", copy)
    assert (ran.code, ran.text) == (
        1,
        f"Error: {copy} already exists. Choose another name, or add --force.",
    )
    assert copy.read_bytes() == before
    assert library.run("backup", copy, "--force").code == 0


def test_a_damaged_library_is_not_backed_up(library: Library, tmp_path: Path) -> None:
    library.sql("DELETE FROM keyword_data WHERE id > 10")
    ran = library.run("backup", tmp_path / "copy.tar")
    assert ran.code == 1
    assert "The database file is damaged" in ran.text
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


def test_two_backups_do_not_write_the_same_file(library: Library, tmp_path: Path) -> None:
    part = tmp_path / "copy.tar.part"
    with copies._part(tmp_path / "copy.tar"):  # noqa: SLF001 - another backup, still running
        ran = library.run("backup", tmp_path / "copy.tar")
        assert ran.text == f"Error: Another backup is writing to {tmp_path / 'copy.tar'}."
        assert part.exists()


def test_a_library_is_backed_up_while_another_writes(library: Library, tmp_path: Path) -> None:
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
        output, problems = writer.communicate(timeout=120)
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


def test_a_restore_asks_for_confirmation(library: Library, copy: Path) -> None:
    library.fill(1, first=100)
    assert library.run("restore", copy, answer="n\n").code == 1
    assert posts(library) == 6
    assert library.run("restore", copy, answer="y\n").code == 0
    assert posts(library) == 5


def test_a_restore_keeps_the_previous_library_and_never_overwrites_an_earlier_one(
    library: Library, copy: Path
) -> None:
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


def test_a_backup_that_does_not_fit_on_the_disk_is_refused_before_anything_changes(
    library: Library, copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(library.folder)._replace(free=3 << 20)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    with copy.open("ab") as file:
        file.truncate(5 << 20)
    library.fill(1, first=100)

    ran = library.run("restore", copy, "--yes")

    assert (ran.code, posts(library)) == (1, 6)
    assert f"{library.folder} has 3 MB free. The backup needs 6 MB." in ran.text


def test_a_file_that_is_deleted_during_a_backup_is_left_out(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.write_text("kept")
    about = archives.Manifest(release="1", schema_step=1, made_at="2026-07-18")
    parts = {"bowerbird.db": kept, "files/gone": tmp_path / "gone"}
    with (tmp_path / "copy.tar").open("wb") as file:
        archives.write(file, parts, about, lambda *_: None)

    with tarfile.open(tmp_path / "copy.tar") as tar:
        assert tar.getnames() == ["bowerbird.db", "manifest.json"]


def test_a_restore_is_refused_while_another_program_reads(library: Library, copy: Path) -> None:
    library.fill(1, first=100)
    shell = apsw.Connection(str(library.folder / "bowerbird.db"))
    rows = shell.execute("SELECT number FROM bookmark")
    next(rows)
    ran = library.run("restore", copy, "--yes")
    rows.close()
    shell.close()
    assert ran.text.startswith("Error: Another program has")
    assert posts(library) == 6


def test_a_restore_replaces_a_damaged_library(library: Library, copy: Path) -> None:
    (library.folder / "bowerbird.db").write_bytes(b"no database" * 1000)
    (library.folder / "bowerbird.db-wal").write_bytes(b"no log" * 1000)
    assert library.run("restore", copy, "--yes").code == 0
    assert posts(library) == 5
    assert (library.folder / "bowerbird.db.before-restore").read_bytes().startswith(b"no database")
    assert (library.folder / "bowerbird.db.before-restore-wal").read_bytes().startswith(b"no log")


def test_a_backup_with_an_older_schema_is_migrated(
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


def test_a_backup_with_a_newer_schema_is_refused(library: Library, copy: Path) -> None:
    library.sql("INSERT INTO schema_migration VALUES (9999, 'x', 0)")
    newer = copy.with_name("newer.tar")
    assert library.run("backup", newer).code == 0
    ran = library.run("restore", newer, "--yes")
    assert "migrated by a newer release (step 9999)" in ran.text


def test_a_postgresql_library_is_refused_with_the_tool_to_use_instead(
    postgres: ThrowawayPostgres, tmp_path: Path
) -> None:
    library = Library({"BOWERBIRD_DATABASE_URL": postgres.url()})
    for command, tool in (("backup", "pg_dump"), ("restore", "pg_restore")):
        ran = library.run(command, tmp_path / "copy.tar")
        assert ran.code == 1
        assert f"Use {tool} instead; see docs/postgresql.md." in ran.text


def truncated(copy: Path) -> None:
    copy.write_bytes(copy.read_bytes()[:20_000])


def with_a_flipped_byte(copy: Path) -> None:
    raw = bytearray(copy.read_bytes())
    raw[30_000] ^= 1
    copy.write_bytes(raw)


def empty_file(copy: Path) -> None:
    copy.write_bytes(b"")


def text_file(copy: Path) -> None:
    copy.write_text("account,post\n" * 1000)


def compressed(copy: Path) -> None:
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


def with_a_damaged_database(copy: Path) -> None:
    """The checksums are right, but the database itself is damaged."""
    with tarfile.open(copy) as tar:
        database, files = (tar.extractfile(name) for name in ("bowerbird.db", "files/export.csv"))
        assert database
        assert files
        raw = bytearray(database.read())
        members = {"files/export.csv": files.read()}
    raw[100:9_000] = b"\xff" * 8_900
    members["bowerbird.db"] = bytes(raw)
    with copy.open("wb") as archive:
        parts = {}
        for name, data in members.items():
            parts[name] = copy.with_name(name.replace("/", "-"))
            parts[name].write_bytes(data)
        about = archives.Manifest(release="1", schema_step=1, made_at="2026-07-18T09:00:00Z")
        archives.write(archive, parts, about, lambda *_: None)


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
    """Adds members in front of the others, or drops one."""
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


@in_turn(
    ("damage", "sentence"),
    [
        (truncated, "damaged or not a backup"),
        (with_a_flipped_byte, "'bowerbird.db' in the archive is damaged"),
        (empty_file, "damaged or not a backup"),
        (text_file, "damaged or not a backup"),
        (compressed, "damaged or not a backup"),
        (without_manifest, "ends before its manifest"),
        (without_database, "does not contain 'bowerbird.db'"),
        (with_a_manifest(b"{"), "The manifest of the archive is invalid: "),
        (with_a_manifest(b'{"release":"9","schema_step":1,"made_at":"","format":9}'), "newer"),
        (with_a_manifest(b'{"x":' * 5_000), "The manifest of the archive is invalid: "),
        (with_a_manifest(b" " * (64 << 20) + b"{}"), "manifest of the archive is too large"),
        (with_a_damaged_database, "Cannot use the database of the backup"),
        (with_a_negative_size, "damaged or not a backup"),
        (with_a_member("/etc/cron.d/x"), "which is not part of a backup"),
        (with_a_member("files/../../x"), "which is not part of a backup"),
        (with_a_member("files//x"), "which is not part of a backup"),
        (with_a_member("../x"), "which is not part of a backup"),
        (with_a_member("folder.lock"), "which is not part of a backup"),
        (with_a_member("files"), "which is not part of a backup"),
        (with_a_member("files/x"), "'files/x' in the archive is damaged"),
        (with_a_member("files/export.csv"), "'files/export.csv' twice"),
        (with_a_member("files/export.csv/x"), "as a file and as a folder"),
        (with_a_member("files/x", tarfile.SYMTYPE), "not a regular file"),
        (with_a_member("files/x", tarfile.LNKTYPE), "not a regular file"),
        (with_a_member("files/x", tarfile.CHRTYPE), "not a regular file"),
        (with_a_member("files/x", tarfile.FIFOTYPE), "not a regular file"),
        (with_a_member("files/x", tarfile.DIRTYPE), "not a regular file"),
        (with_a_member("files/x", tarfile.GNUTYPE_SPARSE), "not a regular file"),
    ],
)
def test_a_damaged_or_malicious_archive_changes_nothing(
    library: Library, copy: Path, damage: Callable[[Path], None], sentence: str
) -> None:
    whole = copy.read_bytes()
    damage(copy)
    before = {path: path.read_bytes() for path in library.folder.rglob("*") if path.is_file()}
    ran = library.run("restore", copy, "--yes")
    copy.write_bytes(whole)
    assert ran.code == 1
    assert sentence in ran.text
    after = {path: path.read_bytes() for path in library.folder.rglob("*") if path.is_file()}
    assert before == after


def test_the_file_is_examined_before_the_question(library: Library, copy: Path) -> None:
    whole = copy.read_bytes()
    for content, sentence in (
        (None, f"No such file: {copy}."),
        (b"", f"Cannot restore {copy}. The file is damaged or not a backup"),
        (b"notes " * 1000, f"Cannot restore {copy}. The file is damaged or not a backup"),
        (whole[: len(whole) // 2], f"Cannot restore {copy}. The file is damaged or not a backup"),
    ):
        copy.unlink(missing_ok=True)
        if content is not None:
            copy.write_bytes(content)
        ran = library.run("restore", copy, answer="y\n")
        assert ran.code == 1
        assert sentence in ran.text
        assert "Replace the library" not in ran.text


def test_the_question_names_folder_and_date_of_the_backup(library: Library, copy: Path) -> None:
    ran = library.run("restore", copy, answer="n\n")

    assert ran.code == 1
    question = rf"Replace the library in {library.folder} with the backup of \d{{4}}-\d\d-\d\dT"
    assert re.match(question, ran.text)
