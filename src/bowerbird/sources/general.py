"""Reads files of no known program: finds the links or ids of posts, then their neighbours by name.

A table or a list of objects needs one column or field with links to posts, or with ids of posts of
X. Its name may be anything that is usual, or anything at all if the content shows what it is.
"""

import io
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, Final

import msgspec

from bowerbird.sources.found import Beginning, Choices, Format, Found, beginning_of, column_name
from bowerbird.sources.parsing.json_records import Record
from bowerbird.sources.parsing.json_values import (
    ANY,
    LISTS,
    PART,
    Part,
    documents,
    value_of,
    walk,
)
from bowerbird.sources.parsing.text_lines import CsvRows, SeekableFile, TextLines, Utf8File
from bowerbird.sources.post_links import parse, x_post
from bowerbird.sources.records import LONG_ID, fields_of, is_address, read_parts, read_table

# Posts in the files of exporters and scripts, and links in files of any other program.
POSTS: Final = fields_of(
    "address=tweet_url/post_url/tweet_link/post_link/status_url/tweet_permalink/url/link/"
    "permalink/href/uri/urls/links/address/saved_item "
    "x_id=tweet_id/post_id/status_id any_id=id/id_str "
    "text=note_tweet_text/full_text/tweet_text/post_text/tweet_content/post_content/text/"
    "content/tweet/body/excerpt/caption "
    "title=title/name "
    "author_name=author_name/display_name/name/user_name/username/posted_by/author "
    "author_username=screen_name/author_username/username/author_handle/twitter_handle/"
    "user_handle/handle/user_screen_name/author_screen_name "
    "profile_image=profile_image_url_https/profile_image_url/profile_image/avatar/avatar_url/"
    "author_avatar/author_profile_image/profile_pic "
    "posted_at=tweeted_at/posted_at/tweet_date/post_date/tweet_created_at/posted_on/published_at "
    "saved_at=bookmarked_at/bookmark_date/saved_at/saved_date/date_bookmarked/saved_on/"
    "date_saved/added_at/date_added/time_added/created_time "
    "dated=created_at/date/created/timestamp/time/added sort_index "
    "tags=tags/labels/label/tag/categories/category "
    "folder=folder/folders/folder_names/folder_name/collection/list "
    "notes=note/notes/my_notes/comment "
    "media=media/media_urls/media_url/images/attachments "
    "archived=is_archived/archived/archive read=is_read/read "
    "unread=is_unread/unread/to_read/toread "
    "favourite=favorite/favourite/is_favorite/is_favourite/starred/is_starred/favorited/"
    "favourited/is_fav "
    "state=status/state/folder",
    finds_address=True,
    tag_separators=",;|",
    is_in_order=True,
)

_NAMED: Final = frozenset(POSTS.address) | frozenset(POSTS.x_id)
_OF_RECORDS: Final = _NAMED | frozenset(POSTS.any_id) | frozenset(POSTS.text)
_MAX_DEPTH: Final = 6
_ROWS_LOOKED_AT: Final = 50
_BYTES_LOOKED_AT: Final = 64 << 10


def _sample(beginning: Beginning) -> tuple[list[str], list[list[str]]]:
    """The names in the header, and the first rows.

    None of both if the first row has a link, or nothing but ids.
    """
    is_cut = beginning.is_cut or len(beginning.data) > _BYTES_LOOKED_AT
    table = CsvRows(io.BytesIO(beginning.data[:_BYTES_LOOKED_AT]), beginning.delimiter)
    rows = [row.cells for row in islice(table, _ROWS_LOOKED_AT) if not row.problem]
    if not rows or any(map(is_address, rows[0])) or _are_ids(rows[0]):
        return [], []
    # The last row may be incomplete.
    return [column_name(cell) for cell in rows[0]], rows[1 : len(rows) - is_cut]


def _are_ids(cells: list[str]) -> bool:
    filled = [cell.strip() for cell in cells if cell.strip()]
    return bool(filled) and all(map(LONG_ID.fullmatch, filled))


def _link_column(beginning: Beginning) -> str:
    """The name of the column with the posts, else of the one that is named for links, or "".

    Other columns may have posts too: those that are quoted or answered.
    """
    header, rows = _sample(beginning)
    named = [name for name in header if name in _NAMED]
    if len(header) == 1:
        return named[0] if named else ""
    found: list[tuple[int, int, str]] = []
    for number, name in enumerate(header):
        cells = [cell for row in rows if (cell := row[number].strip())]
        links = sum(parse(cell) is not None for cell in cells if is_address(cell))
        is_id = x_post if name in _NAMED else LONG_ID.fullmatch
        ids = sum(is_id(cell) is not None for cell in cells)
        # A link also names the author, so an equal number of ids is worth less.
        worth = 2 * links or (ids if ids == len(cells) else 0)
        if worth:
            is_other = 0 if name in _NAMED else 1 if name in POSTS.any_id else 2
            found.append((is_other, -worth, name))
    return min(found)[2] if found else named[0] if named else ""


def _read_table(file: SeekableFile, _choices: Choices) -> Iterator[Found]:
    beginning = beginning_of(file)
    column = _link_column(beginning)
    # A column that is named for ids is one already.
    first = () if column in POSTS.x_id else (column,)
    # In a table of posts, the ids of the first years are short.
    ids = (*POSTS.x_id, *POSTS.any_id) if _is_of_posts(beginning) else POSTS.x_id
    fields = msgspec.structs.replace(POSTS, address=(*first, *POSTS.address), x_id=ids)
    return read_table(CsvRows(file, beginning.delimiter), fields)


def _shape(beginning: Beginning) -> Any:
    """Where the records of a JSON file are; None for a file of one object per line."""
    scalars = [path for path in beginning.json if f"{path}[]" not in beginning.json]
    names = [path.rpartition(".") for path in scalars]
    places = {place for place, _, key in names if column_name(key) in _NAMED}
    is_sequence = "\n{" in beginning.text
    if "" in places and (is_sequence or not any("[]" in place for place in places)):
        return None
    is_in_lists = any("[]" in path for path in beginning.json)
    return LISTS if is_in_lists else {ANY: PART}


def read_json(file: SeekableFile, choices: Choices) -> Iterator[Found]:
    shape = _shape(beginning_of(file))
    parts = _documents(file) if shape is None else walk(Utf8File(file), shape)
    return read_parts(_records(parts), POSTS, liked=_LIKED, choices=choices)


def _records(parts: Iterable[Part]) -> Iterator[Part]:
    """The objects that are records: others are only around them, such as folders."""
    for part in parts:
        for record in _innermost(part.value, _MAX_DEPTH):
            yield part._replace(value=record)


def _innermost(value: Any, depth: int) -> list[Any]:
    if not isinstance(value, dict) or not depth or _is_record(value):
        return [value]
    inner = [one for each in value.values() for one in (each if isinstance(each, list) else [each])]
    found = [one for each in inner for one in _innermost(each, depth - 1) if _is_record(one)]
    return found or [value]


def _is_record(value: Any) -> bool:
    return isinstance(value, dict) and not _OF_RECORDS.isdisjoint(map(column_name, value))


def _documents(file: SeekableFile) -> Iterator[Part]:
    is_lines = beginning_of(file).text.lstrip().partition("\n")[0].rstrip().endswith("}")
    for record in _lines(file) if is_lines else documents(Utf8File(file)):
        yield Part((), record.line, value_of(record))


def _lines(file: SeekableFile) -> Iterator[Record]:
    """One object per line: after one that is cut, the next line is read again."""
    file.seek(0)
    lines = TextLines(file)
    while line := lines.next():
        if line.text.strip():
            problem = "The line is too long." if line.is_cut else ""
            yield Record(line.number, line.text.encode(), problem)


_LIKED: Final = frozenset({"likes", "liked_posts"})
_LINK: Final = re.compile(r'"((?:https?|at):\\?/\\?/[^"]{1,2000})"')
_LIST_OF_LINKS: Final = re.compile(rf"[\[,]\s*{_LINK.pattern}")


def _has_links(beginning: Beginning) -> bool:
    """Whether a field is named for links, a list has some, or one anywhere is that of a post."""
    keys = {column_name(path.rpartition(".")[2]) for path in beginning.json}
    return bool(beginning.json) and (
        (bool(keys & _NAMED) and bool(_LINK.search(beginning.text)))
        or bool(keys & frozenset(POSTS.x_id))
        or bool(_LIST_OF_LINKS.search(beginning.text))
        or any(parse(match[1].replace("\\", "")) for match in _LINK.finditer(beginning.text))
    )


def _has(*keys: str) -> Callable[[Beginning], bool]:
    return lambda start: any(
        start.json.has(*(f"{place}{key}" for key in keys)) for place in ("[].", "")
    )


# A list of any links has none of these columns.
_ONLY_POSTS_HAVE: Final = frozenset(
    {
        *("tweet url", "post url", "tweet link", "status url", "tweet id", "post id", "status id"),
        *("full text", "note tweet text", "tweet text", "tweet content", "tweet", "tweeted at"),
        *("screen name", "author username", "author handle", "twitter handle", "username"),
        *("handle", "bookmarked at", "posted at"),
    }
)


def _is_of_posts(beginning: Beginning) -> bool:
    return not _ONLY_POSTS_HAVE.isdisjoint(beginning.columns)


TABLES: Final = (
    Format(
        "CSV of posts",
        lambda start: _is_of_posts(start) and bool(_link_column(start)),
        _read_table,
    ),
    Format("CSV of links", lambda start: bool(_link_column(start)), _read_table, is_general=True),
)
OBJECTS: Final = (
    Format("fieldtheory-cli JSON", _has("tweetId", "authorHandle"), read_json),
    Format("Twillot JSON", _has("tweet_id", "full_text", "sort_index"), read_json),
    Format("JSON of posts", _has("id", "text", "author_username"), read_json),
    Format("JSON of links", _has_links, read_json, is_general=True),
)
