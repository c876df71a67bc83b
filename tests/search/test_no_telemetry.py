"""The packages that we use send nothing and leave nothing in the home folder."""

import subprocess
import sys
from pathlib import Path


def test_onnxruntime_stores_no_identifier_of_the_machine(tmp_path: Path) -> None:
    code = "import bowerbird, onnxruntime"
    environment = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}

    subprocess.run([sys.executable, "-c", code], env=environment, check=True)

    assert list(tmp_path.rglob("*")) == []
