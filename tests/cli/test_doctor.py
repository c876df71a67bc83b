"""`bowerbird doctor`: a line for each thing the service needs, and how to mend it."""

import shutil
import socket
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from bowerbird.search.models import model_folder
from bowerbird.settings import Settings
from tests.cli.libraries import Library, sqlite_library
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


class Stranger(BaseHTTPRequestHandler):
    body = b"hello"

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(self.body)

    def log_message(self, *_: object) -> None:
        pass


class Ours(Stranger):
    body = b'{"status":false,"code":"UNAUTHORIZED"}'


def test_a_well_library_has_no_cross(library: Library) -> None:
    library.fill(1)
    ran = library.run("doctor")
    assert ran.code == 0
    assert "✗" not in ran.text
    assert "✓ database: SQLite 3." in ran.text
    assert "journal mode wal" in ran.text
    assert "✓ schema: is current" in ran.text
    assert "✓ model: all-MiniLM-L6-v2-int8" in ran.text
    assert f"✓ port: 127.0.0.1:{library.settings.port} is free" in ran.text


def test_a_fresh_machine_is_well_and_stays_untouched(library: Library) -> None:
    ran = library.run("doctor")
    assert ran.code == 0
    assert "will be made at first start" in ran.text
    assert "✓ database: there is none yet" in ran.text
    assert not library.folder.exists()


def test_settings_are_shown_without_secrets(library: Library, postgres: ThrowawayPostgres) -> None:
    url = postgres.url() + "&application_name=hush"
    ran = Library({**library.environment, "BOWERBIRD_DATABASE_URL": url}).run("doctor")
    assert "BOWERBIRD_DATABASE_URL=(hidden)" in ran.text
    assert "hush" not in ran.text
    assert f"BOWERBIRD_PORT={library.settings.port}" in ran.text


def test_a_bad_setting_is_told_in_a_sentence(library: Library) -> None:
    ran = Library({**library.environment, "BOWERBIRD_PROT": "1"}).run("doctor")
    assert ran.code == 1
    assert "✗ settings: BOWERBIRD_PROT is not a setting. Did you mean BOWERBIRD_PORT?" in ran.text


def test_postgresql_is_asked_for_version_extension_and_schema(
    library: Library, postgres: ThrowawayPostgres
) -> None:
    with postgres.fresh_database() as url:
        bare = Library({**library.environment, "BOWERBIRD_DATABASE_URL": url})
        ran = bare.run("doctor")
        assert ran.code == 1
        assert "✓ database: PostgreSQL 1" in ran.text
        assert "btree_gin is available" in ran.text
        assert "✗ schema: not yet applied: 0001_library.sql" in ran.text
        assert "mend: bowerbird migrate" in ran.text
        assert bare.run("migrate").code == 0
        assert bare.run("doctor").code == 0


def test_a_database_that_is_away_is_told(library: Library) -> None:
    url = "postgresql://nobody@127.0.0.1:1/none"
    ran = Library({**library.environment, "BOWERBIRD_DATABASE_URL": url}).run("doctor")
    assert ran.code == 1
    assert "✗ database: PostgreSQL cannot be reached" in ran.text


def test_a_broken_file_is_told(library: Library) -> None:
    library.folder.mkdir()
    (library.folder / "bowerbird.db").write_bytes(b"no database" * 1000)
    ran = library.run("doctor")
    assert ran.code == 1
    assert "✗ database:" in ran.text
    assert "bowerbird restore FILE" in ran.text


def test_a_folder_that_cannot_be_used_is_told(library: Library) -> None:
    library.folder.write_text("a file")
    ran = library.run("doctor")
    assert ran.code == 1
    assert f"✗ data folder: {library.folder} cannot be written to" in ran.text


@pytest.mark.parametrize(
    ("handler", "mark", "sentence"),
    [(Stranger, "✗", "is used by another program"), (Ours, "✓", "is served by bowerbird")],
)
def test_a_taken_port_is_told_by_who_answers(
    library: Library, handler: type[Stranger], mark: str, sentence: str
) -> None:
    port = library.settings.port
    with HTTPServer(("127.0.0.1", port), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        ran = library.run("doctor")
        server.shutdown()
    assert f"{mark} port: 127.0.0.1:{port} {sentence}" in ran.text
    assert ran.code == (mark == "✗")


def test_an_address_of_another_machine_is_told(library: Library) -> None:
    ran = Library({**library.environment, "BOWERBIRD_HOST": "192.0.2.1"}).run("doctor")
    assert ran.code == 1
    assert "is no address of this machine" in ran.text


def test_fonts_are_looked_for_by_script(library: Library) -> None:
    ran = library.run("doctor")

    scripts = "Latin, Arabic, Hebrew, Devanagari, Thai, CJK, emoji"
    assert f"✓ fonts: PDF exports can be set in {scripts}" in ran.text


def test_missing_fonts_are_told_with_their_packages(library: Library, tmp_path: Path) -> None:
    settings = tmp_path / "fonts.conf"
    settings.write_text(f"<fontconfig><dir>{tmp_path}</dir></fontconfig>")

    ran = Library({**library.environment, "FONTCONFIG_FILE": str(settings)}).run("doctor")

    assert "! fonts: none for Latin, Arabic, Hebrew, Devanagari, Thai, CJK, emoji;" in ran.text
    assert "mend: sh requirements/system.sh fonts, or apt install fonts-noto-cjk" in ran.text
    assert ran.code == 0


def test_a_missing_model_is_worth_knowing(library: Library, tmp_path: Path) -> None:
    other = Library({**library.environment, "BOWERBIRD_MODEL_DIR": str(tmp_path / "none")})

    ran = other.run("doctor")

    assert ran.code == 0
    assert f"! model: {tmp_path / 'none'} holds none" in ran.text
    assert "mend: make model" in ran.text


def test_a_damaged_model_is_worth_knowing(library: Library, tmp_path: Path) -> None:
    folder = model_folder(Settings(model_dir=MODEL_DIR))
    shutil.copytree(folder, tmp_path / "model")
    (file,) = (tmp_path / "model").glob("*/tokenizer.json")
    file.unlink()
    other = Library({**library.environment, "BOWERBIRD_MODEL_DIR": str(tmp_path / "model")})

    ran = other.run("doctor")

    assert "! model: tokenizer.json is not as it was built" in ran.text
    assert "mend: make model" in ran.text


def test_an_embedding_service_stands_in_for_the_model(library: Library) -> None:
    url = {"BOWERBIRD_EMBEDDING_URL": "http://localhost:9/v1", "BOWERBIRD_EMBEDDING_KEY": "hush"}

    ran = Library({**library.environment, **url}).run("doctor")

    assert "✓ model: text-embedding-3-small, by the service" in ran.text
    assert "hush" not in ran.text
