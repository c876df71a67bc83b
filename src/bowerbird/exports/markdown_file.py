"""Writes the zip file of Markdown files: one per post, and the pictures beside them."""

import time
import zipfile
from collections.abc import Callable
from pathlib import Path

from bowerbird.clock import MICROSECONDS
from bowerbird.exports import posts_file
from bowerbird.exports.markdown_note import PICTURES, note_of
from bowerbird.exports.tasks import Report, Task
from bowerbird.model.bookmarks import Bookmark


def run_step(task: Task, send_report: Callable[[Report], None]) -> Report:
    pictures = posts_file.read(task.pictures)
    files = {picture.name: picture.file for picture in pictures.values()}
    # A zip file cannot have an earlier time than 1980.
    date = max(time.gmtime(task.document.created_at // MICROSECONDS)[:6], (1980, 1, 1, 0, 0, 0))
    shown: dict[str, None] = {}
    done = 0
    with zipfile.ZipFile(task.target, "w") as archive:
        for page in posts_file.read_pages(Path(task.source), Bookmark):
            for post in page:
                note = note_of(post, pictures)
                info = zipfile.ZipInfo(note.name, date)
                archive.writestr(info, note.text, zipfile.ZIP_DEFLATED)
                shown |= dict.fromkeys(note.pictures)
            done += len(page)
            send_report(Report(done=done))
        for name in shown:
            # Not compressed: pictures are compressed already.
            info = zipfile.ZipInfo(f"{PICTURES}/{name}", date)
            with (Path(task.pictures) / files[name]).open("rb") as source:
                archive.writestr(info, source.read())
    return Report(done=done, is_finished=True)
