"""A restore that is killed leaves the old library or the new one, whatever the step."""

import shutil
import signal
import subprocess
from pathlib import Path

import apsw
import pytest

from bowerbird.storage.sqlite import replacing
from tests.cli.libraries import Library, posts, sqlite_library

# Of the second tier, as all kills are.
pytestmark = pytest.mark.slow

# Runs a command in a forked process that kills itself with SIGKILL at the n-th change of the file
# system. For each line of the input, so that everything is imported once.
KILLED_AT_STEP = """
import os, signal, sys
left = 1_000_000
def counted(function):
    def step(*arguments, **options):
        global left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return function(*arguments, **options)
    return step
for name in ("rename", "replace", "link", "unlink", "rmdir"):
    setattr(os, name, counted(getattr(os, name)))
from bowerbird.cli import main
for line in sys.stdin:
    steps, folder, *arguments = line.rstrip("\\n").split("\\t")
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        left, os.environ["BOWERBIRD_DATA_DIR"], sys.argv[1:] = int(steps), folder, arguments
        main()
        os._exit(1)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


@pytest.fixture
def library(tmp_path: Path) -> Library:
    library = sqlite_library(tmp_path / "data")
    library.fill(5)
    (library.folder / "files").mkdir()
    (library.folder / "files" / "export.csv").write_text("five")
    return library


@pytest.fixture
def copy(library: Library, tmp_path: Path) -> Path:
    copy = tmp_path / "copy.tar"
    assert library.run("backup", copy).code == 0
    return copy


def test_a_restore_killed_at_any_step_leaves_the_old_or_the_new_library(
    library: Library, copy: Path, tmp_path: Path
) -> None:
    original = _left_by_a_killed_server(library, tmp_path / "original")
    with library.start(script=KILLED_AT_STEP, stdin=subprocess.PIPE) as process:
        seen = _restored_at_each_step(process, original, copy)
    assert set(seen) == {(7, "seven"), (5, "five")}
    assert seen == sorted(seen, reverse=True)
    assert len(seen) > 8


def _restored_at_each_step(
    process: subprocess.Popen[str], original: Path, copy: Path
) -> list[tuple[int, str]]:
    """The posts and the file after each restore. Only the last restore was not killed."""
    assert process.stdin
    assert process.stdout
    seen = []
    for step in range(1, 100):
        folder = original.with_name(f"killed-{step}")
        shutil.copytree(original, folder)
        killed = sqlite_library(folder)
        print(step, folder, "restore", copy, "--yes", sep="\t", file=process.stdin, flush=True)
        code = int(process.stdout.readline())
        # The file must be a complete database even before our code opens it and recovers.
        assert killed.value("PRAGMA integrity_check") == "ok"
        assert posts(killed) in (5, 7)
        assert killed.run("check", "--deep").code == 0
        seen.append((posts(killed), (folder / "files" / "export.csv").read_text()))
        assert not replacing.is_interrupted(folder)
        if code == 0:
            break
        assert code == -signal.SIGKILL
    process.stdin.close()
    return seen


def _left_by_a_killed_server(library: Library, target: Path) -> Path:
    """Seven posts, two of them only in the write-ahead log."""
    (library.folder / "files" / "export.csv").write_text("seven")
    holding = apsw.Connection(str(library.folder / "bowerbird.db"))
    holding.execute("SELECT count(*) FROM bookmark").fetchall()
    library.fill(2, first=100)
    shutil.copytree(library.folder, target)
    holding.close()
    (target / "bowerbird.db-shm").unlink()
    assert (target / "bowerbird.db-wal").stat().st_size > 0
    return target
