"""Writes one volume as a PDF file: typst typesets our template from a JSON file."""

import shutil
from collections.abc import Callable, Sequence
from importlib import resources
from pathlib import Path
from typing import Any, Final

import msgspec
import typst

from bowerbird.clock import MICROSECONDS
from bowerbird.exports import fonts, posts_file
from bowerbird.exports.pdf_document import Thread, template_data
from bowerbird.exports.posts_file import Pictures
from bowerbird.exports.tasks import Report, Task
from bowerbird.exports.volumes import read_threads
from bowerbird.model.posts.bookmarks import Bookmark

_TEMPLATE: Final = "document.typ"
_UNREADABLE: Final = "Some images are damaged. They are described instead."


def run_step(task: Task, send_report: Callable[[Report], None]) -> Report:
    target = Path(task.target)
    folder = target.with_suffix(".typesetting")
    folder.mkdir()
    decode = msgspec.json.Decoder(Bookmark).decode
    threads = [[decode(post) for post in thread] for thread in read_threads(Path(task.source))]
    installed = typst.Fonts()
    template = resources.files("bowerbird.exports").joinpath(_TEMPLATE).read_bytes()
    (folder / _TEMPLATE).write_bytes(template)
    pictures = posts_file.read(task.pictures)
    notes = _write_data(task, folder, threads, pictures, installed)
    count = sum(map(len, threads))
    if not pictures:
        # typst reads the data from the file, and needs this memory itself.
        del threads
    send_report(Report(done=count // 2))
    created_at = task.document.created_at // MICROSECONDS
    try:
        _typeset(folder, target, created_at, installed)
    except RuntimeError:
        # A picture that its header describes correctly can still be damaged.
        readable = _readable(folder, pictures, installed)
        if len(readable) == len(pictures):
            raise
        _write_data(task, folder, threads, readable, installed)
        _typeset(folder, target, created_at, installed)
        notes = [*notes, _UNREADABLE]
    shutil.rmtree(folder)
    Path(task.source).unlink()
    return Report(done=count, is_finished=True, notes=notes)


def _write_data(
    task: Task,
    folder: Path,
    threads: Sequence[Thread],
    pictures: Pictures,
    installed: typst.Fonts,
) -> list[str]:
    """Writes what the template prints, and returns notes about missing fonts."""
    data = template_data(threads, task.document, task.volume, task.volumes, pictures)
    data["fonts"] = fonts.font_families(installed.fonts())
    for name in _files(data):
        if not (folder / name).exists():
            (folder / name).hardlink_to(Path(task.pictures) / name)
    text = msgspec.json.encode(data)
    (folder / "document.json").write_bytes(text)
    return fonts.missing_font_notes(text.decode(), installed.fonts())


def _files(data: dict[str, Any]) -> set[str]:
    """The pictures of this volume."""
    posts = [post for month in data["months"] for thread in month["threads"] for post in thread]
    shown = [part for post in posts for part in (post, post.get("quoted", {}))]
    return {picture["file"] for part in shown for picture in part.get("pictures", ())}


def _readable(folder: Path, pictures: Pictures, installed: typst.Fonts) -> Pictures:
    """The pictures that can be typeset, each tried alone."""
    damaged = set()
    for name in {picture.file for picture in pictures.values()}:
        if not (folder / name).exists():
            continue
        (folder / "picture.typ").write_text(f'#image("{name}")', encoding="utf-8")
        try:
            typst.compile(folder / "picture.typ", root=folder, font_paths=installed, format="pdf")
        except RuntimeError:
            damaged.add(name)
    return {url: each for url, each in pictures.items() if each.file not in damaged}


def _typeset(folder: Path, target: Path, created_at: int, installed: typst.Fonts) -> None:
    typst.compile(
        folder / _TEMPLATE,
        target,
        root=folder,
        font_paths=installed,
        format="pdf",
        timestamp=created_at,
        # A folder without packages: the template cannot import any.
        package_path=folder,
        package_cache_path=folder,
    )
