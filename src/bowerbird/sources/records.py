"""Reads posts from the records of a program: rows of a CSV file, or objects of a JSON file.

A program is a table of what its columns or fields are called (`Fields`). A new program is one such
table and one line in `programs.py`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from msgspec import Struct

from bowerbird.model.imports import Completeness
from bowerbird.sources import file_labels
from bowerbird.sources.file_posts import (
    FilePost,
    found_post,
    invalid,
    media_attachments,
    not_a_post,
    shown,
    text_and_name,
)
from bowerbird.sources.formats import beginning_of, column_name
from bowerbird.sources.found import Found, LeftOut, Notice, Reason
from bowerbird.sources.parsing.csv_rows import CsvRows
from bowerbird.sources.parsing.json_values import Unreadable, at, text_at
from bowerbird.sources.parsing.json_walk import Part, walk
from bowerbird.sources.parsing.text_lines import SeekableFile, Utf8File
from bowerbird.sources.post_links import PostLink, parse, x_post

_MEDIA_SEPARATORS: Final = " \n\r\t,;|"
_TRUE: Final = frozenset({"true", "1", "yes", "y"})

Record = Mapping[str, Any]
Names = tuple[str, ...]


def is_true(value: object) -> bool:
    return str(value).strip().lower() in _TRUE


class Fields(Struct, frozen=True, kw_only=True):
    """The names of columns, or paths such as "content.url" in an object of JSON.

    Of several names, the first one counts that the record has and that is not empty.
    """

    address: Names
    # Ids of posts of X, for a file without addresses.
    x_id: Names = ()
    # What a record without an address is, for programs that keep other things than links.
    kind: Names = ()
    text: Names = ()
    # The title of a page. It is the text of the post only in part.
    title: Names = ()
    author_name: Names = ()
    author_username: Names = ()
    profile_image: Names = ()
    posted_at: Names = ()
    saved_at: Names = ()
    # A text, or in JSON a list of texts or of objects with a name.
    tags: Names = ()
    tag_separators: str = ","
    folder: Names = ()
    # All of them together are the note.
    notes: Names = ()
    media: Names = ()
    is_in_order: bool = False
    is_archived: Callable[[Record], bool] = lambda _record: False
    is_read: Callable[[Record], bool] = lambda _record: False
    find_link: Callable[[str], PostLink | None] = parse


def read_table(file: SeekableFile, fields: Fields) -> Iterator[Found]:
    rows = CsvRows(file, beginning_of(file).delimiter)
    header: list[str] = []
    for row in rows:
        if row.problem:
            yield invalid(row.line, row.problem)
        elif not header:
            header = [column_name(cell) for cell in row.cells]
        else:
            # Of two columns with the same name, the first one counts.
            cells = dict(zip(reversed(header), reversed(row.cells), strict=True))
            yield _post(row.line, cells, fields, ())
    yield from charset_notice(rows)


def charset_notice(rows: CsvRows) -> Iterator[Notice]:
    if line := rows.first_windows_line:
        yield Notice(
            line=line,
            sentence=f"The file is not UTF-8 (first in line {line}). "
            "The characters there were read as Windows-1252.",
        )


def read_json(
    file: SeekableFile, shape: Any, fields: Fields, folders_of: Callable[[Part], Iterable[str]]
) -> Iterator[Found]:
    """`shape` says where the records are, as for `walk`."""
    for part in walk(Utf8File(file), shape):
        if isinstance(part.value, Unreadable):
            yield invalid(part.line, str(part.value))
        elif not isinstance(part.value, dict):
            yield invalid(part.line, "The record is not an object.")
        else:
            yield _post(part.line, part.value, fields, folders_of(part))


def _post(line: int, record: Record, fields: Fields, folders: Iterable[str]) -> Found:
    def value(names: Names) -> Any:
        values = (record[name] if name in record else _inner(record, name) for name in names)
        return next((one for one in values if one and (type(one) is not str or one.strip())), "")

    def text(names: Names) -> str:
        return text_at({"": value(names)}, "")

    address, number = text(fields.address), text(fields.x_id)
    username = text(fields.author_username).strip().removeprefix("@")
    link = fields.find_link(address)
    if link is None and not address:
        link = x_post(number.strip(), username if username.isidentifier() else "")
        if link is None and number:
            return invalid(line, f"{shown(number)} is not the id of a post.")
        if link is None and fields.kind:
            kind = text(fields.kind)[:20] or "bookmark"
            sentence = f"Line {line}: A {kind} without a link is not a post."
            return LeftOut(line=line, reason=Reason.NOT_A_POST, sentence=sentence)
    if link is None:
        return not_a_post(line, address)
    words, name = text(fields.text), text(fields.author_name)
    completeness = Completeness.PREVIEW if words else Completeness.STUB
    if not words:
        words, author = text_and_name(text(fields.title), address, link)
        name = name or author
    tags = file_labels.tags(value(fields.tags), fields.tag_separators)
    return found_post(
        FilePost(
            link=link,
            line=line,
            completeness=completeness,
            text=words,
            author_name=name,
            author_username=username,
            profile_image=text(fields.profile_image),
            posted_at=value(fields.posted_at),
            saved_at=value(fields.saved_at),
            is_in_order=fields.is_in_order,
            labels=file_labels.names(tags, file_labels.folder(text(fields.folder)), folders),
            note="\n\n".join(filter(str.strip, (text((one,)) for one in fields.notes))),
            is_archived=fields.is_archived(record),
            is_read=fields.is_read(record),
            attachments=media_attachments(_split_media(text(fields.media))),
        )
    )


def _inner(record: Record, path: str) -> Any:
    return at(record, *path.split("."))


def _split_media(text: str) -> list[str]:
    # Addresses may contain a comma, so only one before the next address separates.
    for separator in _MEDIA_SEPARATORS:
        text = text.replace(f"{separator}http", "\nhttp")
    return [part.strip(_MEDIA_SEPARATORS) for part in text.split("\n")]
