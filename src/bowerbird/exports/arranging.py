"""Puts posts into the order of a document and parts them into volumes, without holding them.

Newest first by the moment of bookmarking. Posts that one author wrote into one conversation stay
together, oldest first, where the newest of them stands.
"""

import itertools
from array import array
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Raw, Struct

from bowerbird.exports import posts_file
from bowerbird.exports.dates import period
from bowerbird.exports.tasks import Report, Task
from bowerbird.model import instants

MOST_POSTS: Final = 5_000
"""One document holds so many posts; more are parted into volumes."""
# Setting a text takes about 220 times its bytes of memory, and a short post 130 kB. Whoever asks
# for 10,000 posts is to have them within 400 MB.
_VOLUME_POSTS: Final = 2_000
_MOST_WEIGHT, _VOLUME_WEIGHT = 4_000_000, 1_300_000
# What of a post's JSON is not set: names of fields, pictures, numbers.
_UNSET_BYTES: Final = 700
_LEAST_WEIGHT: Final = 100
_THREAD_POSTS: Final = 200
_BUFFER_BYTES: Final = 1 << 18
_LARGEST: Final = 2**63 - 1


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


def carry_out(task: Task, say: Callable[[Report], None]) -> Report:
    """Writes a file of posts a volume: a line a post, with its rank, its thread and its JSON."""
    source, folder = Path(task.source), Path(task.target)
    places = Places()
    for page in posts_file.pages(source, Raw):
        places.add(page)
        say(Report())
    volumes = list(places.volumes())
    files = [
        _VolumeFile(folder / f"{_name(number, len(volumes), places.period(volume))}.posts")
        for number, volume in enumerate(volumes, 1)
    ]
    _distribute(source, volumes, files, len(places))
    return Report(is_made=True, names=[file.path.stem for file in files])


def arranged(file: Path) -> list[list[bytes]]:
    """The threads of a volume in its order, each of at least one post."""
    with file.open("rb") as lines:
        found = [line.split(b" ", 2) for line in lines]
    found.sort(key=lambda parts: int(parts[0]))
    return [
        [post for _, _, post in thread]
        for _, thread in itertools.groupby(found, lambda parts: parts[1])
    ]


Volume = list[list[int]]
"""Threads of posts, each post by its number in the file."""


class Places:
    """Where each post belongs, in some fifty bytes a post."""

    def __init__(self) -> None:
        self._decode = msgspec.json.Decoder(_Saved).decode
        self._numbers: dict[tuple[str, str], int] = {}
        # Of each thread: when the newest of it was saved.
        self._newest: list[tuple[int, int]] = []
        # Of each post: its thread, when it was written, its id, how much there is to set.
        self._thread = array("q")
        self._written = array("q")
        self._post_id = array("q")
        self._weight = array("q")

    def __len__(self) -> int:
        return len(self._thread)

    def add(self, page: list[Raw]) -> None:
        for post in page:
            saved = self._decode(post)
            self._thread.append(self._thread_of(saved))
            self._written.append(_instant(saved.tweet_details.posted_at))
            self._post_id.append(min(int(saved.post_id), _LARGEST))
            self._weight.append(max(len(post) - _UNSET_BYTES, _LEAST_WEIGHT))

    def _thread_of(self, saved: _Saved) -> int:
        conversation = saved.tweet_details.meta.tweet_conversation_id
        author = saved.author_id or saved.author_username.lower()
        key = (conversation, author) if conversation and author else (saved.post_id, "")
        number = self._numbers.setdefault(key, len(self._newest))
        moment = (_instant(saved.bookmarked_at), saved.sort_index)
        if number == len(self._newest):
            self._newest.append(moment)
        self._newest[number] = max(self._newest[number], moment)
        return number

    def volumes(self) -> Iterator[Volume]:
        """At least one, so that a document can say that nothing matched."""
        is_one = len(self) <= MOST_POSTS and sum(self._weight) <= _MOST_WEIGHT
        most_posts = MOST_POSTS if is_one else _VOLUME_POSTS
        most_weight = _MOST_WEIGHT if is_one else _VOLUME_WEIGHT
        volume: Volume = []
        posts = weight = 0
        for thread in self._threads():
            thread_weight = sum(self._weight[post] for post in thread)
            posts, weight = posts + len(thread), weight + thread_weight
            if volume and (posts > most_posts or weight > most_weight):
                yield volume
                volume, posts, weight = [], len(thread), thread_weight
            volume.append(thread)
        yield volume

    def _threads(self) -> Iterator[list[int]]:
        """A very long one comes in parts, so that none is larger than a volume."""
        threads = sorted(range(len(self._newest)), key=self._newest.__getitem__, reverse=True)
        rank = array("q", bytes(8 * len(threads)))
        for place, thread in enumerate(threads):
            rank[thread] = place
        posts = sorted(
            range(len(self)),
            key=lambda post: (rank[self._thread[post]], self._written[post], self._post_id[post]),
        )
        for _, thread_posts in itertools.groupby(posts, self._thread.__getitem__):
            whole = list(thread_posts)
            for start in range(0, len(whole), _THREAD_POSTS):
                yield whole[start : start + _THREAD_POSTS]

    def period(self, volume: Volume) -> str:
        saved = [self._newest[self._thread[thread[0]]][0] for thread in volume]
        return period(saved[0], saved[-1]) if saved else ""


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


def _distribute(source: Path, volumes: list[Volume], files: list[_VolumeFile], count: int) -> None:
    homes, ranks, threads = (array("q", bytes(8 * count)) for _ in range(3))
    next_rank = itertools.count()
    for home, volume in enumerate(volumes):
        for thread_number, thread in enumerate(volume):
            for number in thread:
                homes[number], ranks[number] = home, next(next_rank)
                threads[number] = thread_number
    posts = (post for page in posts_file.pages(source, Raw) for post in page)
    for number, post in enumerate(posts):
        files[homes[number]].add(b"%d %d %b\n" % (ranks[number], threads[number], post))
    for file in files:
        file.flush()


def _instant(text: str) -> int:
    found = instants.parse(text)
    return instants.UNKNOWN if found is None else found


def _name(number: int, count: int, months: str) -> str:
    """Such as `volume-02-of-12-2024-07-to-2024-03.pdf`."""
    digits = len(str(count))
    return "export.pdf" if count == 1 else f"volume-{number:0{digits}}-of-{count}-{months}.pdf"
