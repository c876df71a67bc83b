"""Writes one volume as a PDF file: typst typesets our template from a JSON file."""

import shutil
from collections.abc import Callable
from importlib import resources
from pathlib import Path

import msgspec
import typst

from bowerbird.clock import MICROSECONDS
from bowerbird.exports import fonts
from bowerbird.exports.pdf_document import template_data
from bowerbird.exports.tasks import Report, Task
from bowerbird.exports.volumes import read_threads
from bowerbird.model.bookmarks import Bookmark


def run_step(task: Task, send_report: Callable[[Report], None]) -> Report:
    target = Path(task.target)
    folder = target.with_suffix(".typesetting")
    folder.mkdir()
    decode = msgspec.json.Decoder(Bookmark).decode
    threads = [[decode(post) for post in thread] for thread in read_threads(Path(task.source))]
    installed = typst.Fonts()
    data = template_data(threads, task.document, task.volume, task.volumes)
    data["fonts"] = fonts.font_families(installed.fonts())
    text = msgspec.json.encode(data)
    (folder / "document.json").write_bytes(text)
    notes = fonts.missing_font_notes(text.decode(), installed.fonts())
    count = sum(map(len, threads))
    # typst reads the data from the file, and needs this memory itself.
    del threads, data, text
    send_report(Report(done=count // 2))
    _typeset(folder, target, task.document.created_at, installed)
    shutil.rmtree(folder)
    Path(task.source).unlink()
    return Report(done=count, is_finished=True, notes=notes)


def _typeset(folder: Path, target: Path, created_at: int, installed: typst.Fonts) -> None:
    template = resources.files("bowerbird.exports").joinpath("document.typ").read_bytes()
    (folder / "document.typ").write_bytes(template)
    typst.compile(
        folder / "document.typ",
        target,
        root=folder,
        font_paths=installed,
        format="pdf",
        timestamp=created_at // MICROSECONDS,
        # A folder without packages: the template cannot import any.
        package_path=folder,
        package_cache_path=folder,
    )
