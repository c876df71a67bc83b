"""Reads bookmarks.json and likes.json of the archive that a Mastodon server gives to its users.

Both are lists of addresses: `{"type": "OrderedCollection", "orderedItems": [...]}`.
"""

import re
from collections.abc import Iterator
from typing import Final

from bowerbird.sources.file_posts import FilePost, found_post, invalid, not_a_post
from bowerbird.sources.formats import Beginning, Choices, Format
from bowerbird.sources.found import Found
from bowerbird.sources.parsing.json_values import Unreadable
from bowerbird.sources.parsing.json_walk import PART, walk
from bowerbird.sources.parsing.text_lines import SeekableFile, Utf8File
from bowerbird.sources.post_links import parse_fediverse
from bowerbird.sources.requested_likes import LIKED, only_if_requested

_NAME: Final = re.compile(r'"id"\s*:\s*"(bookmarks|likes)\.json"')


def _read(file: SeekableFile, labels: list[str]) -> Iterator[Found]:
    for part in walk(Utf8File(file), {"orderedItems": [PART]}):
        if isinstance(part.value, Unreadable):
            yield invalid(part.line, str(part.value))
            continue
        if not isinstance(part.value, str):
            yield invalid(part.line, "The record is not an address.")
            continue
        link = parse_fediverse(part.value)
        if link is None:
            yield not_a_post(part.line, part.value)
        else:
            # The posts are in the order in which they were written, the oldest first. That says
            # nothing about saving, so a list of bookmarks gives them better places.
            yield found_post(FilePost(link=link, line=part.line, labels=labels))


def _read_bookmarks(file: SeekableFile, _choices: Choices) -> Iterator[Found]:
    return _read(file, [])


def _read_likes(file: SeekableFile, choices: Choices) -> Iterator[Found]:
    return only_if_requested(_read(file, [LIKED]), choices)


def _name(beginning: Beginning) -> str:
    match = _NAME.search(beginning.text) if beginning.json.has("orderedItems[]") else None
    return match[1] if match else ""


FORMATS = (
    Format(
        "bookmarks of a Mastodon archive",
        lambda start: _name(start) == "bookmarks",
        _read_bookmarks,
    ),
    Format("likes of a Mastodon archive", lambda start: _name(start) == "likes", _read_likes),
)
