"""Reads files of our own making through the same door as the importer."""

import io
from collections import Counter
from typing import NamedTuple

from bowerbird.sources.found import Choices, Found, FoundPost, LeftOut, Notice
from bowerbird.sources.reading import read


class Report(NamedTuple):
    name: str
    posts: list[FoundPost]
    left_out: list[LeftOut]
    notices: list[str]

    @property
    def ids(self) -> list[str]:
        return [post.record.post_id for post in self.posts]

    @property
    def post(self) -> FoundPost:
        """The only post of the file."""
        (post,) = self.posts
        return post

    @property
    def reasons(self) -> dict[str, int]:
        return dict(Counter(item.reason.value for item in self.left_out))


def report(data: bytes | str, name: str = "", *, with_likes: bool = False) -> Report:
    raw = data.encode() if isinstance(data, str) else data
    reading = read(io.BytesIO(raw), Choices(with_likes=with_likes, name=name))
    found: list[Found] = list(reading.found)
    return Report(
        reading.name,
        [item for item in found if isinstance(item, FoundPost)],
        [item for item in found if isinstance(item, LeftOut)],
        [item.sentence for item in found if isinstance(item, Notice)],
    )
