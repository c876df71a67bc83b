"""The options of a benchmark run."""

from dataclasses import dataclass
from pathlib import Path

from benchmarks.scales import Scale


@dataclass(frozen=True, slots=True)
class Options:
    scale: Scale
    rounds: int
    seconds: float
    log_level: str

    @property
    def work_folder(self) -> Path:
        """The folder for logs and temporary files of a run."""
        folder = self.scale.folder / "run"
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    @property
    def log(self) -> Path:
        """The log file of the servers. A file, as in a real installation."""
        return self.work_folder / "servers.log"
