"""The PDF file: one volume, set by typst from data and a template of ours."""

import shutil
from collections.abc import Callable
from importlib import resources
from pathlib import Path

import msgspec
import typst

from bowerbird.clock import MICROSECONDS
from bowerbird.exports import fonts
from bowerbird.exports.arranging import arranged
from bowerbird.exports.pdf_document import document
from bowerbird.exports.tasks import Report, Task
from bowerbird.model.bookmarks import Bookmark


def carry_out(task: Task, say: Callable[[Report], None]) -> Report:
    target = Path(task.target)
    folder = target.with_suffix(".setting")
    folder.mkdir()
    decode = msgspec.json.Decoder(Bookmark).decode
    threads = [[decode(post) for post in thread] for thread in arranged(Path(task.source))]
    installed = typst.Fonts()
    data = document(threads, task.about, task.volume, task.volumes)
    data["fonts"] = fonts.chain(installed.fonts())
    text = msgspec.json.encode(data)
    (folder / "document.json").write_bytes(text)
    notes = fonts.notes(text.decode(), installed.fonts())
    count = sum(map(len, threads))
    # What typst needs is in its file; it will need the memory.
    del threads, data, text
    say(Report(done=count // 2))
    _set(folder, target, task.about.made_at, installed)
    shutil.rmtree(folder)
    Path(task.source).unlink()
    return Report(done=count, is_made=True, notes=notes)


def _set(folder: Path, target: Path, made_at: int, installed: typst.Fonts) -> None:
    template = resources.files("bowerbird.exports").joinpath("document.typ").read_bytes()
    (folder / "document.typ").write_bytes(template)
    typst.compile(
        folder / "document.typ",
        target,
        root=folder,
        font_paths=installed,
        format="pdf",
        timestamp=made_at // MICROSECONDS,
        # Empty folders: a template that asked for a package would find none.
        package_path=folder,
        package_cache_path=folder,
    )
