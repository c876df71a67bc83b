"""Reads posts from a CSV file, given which columns of it mean what."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from msgspec import Struct

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
from bowerbird.sources.found import Completeness, Found, Notice
from bowerbird.sources.parsing.csv_rows import CsvRows, Row
from bowerbird.sources.parsing.text_lines import SeekableFile
from bowerbird.sources.post_links import PostLink, parse, x_post

_MEDIA_SEPARATORS: Final = " \n\r\t,;|"
_TRUE: Final = frozenset({"true", "1", "yes", "y"})

Cells = Mapping[str, str]


def is_true(text: str) -> bool:
    return text.strip().lower() in _TRUE


class CsvSource(Struct, frozen=True, kw_only=True):
    """The names that a source's columns have. The first one that is in the file and not empty."""

    address: tuple[str, ...]
    # Ids of posts of X, for a file without addresses.
    x_id: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    # The title of a page. It is the text of the post only in part.
    title: tuple[str, ...] = ()
    author_name: tuple[str, ...] = ()
    author_username: tuple[str, ...] = ()
    profile_image: tuple[str, ...] = ()
    posted_at: tuple[str, ...] = ()
    saved_at: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    tag_separators: str = ","
    folder: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    media: tuple[str, ...] = ()
    is_in_order: bool = False
    is_archived: Callable[[Cells], bool] = lambda _cells: False
    is_read: Callable[[Cells], bool] = lambda _cells: False
    find_link: Callable[[str], PostLink | None] = parse


def read(file: SeekableFile, source: CsvSource) -> Iterator[Found]:
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
            yield _post(row, cells, source)
    yield from charset_notice(rows)


def charset_notice(rows: CsvRows) -> Iterator[Notice]:
    if line := rows.first_windows_line:
        yield Notice(
            line=line,
            sentence=f"The file is not UTF-8 (first in line {line}). "
            "The characters there were read as Windows-1252.",
        )


def _post(row: Row, cells: Cells, source: CsvSource) -> Found:
    def cell(names: tuple[str, ...]) -> str:
        return next((cells[name] for name in names if cells.get(name, "").strip()), "")

    address = cell(source.address)
    username = cell(source.author_username).strip().removeprefix("@")
    link = source.find_link(address)
    if link is None and not address:
        link = x_post(cell(source.x_id).strip(), username if username.isidentifier() else "")
        if link is None and cell(source.x_id):
            return invalid(row.line, f"{shown(cell(source.x_id))} is not the id of a post.")
    if link is None:
        return not_a_post(row.line, address)
    text, name = cell(source.text), cell(source.author_name)
    completeness = Completeness.PREVIEW if text else Completeness.STUB
    if not text:
        text, author = text_and_name(cell(source.title), address, link)
        name = name or author
    notes = [cells[column] for column in source.notes if cells.get(column, "").strip()]
    return found_post(
        FilePost(
            link=link,
            line=row.line,
            completeness=completeness,
            text=text,
            author_name=name,
            author_username=username,
            profile_image=cell(source.profile_image),
            posted_at=cell(source.posted_at),
            saved_at=cell(source.saved_at),
            is_in_order=source.is_in_order,
            labels=file_labels.names(
                file_labels.split(cell(source.tags), source.tag_separators),
                file_labels.folder(cell(source.folder)),
            ),
            note="\n\n".join(notes),
            is_archived=source.is_archived(cells),
            is_read=source.is_read(cells),
            attachments=media_attachments(_split_media(cell(source.media))),
        )
    )


def _split_media(text: str) -> list[str]:
    # Addresses may contain a comma, so only one before the next address separates.
    for separator in _MEDIA_SEPARATORS:
        text = text.replace(f"{separator}http", "\nhttp")
    return [part.strip(_MEDIA_SEPARATORS) for part in text.split("\n")]
