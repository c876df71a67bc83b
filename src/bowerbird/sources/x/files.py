"""The files that people have of X's pages: saved answers, recordings of a browser, exports.

The request of a saved answer is not known, so the answer itself says which list it is.
"""

import base64
import binascii
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from bowerbird.sources.file_posts import invalid
from bowerbird.sources.formats import Beginning, Choices, Format
from bowerbird.sources.found import Found, Notice
from bowerbird.sources.parsing.json_values import Unreadable, at, documents
from bowerbird.sources.parsing.json_walk import PART, walk
from bowerbird.sources.parsing.text_lines import SeekableFile, Utf8File, byte_lines
from bowerbird.sources.x import api2, graphql, web_exporter
from bowerbird.sources.x.pages import Operation, Page, PageRequest, read_request
from bowerbird.sources.x.values import short_text
from bowerbird.sources.x.web_exporter import read_database

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


def _fits_answers(beginning: Beginning) -> bool:
    return any(path.removeprefix("[].").startswith(_DATA) for path in beginning.json)


def _fits_recording(beginning: Beginning) -> bool:
    return beginning.json.has("log", "log.entries[]")


def _fits_api(beginning: Beginning) -> bool:
    for start in ("data[].", "[].data[]."):
        if beginning.json.has(f"{start}id", f"{start}text") and any(
            f"{start}{name}" in beginning.json for name in _ONLY_API_POSTS_HAVE
        ):
            return True
    return beginning.json.has("meta.result_count")


def _fits_exporter_json(beginning: Beginning) -> bool:
    return beginning.json.has("[].id", "[].full_text", "[].screen_name", "[].favorite_count")


def _fits_exporter_csv(beginning: Beginning) -> bool:
    return beginning.has_columns("id", "full text", "screen name", "user id", "favorite count")


def _fits_database(beginning: Beginning) -> bool:
    return '"dexie"' in beginning.text[:1000] and beginning.json.has("formatName", "data")


FORMATS: Final = (
    Format("saved pages of X's bookmarks", _fits_answers, _read_answers),
    Format("recording of a browser (HAR)", _fits_recording, _read_recording),
    Format("pages of X's API", _fits_api, _read_api),
    Format(
        "twitter-web-exporter JSON",
        _fits_exporter_json,
        lambda file, _choices: web_exporter.read_json(Utf8File(file)),
    ),
    Format(
        "twitter-web-exporter CSV",
        _fits_exporter_csv,
        lambda file, _choices: web_exporter.read_csv(byte_lines(file)),
    ),
    Format(
        "twitter-web-exporter database",
        _fits_database,
        lambda file, choices: read_database(file, choices.now),
    ),
)
