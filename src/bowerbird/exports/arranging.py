"""Puts posts into the order of a document and parts them into volumes, without holding them.

Newest first by the moment of bookmarking. Posts that one author wrote into one conversation stay
together, oldest first, where the newest of them stands.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Raw, Struct

from bowerbird.exports import posts_file
from bowerbird.exports.dates import period
from bowerbird.exports.tasks import MEBIBYTE, Report, Task
from bowerbird.model import instants

MOST_POSTS: Final = 5_000
# Long articles make long documents of few posts.
MOST_BYTES: Final = 16 * MEBIBYTE
_BUFFER_BYTES: Final = 1 << 18


class _Meta(Struct):
    tweet_conversation_id: str = ""


class _Details(Struct):
    posted_at: str = ""
    meta: _Meta = msgspec.field(default_factory=_Meta)


class _Saved(Struct):
    """As much of a Bookmark as its place depends on."""

    post_id: str
    bookmarked_at: str
    sort_index: int
    tweet_details: _Details
    author_id: str = ""
    author_username: str = ""


class _Place(Struct):
    """Where a post stands: `number` is its place in the file, `size` its bytes there."""

    written: tuple[int, str]
    number: int
    size: int


class _Thread(Struct):
    saved: tuple[int, int]
    places: list[_Place]


def arrange(task: Task, say: Callable[[Report], None]) -> Report:
    """Writes a file of posts a volume: a line a post, its thread and its JSON."""
    source, folder = Path(task.source), Path(task.target)
    volumes = list(_volumes(_threads(source, say)))
    files = [
        _VolumeFile(folder / f"{_name(number, volumes)}.posts")
        for number in range(1, len(volumes) + 1)
    ]
    homes = {
        place.number: (file, rank, thread)
        for file, volume in zip(files, volumes, strict=True)
        for rank, (thread, place) in enumerate(_numbered(volume))
    }
    for number, post in enumerate(_posts(source)):
        file, rank, thread = homes[number]
        file.add(b"%d %d %b\n" % (rank, thread, post))
    for file in files:
        file.flush()
    return Report(is_made=True, names=[file.path.stem for file in files])


def arranged(file: Path) -> list[tuple[int, bytes]]:
    """The posts of a volume in its order, each with the number of its thread."""
    with file.open("rb") as lines:
        found = [line.split(b" ", 2) for line in lines]
    found.sort(key=lambda parts: int(parts[0]))
    return [(int(thread), post) for _, thread, post in found]


class _VolumeFile:
    """Gathers before it writes and is open only then: there may be more volumes than handles."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._waiting = bytearray()
        path.touch()

    def add(self, line: bytes) -> None:
        self._waiting += line
        if len(self._waiting) > _BUFFER_BYTES:
            self.flush()

    def flush(self) -> None:
        with self.path.open("ab") as file:
            file.write(self._waiting)
        self._waiting.clear()


def _posts(source: Path) -> Iterator[Raw]:
    for page in posts_file.pages(source, Raw):
        yield from page


def _threads(source: Path, say: Callable[[Report], None]) -> list[_Thread]:
    decode = msgspec.json.Decoder(_Saved).decode
    threads: dict[tuple[str, str], _Thread] = {}
    for number, post in enumerate(_posts(source)):
        _add(threads, decode(post), number, len(post))
    for thread in threads.values():
        thread.places.sort(key=lambda place: place.written)
    say(Report())
    return sorted(threads.values(), key=lambda thread: thread.saved, reverse=True)


def _add(
    threads: dict[tuple[str, str], _Thread], saved: _Saved, number: int, size: int
) -> None:
    moment = (_instant(saved.bookmarked_at), saved.sort_index)
    written = (_instant(saved.tweet_details.posted_at), saved.post_id.rjust(40, "0"))
    place = _Place(written, number, size)
    conversation = saved.tweet_details.meta.tweet_conversation_id
    author = saved.author_id or saved.author_username.lower()
    key = (conversation, author) if conversation and author else (saved.post_id, "")
    thread = threads.setdefault(key, _Thread(moment, []))
    thread.saved = max(thread.saved, moment)
    thread.places.append(place)


def _instant(text: str) -> int:
    found = instants.parse(text)
    return instants.UNKNOWN if found is None else found


def _volumes(threads: list[_Thread]) -> Iterator[list[_Thread]]:
    """At least one volume, so that a document can say that nothing matched."""
    volume: list[_Thread] = []
    posts = size = 0
    for thread in threads:
        thread_size = sum(place.size for place in thread.places)
        posts += len(thread.places)
        size += thread_size
        if volume and (posts > MOST_POSTS or size > MOST_BYTES):
            yield volume
            volume, posts, size = [], len(thread.places), thread_size
        volume.append(thread)
    yield volume


def _numbered(volume: list[_Thread]) -> Iterator[tuple[int, _Place]]:
    for number, thread in enumerate(volume):
        for place in thread.places:
            yield number, place


def _name(number: int, volumes: list[list[_Thread]]) -> str:
    """Such as `volume-02-of-12-2024-07-to-2024-03.pdf`."""
    if len(volumes) == 1:
        return "export.pdf"
    digits = len(str(len(volumes)))
    volume = volumes[number - 1]
    span = period(volume[0].saved[0], volume[-1].saved[0])
    return f"volume-{number:0{digits}}-of-{len(volumes)}-{span}.pdf"
