"""One zip of the volumes that a large PDF export is made in."""

import zipfile
from collections.abc import Callable
from pathlib import Path

from bowerbird.exports.tasks import Report, Task


def carry_out(task: Task, say: Callable[[Report], None]) -> Report:
    with zipfile.ZipFile(task.target, "w") as packed:
        for volume in sorted(Path(task.source).glob("*.pdf")):
            # Stored as they are: a PDF is compressed already.
            packed.write(volume, volume.name)
            volume.unlink()
            say(Report(done=task.about.total))
    return Report(done=task.about.total, is_made=True)
