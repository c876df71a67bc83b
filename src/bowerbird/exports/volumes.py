"""Writes the PDF files of an export: sorts the posts, splits them into volumes, typesets each.

Posts are sorted by `bookmarked_at`, newest first, without holding them in memory. Posts by one
author in one conversation form a thread: they stay together, oldest first, at the position of the
one bookmarked last. typst typesets our template from a JSON file.
"""

import itertools
import shutil
import zipfile
from array import array
from collections.abc import Callable, Iterator, Sequence
from importlib import resources
from pathlib import Path
from typing import Any, Final

import msgspec
import typst
from msgspec import Raw, Struct

from bowerbird.clock import MICROSECONDS
from bowerbird.exports import fonts, tasks
from bowerbird.exports.pdf_document import Thread, period, template_data
from bowerbird.exports.tasks import Pictures, Report, Task
from bowerbird.model import instants, json_depth
from bowerbird.model.posts.bookmarks import Bookmark

MAX_POSTS: Final = 5_000
"""The maximum in one document; a larger export is split into volumes."""
# Typesetting uses about 220 bytes of memory per byte of text, and 130 kB for a short post. With
# these limits an export of 10,000 posts stays below 400 MB.
_MEMORY_PER_BYTE: Final = 220
_VOLUME_POSTS: Final = 2_000
_MAX_WEIGHT, _VOLUME_WEIGHT = 4_000_000, 1_300_000
# The part of a post's JSON that is not printed: field names, picture addresses, numbers.
_UNPRINTED_BYTES: Final = 700
_MIN_WEIGHT: Final = 100
_MAX_THREAD_POSTS: Final = 200
_BUFFER_BYTES: Final = 1 << 18
_MAX_INT64: Final = 2**63 - 1


class _Meta(Struct):
    tweet_conversation_id: str = ""


class _Details(Struct):
    posted_at: str = ""
    meta: _Meta = msgspec.field(default_factory=_Meta)


class _Post(Struct):
    """The fields of a Bookmark that decide its position."""

    post_id: str
    bookmarked_at: str
    sort_index: int
    tweet_details: _Details
    author_id: str = ""
    author_username: str = ""


def _split(task: Task, send_report: Callable[[Report], None]) -> Report:
    """Writes one file per volume, with one line per post: its rank, its thread and its JSON."""
    source, folder = Path(task.source), Path(task.target)
    index = PostIndex(tasks.read_pictures(task.pictures))
    for page in tasks.read_pages(source, Raw):
        index.add(page)
        send_report(Report())
    volumes = list(index.volumes())
    files = [
        _VolumeFile(folder / f"{_file_name(number, len(volumes), index.period(volume))}.posts")
        for number, volume in enumerate(volumes, 1)
    ]
    _distribute(source, volumes, files, len(index))
    return Report(is_finished=True, names=[file.path.stem for file in files])


def read_threads(file: Path) -> list[list[bytes]]:
    """The threads of a volume, in the order of the document."""
    with file.open("rb") as lines:
        posts = [line.split(b" ", 2) for line in lines]
    posts.sort(key=lambda parts: int(parts[0]))
    return [
        [post for _, _, post in thread]
        for _, thread in itertools.groupby(posts, lambda parts: parts[1])
    ]


Volume = list[list[int]]
"""The threads of a volume. A post is its index in the file of posts."""


class PostIndex:
    """The sort keys of every post, in about fifty bytes per post."""

    def __init__(self, pictures: Pictures | None = None) -> None:
        self._pictures = pictures or {}
        self._decode = msgspec.json.Decoder(_Post).decode
        self._thread_numbers: dict[tuple[str, str], int] = {}
        # Per thread: `bookmarked_at` and `sort_index` of the post bookmarked last.
        self._newest: list[tuple[int, int]] = []
        # Per post. The weight is the number of bytes to typeset.
        self._thread = array("q")
        self._posted_at = array("q")
        self._post_id = array("q")
        self._weight = array("q")

    def __len__(self) -> int:
        return len(self._thread)

    def add(self, page: list[Raw]) -> None:
        for raw in page:
            post = self._decode(raw)
            self._thread.append(self._thread_of(post))
            self._posted_at.append(_instant(post.tweet_details.posted_at))
            self._post_id.append(min(int(post.post_id), _MAX_INT64))
            self._weight.append(
                max(len(raw) - _UNPRINTED_BYTES, _MIN_WEIGHT) + self._picture_weight(raw)
            )

    def _picture_weight(self, raw: Raw) -> int:
        """The number of bytes of text that would take as much memory as the post's pictures."""
        if not self._pictures:
            return 0
        details = msgspec.json.decode(raw)["tweet_details"]
        found = [self._pictures[url] for url in tasks.pictures_of(details, self._pictures)]
        pixels = sum(picture.width * picture.height for picture in found)
        return pixels * tasks.BYTES_PER_PIXEL // _MEMORY_PER_BYTE

    def _thread_of(self, post: _Post) -> int:
        conversation = post.tweet_details.meta.tweet_conversation_id
        author = post.author_id or post.author_username.lower()
        key = (conversation, author) if conversation and author else (post.post_id, "")
        number = self._thread_numbers.setdefault(key, len(self._newest))
        moment = (_instant(post.bookmarked_at), post.sort_index)
        if number == len(self._newest):
            self._newest.append(moment)
        self._newest[number] = max(self._newest[number], moment)
        return number

    def volumes(self) -> Iterator[Volume]:
        """Yields one empty volume when no post matched; its document says so."""
        fits_one_volume = len(self) <= MAX_POSTS and sum(self._weight) <= _MAX_WEIGHT
        max_posts = MAX_POSTS if fits_one_volume else _VOLUME_POSTS
        max_weight = _MAX_WEIGHT if fits_one_volume else _VOLUME_WEIGHT
        volume: Volume = []
        posts = weight = 0
        for thread in self._threads():
            thread_weight = sum(self._weight[post] for post in thread)
            posts, weight = posts + len(thread), weight + thread_weight
            if volume and (posts > max_posts or weight > max_weight):
                yield volume
                volume, posts, weight = [], len(thread), thread_weight
            volume.append(thread)
        yield volume

    def _threads(self) -> Iterator[list[int]]:
        """Splits very long threads, so that every thread fits into a volume."""
        threads = sorted(range(len(self._newest)), key=self._newest.__getitem__, reverse=True)
        rank = array("q", bytes(8 * len(threads)))
        for position, thread in enumerate(threads):
            rank[thread] = position
        posts = sorted(
            range(len(self)),
            key=lambda post: (rank[self._thread[post]], self._posted_at[post], self._post_id[post]),
        )
        for _, thread_posts in itertools.groupby(posts, self._thread.__getitem__):
            whole = list(thread_posts)
            for start in range(0, len(whole), _MAX_THREAD_POSTS):
                yield whole[start : start + _MAX_THREAD_POSTS]

    def period(self, volume: Volume) -> str:
        moments = [self._newest[self._thread[thread[0]]][0] for thread in volume]
        return period(moments[0], moments[-1]) if moments else ""


class _VolumeFile:
    """Buffers lines and opens the file only to write them.

    An export can have more volumes than a process may have open files.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._buffer = bytearray()
        path.touch()

    def add(self, line: bytes) -> None:
        self._buffer += line
        if len(self._buffer) > _BUFFER_BYTES:
            self.flush()

    def flush(self) -> None:
        with self.path.open("ab") as file:
            file.write(self._buffer)
        self._buffer.clear()


def _distribute(source: Path, volumes: list[Volume], files: list[_VolumeFile], count: int) -> None:
    volume_numbers, ranks, threads = (array("q", bytes(8 * count)) for _ in range(3))
    next_rank = itertools.count()
    for volume_number, volume in enumerate(volumes):
        for thread_number, thread in enumerate(volume):
            for number in thread:
                volume_numbers[number], ranks[number] = volume_number, next(next_rank)
                threads[number] = thread_number
    posts = (post for page in tasks.read_pages(source, Raw) for post in page)
    for number, raw in enumerate(posts):
        post = json_depth.cut(bytes(raw))
        files[volume_numbers[number]].add(b"%d %d %b\n" % (ranks[number], threads[number], post))
    for file in files:
        file.flush()


def _instant(text: str) -> int:
    instant = instants.parse(text)
    return instants.UNKNOWN if instant is None else instant


def _file_name(number: int, count: int, months: str) -> str:
    """For example `volume-02-of-12-2024-07-to-2024-03.pdf`."""
    digits = len(str(count))
    return "export.pdf" if count == 1 else f"volume-{number:0{digits}}-of-{count}-{months}.pdf"


_TEMPLATE: Final = "document.typ"
_UNREADABLE: Final = "Some images are damaged. They are described instead."


def _typeset(task: Task, send_report: Callable[[Report], None]) -> Report:
    target = Path(task.target)
    folder = target.with_suffix(".typesetting")
    folder.mkdir()
    decode = msgspec.json.Decoder(Bookmark).decode
    threads = [[decode(post) for post in thread] for thread in read_threads(Path(task.source))]
    installed = typst.Fonts()
    template = resources.files("bowerbird.exports").joinpath(_TEMPLATE).read_bytes()
    (folder / _TEMPLATE).write_bytes(template)
    pictures = tasks.read_pictures(task.pictures)
    notes = _write_data(task, folder, threads, pictures, installed)
    count = sum(map(len, threads))
    if not pictures:
        # typst reads the data from the file, and needs this memory itself.
        del threads
    send_report(Report(done=count // 2))
    created_at = task.document.created_at // MICROSECONDS
    try:
        _compile(folder, target, created_at, installed)
    except RuntimeError:
        # A picture that its header describes correctly can still be damaged.
        readable = _readable(folder, pictures, installed)
        if len(readable) == len(pictures):
            raise
        _write_data(task, folder, threads, readable, installed)
        _compile(folder, target, created_at, installed)
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


def _compile(folder: Path, target: Path, created_at: int, installed: typst.Fonts) -> None:
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


def _zip(task: Task, send_report: Callable[[Report], None]) -> Report:
    with zipfile.ZipFile(task.target, "w") as archive:
        for volume in sorted(Path(task.source).glob("*.pdf")):
            # Not compressed: a PDF is compressed already.
            archive.write(volume, volume.name)
            volume.unlink()
            send_report(Report(done=task.document.total))
    return Report(done=task.document.total, is_finished=True)


_STEPS: Final = {"split": _split, "pdf": _typeset, "zip": _zip}


def run_step(task: Task, send_report: Callable[[Report], None]) -> Report:
    return _STEPS[task.step](task, send_report)
