"""Reads likes and bookmarks from the files of an X archive, such as data/like.js.

A file assigns a list to a variable: `window.YTD.like.part0 = [...]`. The shape of bookmarks is not
published, so any object with the id of a post is accepted.
"""

import re
from collections.abc import Iterator
from typing import Any, Final

from bowerbird.sources.file_posts import LIKED, FilePost, found_post, invalid, only_if_requested
from bowerbird.sources.formats import Beginning, Choices, Format
from bowerbird.sources.found import Found
from bowerbird.sources.parsing.json_records import Readable
from bowerbird.sources.parsing.json_values import Unreadable, read_records, text_at
from bowerbird.sources.parsing.text_lines import SeekableFile, Utf8File
from bowerbird.sources.post_links import PostLink, parse, x_post

_ASSIGNMENT: Final = re.compile(r"\s*window\.YTD\.([A-Za-z_]{1,60})\.part[0-9]{1,6}\s*=")
_ID_KEYS: Final = ("tweetId", "tweet_id", "tweetID", "id_str", "rest_id", "postId", "id")
_TEXT_KEYS: Final = ("fullText", "full_text", "text")
_ADDRESS_KEYS: Final = ("expandedUrl", "expanded_url", "url", "link")
_DATE_KEYS: Final = ("bookmarkedAt", "bookmarked_at", "savedAt", "saved_at")
_MAX_DEPTH: Final = 4
_MAX_ASSIGNMENT_BYTES: Final = 1000


def part_name(beginning: Beginning) -> str:
    """The name of the list in a file of an X archive, or ""."""
    match = _ASSIGNMENT.match(beginning.text[:300])
    return match[1].lower() if match else ""


def _read_likes(file: SeekableFile, choices: Choices) -> Iterator[Found]:
    return only_if_requested(_read(file, [LIKED]), choices)


def _read_bookmarks(file: SeekableFile, _choices: Choices) -> Iterator[Found]:
    return _read(file, [])


def _read(file: SeekableFile, labels: list[str]) -> Iterator[Found]:
    for line, record in read_records(_AfterAssignment(Utf8File(file))):
        if isinstance(record, Unreadable):
            yield invalid(line, str(record))
            continue
        found = _post(record)
        if found is None:
            yield invalid(line, "The record has no id of a post.")
            continue
        link, value = found
        yield found_post(
            FilePost(
                link=link,
                line=line,
                text=_first_text(value, _TEXT_KEYS),
                saved_at=_first_text(value, _DATE_KEYS),
                is_in_order=True,
                labels=labels,
            )
        )


def _post(record: Any) -> tuple[PostLink, Any] | None:
    """The post in a record, and the object that names it. It may be inside other objects."""
    values = [record]
    for _ in range(_MAX_DEPTH):
        for value in values:
            link = _link(value)
            if link is not None:
                return link, value
        values = [inner for value in values if isinstance(value, dict) for inner in value.values()]
        values = values[:100]
    return None


def _link(value: Any) -> PostLink | None:
    by_address = parse(_first_text(value, _ADDRESS_KEYS))
    for key in _ID_KEYS:
        by_id = x_post(text_at(value, key))
        if by_id is not None:
            # The address may also name the author.
            is_same = by_address is not None and by_address.post_id == by_id.post_id
            return by_address if is_same else by_id
    return by_address


def _first_text(value: Any, keys: tuple[str, ...]) -> str:
    return next((text for key in keys if (text := text_at(value, key))), "")


class _AfterAssignment:
    """The file without `window.YTD.like.part0 =` at its beginning."""

    def __init__(self, file: Readable) -> None:
        self._file = file
        self._is_started = False

    def read(self, size: int) -> bytes:
        data = self._file.read(size)
        if not self._is_started:
            self._is_started = True
            while (
                b"=" not in data
                and len(data) < _MAX_ASSIGNMENT_BYTES
                and (more := self._file.read(size))
            ):
                data += more
            data = data.partition(b"=")[2].lstrip() or self._file.read(size)
        return data


FORMATS = (
    Format("likes of an X archive", lambda start: part_name(start) == "like", _read_likes),
    Format(
        "bookmarks of an X archive", lambda start: "bookmark" in part_name(start), _read_bookmarks
    ),
)
