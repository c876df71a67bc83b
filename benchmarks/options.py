"""What a run was asked to do."""

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
        """For logs and what lives as long as a run."""
        folder = self.scale.folder / "run"
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    @property
    def log(self) -> Path:
        """Where the servers' log lines go: a file, as in a real installation."""
        return self.work_folder / "servers.log"
