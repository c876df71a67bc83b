"""Packs the volumes of a large PDF export into one zip file."""

import zipfile
from collections.abc import Callable
from pathlib import Path

from bowerbird.exports.tasks import Report, Task


def run_step(task: Task, send_report: Callable[[Report], None]) -> Report:
    with zipfile.ZipFile(task.target, "w") as archive:
        for volume in sorted(Path(task.source).glob("*.pdf")):
            # Not compressed: a PDF is compressed already.
            archive.write(volume, volume.name)
            volume.unlink()
            send_report(Report(done=task.document.total))
    return Report(done=task.document.total, is_finished=True)
