"""The CSV files of programs and services: what their columns are called, and how to tell them.

Most services publish no list of their columns, so the names that they could have are listed here.
"""

from collections.abc import Callable
from typing import Final

from bowerbird.sources.formats import Beginning, Format
from bowerbird.sources.tables.csv_posts import CsvSource, is_true, read

# "Tweet Date" is when the post was written. When it was saved, the file does not say. Dewey has had
# two sets of columns.
_DEWEY: Final = CsvSource(
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
_READWISE: Final = CsvSource(
    address=("url",),
    title=("title",),
    saved_at=("saved date",),
    tags=("document tags",),
    notes=("document note", "notes", "note"),
    is_archived=lambda cells: cells.get("location", "").strip().lower() == "archive",
    is_read=lambda cells: is_true(cells.get("seen", "")),
)
_POCKET: Final = CsvSource(
    address=("url",),
    title=("title",),
    saved_at=("time added",),
    tags=("tags",),
    tag_separators="|",
    is_archived=lambda cells: cells.get("status", "").strip().lower() == "archive",
)
_RAINDROP: Final = CsvSource(
    address=("url", "link"),
    title=("title",),
    saved_at=("created",),
    tags=("tags",),
    folder=("folder",),
    notes=("note", "highlights"),
)
# saved_posts.csv and saved_comments.csv of Reddit's data request.
_REDDIT: Final = CsvSource(
    address=("permalink",),
    text=("title", "body"),
    posted_at=("date", "created"),
    is_in_order=True,
)
# Posts of X from browser extensions and other services.
_POSTS: Final = CsvSource(
    address=(
        *("tweet url", "post url", "tweet link", "post link", "status url", "tweet permalink"),
        *("url", "link", "permalink", "href"),
    ),
    x_id=("tweet id", "post id", "status id", "id", "id str"),
    text=(
        *("note tweet text", "full text", "tweet text", "post text", "tweet content"),
        *("post content", "text", "content", "tweet", "body"),
    ),
    author_name=("name", "author name", "display name", "user name", "posted by", "author"),
    author_username=(
        *("screen name", "author username", "username", "author handle", "twitter handle"),
        *("user handle", "handle", "user screen name", "author screen name"),
    ),
    profile_image=(
        *("profile image url https", "profile image url", "profile image", "avatar"),
        *("author avatar", "author profile image", "profile pic"),
    ),
    posted_at=(
        *("tweeted at", "posted at", "tweet date", "post date", "tweet created at"),
        *("created at", "posted on", "date", "published at"),
    ),
    saved_at=("bookmarked at", "bookmark date", "saved at", "saved date", "date bookmarked"),
    tags=("tags", "labels", "label", "tag", "categories", "category"),
    folder=("folder", "folders", "collection"),
    notes=("note", "notes", "my notes", "comment"),
    media=("media", "media urls", "media url", "images", "attachments"),
    is_in_order=True,
    is_archived=lambda cells: is_true(cells.get("is archived", cells.get("archived", ""))),
    is_read=lambda cells: is_true(cells.get("is read", "")),
)
_ADDRESSES: Final = frozenset(_POSTS.address) | {"tweet id", "post id", "status id"}
# A file with an address is a file of posts if it also has one of these. A list of any links has
# none of them.
_ONLY_POSTS_HAVE: Final = frozenset(
    {
        *("tweet url", "post url", "tweet link", "status url", "tweet id", "post id", "status id"),
        *("full text", "note tweet text", "tweet text", "tweet content", "tweet", "tweeted at"),
        *("screen name", "author username", "author handle", "twitter handle", "username"),
        *("handle", "bookmarked at", "posted at"),
    }
)


def _is_raindrop(beginning: Beginning) -> bool:
    columns = beginning.columns
    return beginning.has_columns("url", "folder") and ("created" in columns or "note" in columns)


def _is_reddit(beginning: Beginning) -> bool:
    # The person's own posts have an "ip", their votes have a "direction".
    is_other = {"ip", "direction"} & set(beginning.columns)
    return beginning.has_columns("id", "permalink") and not is_other


def _has_posts(beginning: Beginning) -> bool:
    columns = set(beginning.columns)
    return len(columns) > 1 and bool(columns & _ADDRESSES) and bool(columns & _ONLY_POSTS_HAVE)


def _is_exporter(beginning: Beginning) -> bool:
    return _has_posts(beginning) and beginning.has_columns("screen name", "full text")


def _is_dewey(beginning: Beginning) -> bool:
    columns = beginning.columns
    return "posted by" in columns and ("tweet url" in columns or "post url" in columns)


def _format(
    name: str,
    source: CsvSource,
    fits: Callable[[Beginning], bool],
    other_files: frozenset[str] = frozenset(),
) -> Format:
    return Format(name, fits, lambda file, _choices: read(file, source), other_files)


# The narrow ones above, the general ones below.
FORMATS: Final = (
    _format("Dewey CSV", _DEWEY, _is_dewey),
    _format(
        "Readwise Reader CSV",
        _READWISE,
        lambda start: start.has_columns("url", "document tags", "saved date"),
    ),
    _format("Pocket CSV", _POCKET, lambda start: start.has_columns("url", "time added")),
    _format("Raindrop CSV", _RAINDROP, _is_raindrop),
    _format("Reddit CSV", _REDDIT, _is_reddit, frozenset({"hidden_posts.csv"})),
    _format("X exporter CSV", _POSTS, _is_exporter),
    _format("CSV of posts", _POSTS, _has_posts),
)
