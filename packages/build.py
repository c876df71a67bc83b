"""Builds the wheels of bowerbird and bowerbird-mcp; `make wheel` runs it.

It builds from a copy of the sources, because setuptools adds what an earlier build has left beside
them.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from subprocess import PIPE
from typing import Final

ROOT: Final = Path(__file__).parents[1]
PROJECTS: Final = (ROOT, ROOT / "packages" / "bowerbird-mcp")
PACK: Final = ROOT / "extension" / "build.py"
_FILES: Final = ("pyproject.toml", "README.md")
_LEFT_OUT: Final = shutil.ignore_patterns("__pycache__", "*.egg-info", "*.pyc")


def build(folder: Path) -> list[Path]:
    return [_build(project, folder) for project in PROJECTS]


def _build(project: Path, folder: Path) -> Path:
    with tempfile.TemporaryDirectory() as temporary:
        source, output = Path(temporary) / "source", Path(temporary) / "output"
        shutil.copytree(project / "src", source / "src", ignore=_LEFT_OUT)
        for name in _FILES:
            shutil.copy(project / name, source)
        shutil.copy(ROOT / "LICENSE", source)
        if project == ROOT:
            # The page /connect offers it.
            packed = source / "src" / "bowerbird" / "web" / "extension"
            subprocess.run([sys.executable, str(PACK), str(packed)], check=True, stdout=PIPE)
        command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check"]
        command += ["--no-index", "--no-deps", "--no-build-isolation", "--no-cache-dir"]
        command += ["--wheel-dir", str(output), str(source)]
        subprocess.run(command, check=True)
        [wheel] = output.iterdir()
        folder.mkdir(parents=True, exist_ok=True)
        return Path(shutil.move(wheel, folder / wheel.name))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="the folder for the wheels")
    for wheel in build(parser.parse_args().folder):
        print(wheel)
    return 0


if __name__ == "__main__":
    sys.exit(main())
