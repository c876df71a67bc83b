"""The source of an earlier commit, and the steps of the schema that it has."""

import io
import re
import subprocess
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

REPOSITORY: Final = Path(__file__).parents[2]
_STEPS: Final = "bowerbird/storage/migrations"
# Releases before 0.8.0 have no steps for both databases.
_FOLDERS: Final = ("both", "postgres")
_COMPATIBLE: Final = re.compile(r"^-- compatible: yes$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Step:
    number: int
    name: str
    sql: str

    @property
    def is_compatible(self) -> bool:
        return _COMPATIBLE.search(self.sql) is not None


@dataclass(frozen=True, slots=True)
class Release:
    # "old" or "new".
    name: str
    commit: str
    source: Path

    @property
    def steps(self) -> list[Step]:
        files = [
            file
            for folder in _FOLDERS
            for file in (self.source / _STEPS / folder).glob("[0-9]*.sql")
        ]
        return [
            Step(int(file.name[:4]), file.stem, file.read_text(encoding="utf-8"))
            for file in sorted(files, key=lambda file: file.name)
        ]

    def has_setting(self, name: str) -> bool:
        files = (self.source / "bowerbird").glob("settings/*.py")
        pattern = re.compile(rf"^    {name.lower()}: ", re.MULTILINE)
        return any(pattern.search(file.read_text(encoding="utf-8")) for file in files)


def current() -> Release:
    return Release("new", _git("rev-parse", "--short", "HEAD"), REPOSITORY / "src")


def archived(reference: str, folder: Path) -> Release:
    """Unpacks `src` of a commit. The present Python environment runs it."""
    commit = _git("rev-parse", "--short", f"{reference}^{{commit}}")
    packed = subprocess.run(
        ["git", "archive", commit, "src"], cwd=REPOSITORY, capture_output=True, check=True
    )
    with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as archive:
        archive.extractall(folder, filter="data")
    return Release("old", commit, folder / "src")


def between(old: Release, new: Release) -> list[Step]:
    """The steps that the upgrade applies."""
    known = {step.number for step in old.steps}
    return [step for step in new.steps if step.number not in known]


def _git(*words: str) -> str:
    ran = subprocess.run(
        ["git", *words], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    return ran.stdout.strip()
