"""Committed results of benchmarks and endurance runs can be checked: their commits exist."""

import re
import subprocess
from pathlib import Path

from tests.support.offenders import Offenders

ROOT = Path(__file__).parents[2]
# In the name of the file, in the title, and in the column of a table.
COMMIT = re.compile(r"(?:commit |from |to |`|\| )([0-9a-f]{7,8}(?:-changed)?)\b")


def test_every_result_names_commits_of_the_history() -> None:
    known = run("rev-list", "HEAD").split()
    assert run("rev-parse", "--is-shallow-repository") == "false", "run: git fetch --unshallow"
    abbreviated = {commit[:length] for commit in known for length in (7, 8)}
    results = [*ROOT.glob("benchmarks/results/*.md"), *ROOT.glob("endurance/results/*.md")]
    offenders = Offenders()

    for result in results:
        of_name = re.fullmatch(r"\d{4}-\d\d-\d\d-([0-9a-f]+)(?:-[a-z-]+)?", result.stem)
        named = {of_name[1] if of_name else result.stem, *COMMIT.findall(result.read_text())}
        with offenders.check(result.name):
            assert named <= abbreviated

    assert offenders == {}
    assert len(results) > 5


def run(*arguments: str) -> str:
    ran = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    return ran.stdout.strip()
