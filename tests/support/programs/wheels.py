"""Our wheels, and Python environments in which they are installed without a download."""

import shutil
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[3]
PACKAGES = Path(sysconfig.get_path("purelib"))
# Variables under which pip finds nothing, wherever this machine has its packages.
OFFLINE = {"PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": "/dev/null", "PIP_FIND_LINKS": ""}
# Those of the tests; an installation has its own, or none.
_LEFT_OUT = (
    "pip-",
    "bowerbird",
    "__editable__",
    "setuptools",
    "distutils",
    "_distutils",
    "__pycache__",
)


def build_wheels(folder: Path) -> dict[str, Path]:
    """The wheels by the name of their package."""
    command = [sys.executable, str(ROOT / "packages" / "build.py"), str(folder)]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    wheels = [Path(line) for line in built.stdout.splitlines()]
    return {wheel.name.split("-")[0]: wheel for wheel in wheels}


def environment_with(folder: Path, wheels: Sequence[Path]) -> Path:
    """A new environment with these wheels, which sees the packages that they depend on.

    It has no pip, like those of `uv tool`.
    """
    prefix = folder / "environment"
    venv.create(prefix, with_pip=False, symlinks=True)
    command = [sys.executable, "-m", "pip", "--python", str(prefix / "bin" / "python")]
    command += ["install", "--quiet", "--disable-pip-version-check", "--no-index", "--no-deps"]
    subprocess.run([*command, *map(str, wheels)], check=True)
    _show(prefix, _links(folder / "dependencies"))
    return prefix


def environment_beside(folder: Path, other: Path) -> Path:
    """A new environment that sees the packages of another one. It has no models."""
    prefix = folder / "environment"
    venv.create(prefix, with_pip=False, symlinks=True)
    _show(prefix, _site_packages(other))
    _show(prefix, _links(folder / "dependencies"))
    return prefix


def _site_packages(prefix: Path) -> Path:
    [folder] = prefix.glob("lib/python*/site-packages")
    return folder


def _show(prefix: Path, packages: Path) -> None:
    paths = _site_packages(prefix) / "dependencies.pth"
    with paths.open("a", encoding="utf-8") as file:
        file.write(f"{packages}\n")


def _links(folder: Path) -> Path:
    folder.mkdir()
    for entry in PACKAGES.iterdir():
        if entry.name != "pip" and not entry.name.startswith(_LEFT_OUT):
            (folder / entry.name).symlink_to(entry)
    return folder


def copy_models(source: Path, prefix: Path) -> None:
    """Without the files that name the present models, which a build writes last."""
    names = shutil.ignore_patterns("current", "multilingual")
    shutil.copytree(source, model_folder_of(prefix), dirs_exist_ok=True, ignore=names)


def model_folder_of(prefix: Path) -> Path:
    return prefix / "share" / "bowerbird" / "model"
