"""The CSV files of programs and networks: what their columns are called, and how they differ.

Most services publish no list of their columns, so the names that they could have are listed here.
"""

from collections.abc import Callable, Iterator
from typing import Final

from bowerbird.sources.formats import Beginning, Choices, Format, beginning_of
from bowerbird.sources.found import Found
from bowerbird.sources.general import POSTS
from bowerbird.sources.parsing.csv_rows import CsvRows
from bowerbird.sources.parsing.text_lines import SeekableFile
from bowerbird.sources.records import Fields, Names, read_table

# "Tweet Date" is when the post was written. When it was saved, the file does not say. Dewey has had
# two sets of columns.
_DEWEY: Final = Fields(
    address=("tweet url", "post url"),
    text=("tweet content", "content", "post content"),
    author_name=("posted by",),
    author_username=("posted by twitter handle", "twitter handle"),
    profile_image=("posted by profile pic",),
    posted_at=("tweet date", "post date"),
    tags=("tags",),
    folder=("folder", "folders"),
    notes=("my notes", "comments", "notes"),
    media=("media",),
    is_in_order=True,
)
_READWISE: Final = Fields(
    address=("url",),
    title=("title",),
    saved_at=("saved date",),
    tags=("document tags",),
    notes=("document note", "notes", "note"),
    state=("location",),
    read=("seen",),
)
_POCKET: Final = Fields(
    address=("url",),
    title=("title",),
    saved_at=("time added",),
    tags=("tags",),
    tag_separators="|",
    state=("status",),
)
_RAINDROP: Final = Fields(
    address=("url", "link"),
    text=("excerpt",),
    title=("title",),
    saved_at=("created",),
    tags=("tags",),
    folder=("folder",),
    notes=("note", "highlights"),
    favourite=("favorite",),
)
_INSTAPAPER: Final = Fields(
    address=("url",),
    title=("title",),
    saved_at=("timestamp",),
    tags=("tags",),
    folder=("folder",),
    state=("folder",),
    notes=("selection",),
)
_MATTER: Final = Fields(
    address=("url",),
    title=("title",),
    author_name=("author",),
    saved_at=("last interaction date",),
    tags=("tags",),
    tag_separators=",;",
    read=("read",),
    favourite=("favorited",),
)
# saved_posts.csv and saved_comments.csv of Reddit's data request.
_REDDIT: Final = Fields(
    address=("permalink",),
    text=("title", "body"),
    posted_at=("date", "created"),
    is_in_order=True,
)
_LINKEDIN: Final = Fields(address=("saved item",), saved_at=("created time",), is_in_order=True)
# A playlist of Google Takeout.
_YOUTUBE: Final = Fields(
    address=("video id",),
    address_form="https://www.youtube.com/watch?v={}",
    saved_at=("playlist video creation timestamp", "time added"),
)


def _is_raindrop(beginning: Beginning) -> bool:
    columns = beginning.columns
    return beginning.has_columns("url", "folder") and ("created" in columns or "note" in columns)


def _is_reddit(beginning: Beginning) -> bool:
    # The person's own posts have an "ip", their votes have a "direction".
    is_other = {"ip", "direction"} & set(beginning.columns)
    return beginning.has_columns("id", "permalink") and not is_other


def _is_dewey(beginning: Beginning) -> bool:
    columns = beginning.columns
    return "posted by" in columns and ("tweet url" in columns or "post url" in columns)


def _is_youtube(beginning: Beginning) -> bool:
    return "video id" in beginning.columns and bool(
        {"playlist video creation timestamp", "time added"} & set(beginning.columns)
    )


def _table(
    name: str,
    fields: Fields,
    columns: Names,
    fits: Callable[[Beginning], bool] | None = None,
    other_files: frozenset[str] = frozenset(),
) -> Format:
    def read(file: SeekableFile, _choices: Choices) -> Iterator[Found]:
        return read_table(CsvRows(file, beginning_of(file).delimiter), fields)

    return Format(
        name,
        fits or (lambda start: start.has_columns(*columns)),
        read,
        other_files,
        signature=frozenset(columns),
    )


# The narrow ones above, the general ones below.
TABLES: Final = (
    _table("Dewey CSV", _DEWEY, ("tweet date", "posted by", "tweet url"), _is_dewey),
    _table("Readwise Reader CSV", _READWISE, ("url", "document tags", "saved date")),
    _table("YouTube playlist CSV", _YOUTUBE, ("video id", "time added"), _is_youtube),
    _table("LinkedIn CSV", _LINKEDIN, ("saved item", "created time")),
    _table("Pocket CSV", _POCKET, ("url", "time added")),
    _table("Instapaper CSV", _INSTAPAPER, ("url", "title", "selection", "folder")),
    _table("Matter CSV", _MATTER, ("url", "in queue", "favorited")),
    _table("Raindrop CSV", _RAINDROP, ("url", "folder", "created"), _is_raindrop),
    _table("Reddit CSV", _REDDIT, ("id", "permalink"), _is_reddit, frozenset({"hidden_posts.csv"})),
    _table("X exporter CSV", POSTS, ("screen name", "full text", "tweet url")),
)
