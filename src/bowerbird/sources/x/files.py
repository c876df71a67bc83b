"""The files that people have of X: archives, saved answers, recordings of a browser, exports.

The request of a saved answer is not known, so the answer itself says which list it is. A file of
an archive assigns a list to a variable: `window.YTD.like.part0 = [...]`. The shape of bookmarks in
it is not published, so any object with the id of a post is accepted.
"""

import base64
import binascii
import re
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from bowerbird.sources.file_posts import (
    LIKED,
    FilePost,
    found_in,
    found_post,
    invalid,
    only_if_requested,
)
from bowerbird.sources.found import Beginning, Choices, Format, Found, Notice
from bowerbird.sources.parsing.json_records import Readable
from bowerbird.sources.parsing.json_values import (
    PART,
    Unreadable,
    at,
    documents,
    read_records,
    text_at,
    walk,
)
from bowerbird.sources.parsing.text_lines import SeekableFile, Utf8File, byte_lines
from bowerbird.sources.post_links import PostLink, parse, x_post
from bowerbird.sources.x import api2, graphql, web_exporter
from bowerbird.sources.x.pages import Operation, Page, PageRequest, read_request
from bowerbird.sources.x.values import short_text
from bowerbird.sources.x.web_exporter import read_database

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


def _read_part(file: SeekableFile, labels: list[str]) -> Iterator[Found]:
    def found(line: int, record: Any) -> Found:
        named = _post(record)
        if named is None:
            raise Unreadable("The record has no id of a post.")
        link, value = named
        return found_post(
            FilePost(
                link=link,
                line=line,
                text=_first_text(value, _TEXT_KEYS),
                saved_at=_first_text(value, _DATE_KEYS),
                is_in_order=True,
                labels=labels,
            )
        )

    return found_in(read_records(_AfterAssignment(Utf8File(file))), found)


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


ARCHIVE_FORMATS = (
    Format(
        "likes of an X archive",
        lambda start: part_name(start) == "like",
        lambda file, choices: only_if_requested(_read_part(file, [LIKED]), choices),
    ),
    Format(
        "bookmarks of an X archive",
        lambda start: "bookmark" in part_name(start),
        lambda file, _choices: _read_part(file, []),
    ),
)


_LISTS: Final = {
    b'"bookmark_timeline': Operation.BOOKMARKS,
    b'"bookmark_collection_timeline': Operation.FOLDER,
    b'"search_by_raw_query': Operation.SEARCH,
}
_DATA: Final = (
    *("data.bookmark_timeline", "data.bookmark_collection_timeline", "data.search_by_raw_query"),
)
# What a post of X's API has, apart from its id and its text.
_ONLY_API_POSTS_HAVE: Final = (
    *("edit_history_tweet_ids[]", "author_id", "public_metrics", "conversation_id", "created_at"),
)


# The answers of a recording.
_ENTRIES: Final = {"log": {"entries": [PART]}}


class _Pages:
    """Numbers the posts of several pages one after the other: their order is that of saving."""

    def __init__(self) -> None:
        self._before = 0

    def read(self, page: Page, line: int) -> Iterator[Found]:
        for error in page.errors:
            yield invalid(line, error)
        for found in page.posts:
            yield msgspec.structs.replace(found, line=self._before + found.line)
        self._before += len(page.posts)


def _read_answers(file: SeekableFile, choices: Choices) -> Iterator[Found]:
    pages = _Pages()
    folder_line = 0
    for document in documents(Utf8File(file)):
        if document.problem:
            yield invalid(document.line, document.problem)
            continue
        request = PageRequest(operation=_list_of(document.raw))
        if request.operation is Operation.FOLDER:
            folder_line = folder_line or document.line
        yield from pages.read(graphql.read_page(request, document.raw, choices.now), document.line)
    if folder_line:
        yield _nameless_folder(folder_line)


def _nameless_folder(line: int) -> Notice:
    return Notice(
        line=line,
        sentence="The file has a page of a bookmark folder, which does not say the name of the "
        "folder. Its posts get no label; --label NAME adds one.",
    )


def _list_of(answer: bytes) -> Operation:
    """The list that begins first in an answer: a post in it may contain the names of the others."""
    places = {answer.find(name): operation for name, operation in _LISTS.items()}
    return places[min((place for place in places if place >= 0), default=-1)]


def _read_api(file: SeekableFile, _choices: Choices) -> Iterator[Found]:
    pages = _Pages()
    for document in documents(Utf8File(file)):
        if document.problem:
            yield invalid(document.line, document.problem)
        else:
            yield from pages.read(api2.read_page(document.raw), document.line)


def _read_recording(file: SeekableFile, choices: Choices) -> Iterator[Found]:
    """Reads the answers with saved posts in a HAR file, and skips all others."""
    pages, folder_line = _Pages(), 0
    # The list of folders may come after the pages of a folder, so the file is read twice.
    folders = _folder_names(file)
    for part in walk(Utf8File(file), _ENTRIES):
        if isinstance(part.value, Unreadable):
            yield invalid(part.line, str(part.value))
            continue
        request = _request(part.value)
        if request is None or request.operation not in _LISTS.values():
            continue
        name = folders.get(request.folder_id, "")
        if request.operation is Operation.FOLDER and not name:
            folder_line = folder_line or part.line
        page = graphql.read_page(request, _content(part.value), choices.now, name)
        yield from pages.read(page, part.line)
    if folder_line:
        yield _nameless_folder(folder_line)


def _folder_names(file: SeekableFile) -> dict[str, str]:
    names: dict[str, str] = {}
    for part in walk(Utf8File(file), _ENTRIES):
        request = _request(part.value)
        if request is not None and request.operation is Operation.FOLDERS:
            listed = graphql.read_folders(_content(part.value)).folders
            names |= {folder.id: folder.name for folder in listed}
    return names


def _request(entry: Any) -> PageRequest | None:
    return read_request(short_text(at(entry, "request", "url")))


def _content(entry: Any) -> bytes:
    content = at(entry, "response", "content")
    text = at(content, "text")
    data = text.encode("utf-8", "replace") if isinstance(text, str) else b""
    if at(content, "encoding") != "base64":
        return data
    try:
        return base64.b64decode(data)
    except binascii.Error:
        return b""


def _fits_api(beginning: Beginning) -> bool:
    for start in ("data[].", "[].data[]."):
        if beginning.json.has(f"{start}id", f"{start}text") and any(
            f"{start}{name}" in beginning.json for name in _ONLY_API_POSTS_HAVE
        ):
            return True
    return beginning.json.has("meta.result_count")


FORMATS: Final = (
    Format(
        "saved pages of X's bookmarks",
        lambda start: any(path.removeprefix("[].").startswith(_DATA) for path in start.json),
        _read_answers,
    ),
    Format(
        "recording of a browser (HAR)",
        lambda start: start.json.has("log", "log.entries[]"),
        _read_recording,
    ),
    Format("pages of X's API", _fits_api, _read_api),
    Format(
        "twitter-web-exporter JSON",
        lambda start: start.json.has(
            "[].id", "[].full_text", "[].screen_name", "[].favorite_count"
        ),
        lambda file, _choices: web_exporter.read_json(Utf8File(file)),
    ),
    Format(
        "twitter-web-exporter CSV",
        lambda start: start.has_columns(
            "id", "full text", "screen name", "user id", "favorite count"
        ),
        lambda file, _choices: web_exporter.read_csv(byte_lines(file)),
    ),
    Format(
        "twitter-web-exporter database",
        lambda start: '"dexie"' in start.text[:1000] and start.json.has("formatName", "data"),
        lambda file, choices: read_database(file, choices.now),
    ),
)
