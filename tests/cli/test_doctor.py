"""`bowerbird doctor`: checks what the service needs, and suggests fixes."""

import re
import shutil
import socket
from pathlib import Path

import pytest

from bowerbird.clock import MICROSECONDS, system_clock
from bowerbird.library.upkeep import health
from bowerbird.library.upkeep.health import Mark
from bowerbird.search.meaning.models import model_folder
from bowerbird.settings import Settings
from bowerbird.storage.backup import archives
from bowerbird.storage.backup.archives import LastBackup
from tests.cli.libraries import Library, sqlite_library
from tests.support.hosts.loopback import Handler, on_thread
from tests.support.models import MODEL_DIR
from tests.support.postgres import ThrowawayPostgres


@pytest.fixture
def free_ports() -> dict[str, str]:
    with (
        socket.create_server(("127.0.0.1", 0)) as one,
        socket.create_server(("127.0.0.1", 0)) as two,
    ):
        return {
            "BOWERBIRD_PORT": str(one.getsockname()[1]),
            "BOWERBIRD_ADMIN_PORT": str(two.getsockname()[1]),
        }


@pytest.fixture
def library(tmp_path: Path, free_ports: dict[str, str]) -> Library:
    library = sqlite_library(tmp_path / "data")
    return Library({**library.environment, **free_ports, "BOWERBIRD_MODEL_DIR": MODEL_DIR})


class OtherProgram(Handler):
    content = b"hello"

    def reply(self) -> None:
        self.answer(self.content)


class Bowerbird(OtherProgram):
    content = b'{"status":false,"code":"UNAUTHORIZED"}'


def test_a_working_library_passes(library: Library) -> None:
    library.fill(1)
    ran = library.run("doctor")
    assert ran.code == 0
    assert "✗" not in ran.text
    assert "✓ database: SQLite 3." in ran.text
    assert "journal mode wal" in ran.text
    assert "✓ schema: is up to date" in ran.text
    assert (
        "✓ model: all-MiniLM-L6-v2-int8, universal-sentence-encoder-multilingual-3-int8" in ran.text
    )
    assert f"✓ port: 127.0.0.1:{library.settings.port} is free" in ran.text
    scripts = "Latin, Arabic, Hebrew, Devanagari, Thai, CJK, emoji"
    assert f"✓ fonts: PDF exports can show {scripts}" in ran.text
    assert "✓ address: http://localhost:" in ran.text


def test_a_new_installation_passes_and_nothing_is_created(library: Library) -> None:
    ran = library.run("doctor")
    assert ran.code == 0
    assert f"the first start creates {library.folder}" in ran.text
    assert "✓ database: the first start creates it" in ran.text
    assert not library.folder.exists()


def test_settings_are_shown_without_secrets(library: Library, postgres: ThrowawayPostgres) -> None:
    url = postgres.url() + "&application_name=hush"
    ran = Library({**library.environment, "BOWERBIRD_DATABASE_URL": url}).run("doctor")
    assert "BOWERBIRD_DATABASE_URL=(hidden)" in ran.text
    assert "hush" not in ran.text
    assert f"BOWERBIRD_PORT={library.settings.port}" in ran.text


def test_checks_the_version_extension_and_schema_of_postgresql(
    library: Library, postgres: ThrowawayPostgres
) -> None:
    with postgres.fresh_database() as url:
        bare = Library({**library.environment, "BOWERBIRD_DATABASE_URL": url})
        ran = bare.run("doctor")
        assert ran.code == 1
        assert "✓ database: PostgreSQL 1" in ran.text
        assert "btree_gin is available" in ran.text
        assert "✗ schema: not yet applied: 0001_library.sql" in ran.text
        assert "fix: run bowerbird migrate" in ran.text
        assert bare.run("migrate").code == 0
        assert bare.run("doctor").code == 0


def test_an_unknown_setting_is_reported(library: Library) -> None:
    ran = Library({**library.environment, "BOWERBIRD_PROT": "1"}).run("doctor")
    assert ran.code == 1
    assert "✗ settings: BOWERBIRD_PROT is not a setting. Did you mean BOWERBIRD_PORT?" in ran.text


def test_every_problem_has_its_fix_and_no_secrets(library: Library, tmp_path: Path) -> None:
    fonts = tmp_path / "fonts.conf"
    fonts.write_text(f"<fontconfig><dir>{tmp_path}</dir></fontconfig>")
    wrong = {
        "BOWERBIRD_HOST": "192.0.2.1",
        "BOWERBIRD_MODEL_DIR": str(tmp_path / "none"),
        "BOWERBIRD_DATABASE_URL": "postgresql://nobody:hush@127.0.0.1:1/shelf",
        "FONTCONFIG_FILE": str(fonts),
    }

    ran = Library({**library.environment, **wrong}).run("doctor")

    assert ran.code == 1
    for sentence in (
        "is not an address of this machine",
        "✗ database: PostgreSQL cannot be reached: the database 'shelf' at 127.0.0.1:1: ",
        f"! model: {tmp_path / 'none'} contains no model",
        "fix: run bowerbird model",
        "! fonts: no font for Latin (Noto Sans), Arabic (Noto Sans Arabic),",
        "emoji (Noto Color Emoji); PDF exports show such text as empty boxes",
        "fix: apt install fonts-noto-cjk fonts-noto-color-emoji fonts-noto-core, or the Noto fonts",
    ):
        assert sentence in ran.text, sentence
    assert "hush" not in ran.text


def test_a_lost_database_file_is_reported(library: Library) -> None:
    library.fill(1)
    for name in ("bowerbird.db", "bowerbird.db-wal", "bowerbird.db-shm"):
        (library.folder / name).unlink(missing_ok=True)

    ran = library.run("doctor")

    assert ran.code == 1
    assert f"✗ database: bowerbird.db is missing in {library.folder}, but write.lock" in ran.text
    assert "bowerbird restore FILE" in ran.text
    assert not (library.folder / "bowerbird.db").exists()


def test_a_damaged_database_file_is_reported(library: Library) -> None:
    library.folder.mkdir()
    (library.folder / "bowerbird.db").write_bytes(b"no database" * 1000)
    ran = library.run("doctor")
    assert ran.code == 1
    assert "✗ database:" in ran.text
    assert "fix: restore a backup with bowerbird restore FILE" in ran.text


def test_a_full_disk_needs_no_backup(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    library.folder.mkdir()
    usage = shutil.disk_usage(library.folder)._replace(free=0)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    # SQLite reports any error for a library that it cannot open.
    (library.folder / "bowerbird.db").write_bytes(b"no database" * 1000)

    assert "fix: free disk space; if that does not help, restore" in library.run("doctor").text


def test_an_unusable_data_folder_is_reported(library: Library) -> None:
    folder = library.folder
    folder.write_text("a file")
    ran = library.run("doctor")
    assert ran.code == 1
    assert f"BOWERBIRD_DATA_DIR: {folder} is a file, not a folder." in ran.text


@pytest.mark.parametrize(
    ("handler", "mark", "sentence"),
    [(OtherProgram, "✗", "is used by another program"), (Bowerbird, "✓", "is served by bowerbird")],
)
def test_a_port_in_use_is_reported_with_the_program_that_uses_it(
    library: Library, handler: type[OtherProgram], mark: str, sentence: str
) -> None:
    port = library.settings.port
    with on_thread(handler, port):
        ran = library.run("doctor")
    assert f"{mark} port: 127.0.0.1:{port} {sentence}" in ran.text
    assert ran.code == (mark == "✗")


@pytest.mark.parametrize("pointer", ["current", "multilingual"])
def test_a_damaged_model_is_a_warning(library: Library, tmp_path: Path, pointer: str) -> None:
    folder = model_folder(Settings(model_dir=MODEL_DIR))
    shutil.copytree(folder, tmp_path / "model")
    name = (tmp_path / "model" / pointer).read_text(encoding="ascii").strip()
    (tmp_path / "model" / name / "tokenizer.json").unlink()
    other = Library({**library.environment, "BOWERBIRD_MODEL_DIR": str(tmp_path / "model")})

    ran = other.run("doctor")

    assert re.search("! model: tokenizer.json of .* is damaged or missing", ran.text)
    assert "fix: run bowerbird model" in ran.text


def test_a_missing_second_model_is_a_warning(library: Library, tmp_path: Path) -> None:
    shutil.copytree(model_folder(Settings(model_dir=MODEL_DIR)), tmp_path / "model")
    (tmp_path / "model" / "multilingual").unlink()
    other = Library({**library.environment, "BOWERBIRD_MODEL_DIR": str(tmp_path / "model")})

    ran = other.run("doctor")

    assert "! model: all-MiniLM-L6-v2-int8; without the second model" in ran.text
    assert "fix: run bowerbird model" in ran.text


def test_an_embedding_service_replaces_the_model(library: Library) -> None:
    url = {"BOWERBIRD_EMBEDDING_URL": "http://localhost:9/v1", "BOWERBIRD_EMBEDDING_KEY": "hush"}

    ran = Library({**library.environment, **url}).run("doctor")

    assert "✓ model: text-embedding-3-small, from the service" in ran.text
    assert "hush" not in ran.text


@pytest.mark.parametrize(
    ("address", "mark"),
    [
        ("http://posts.example.org", Mark.WARNING),
        ("http://8.8.8.8:8080", Mark.WARNING),
        ("https://posts.example.org", Mark.GOOD),
        ("http://localhost:8080", Mark.GOOD),
        ("http://shelf:8080", Mark.GOOD),
        ("http://shelf.local:8080", Mark.GOOD),
        ("http://192.168.1.7:8080", Mark.GOOD),
    ],
)
def test_a_public_address_without_encryption_is_a_warning(address: str, mark: Mark) -> None:
    found = health.address(Settings(site_url=address))

    assert found.mark is mark
    assert ("has no encryption" in found.sentence) is (mark is Mark.WARNING)


def test_a_missing_or_old_backup_is_a_warning(library: Library, tmp_path: Path) -> None:
    library.fill(1)
    assert "! backup: there is none yet" in library.run("doctor").text

    assert library.run("backup", tmp_path / "copy.tar").code == 0
    assert "✓ backup: the last one was made within the last 24 hours" in library.run("doctor").text

    made_at = system_clock() - 8 * 86_400 * MICROSECONDS
    archives.remember_last(library.folder, LastBackup(made_at, 5_000_000))
    ran = library.run("doctor")
    assert "! backup: the last one was made 8 days ago, 5.0 MB" in ran.text
    assert "fix: run bowerbird backup FILE every day" in ran.text


def test_a_failed_backup_is_not_remembered(library: Library, tmp_path: Path) -> None:
    library.fill(1)
    (tmp_path / "copy.tar").write_text("in the way")

    assert library.run("backup", tmp_path / "copy.tar").code == 1

    assert "! backup: there is none yet" in library.run("doctor").text
