"""The wheels contain every file of their packages, and name everything that they need."""

import re
import subprocess
import tomllib
import zipfile
from pathlib import Path

import pytest

from bowerbird import __version__

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
