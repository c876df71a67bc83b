"""Reads CSV files of posts of X from browser extensions and other services, by their column names.

Most services publish no list of their columns, so the names that they could have are listed here.
"""

from bowerbird.sources.formats import Beginning, Format
from bowerbird.sources.tables.csv_posts import CsvSource, is_true, read

_SOURCE = CsvSource(
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
_ADDRESSES = frozenset(_SOURCE.address) | {"tweet id", "post id", "status id"}
# A file with an address is a file of posts if it also has one of these. A list of any links has
# none of them.
_ONLY_POSTS_HAVE = frozenset(
    {
        *("tweet url", "post url", "tweet link", "status url", "tweet id", "post id", "status id"),
        *("full text", "note tweet text", "tweet text", "tweet content", "tweet", "tweeted at"),
        *("screen name", "author username", "author handle", "twitter handle", "username"),
        *("handle", "bookmarked at", "posted at"),
    }
)


def _fits(beginning: Beginning) -> bool:
    columns = set(beginning.columns)
    return len(columns) > 1 and bool(columns & _ADDRESSES) and bool(columns & _ONLY_POSTS_HAVE)


def _is_exporter(beginning: Beginning) -> bool:
    return _fits(beginning) and beginning.has_columns("screen name", "full text")


FORMATS = (
    Format("X exporter CSV", _is_exporter, lambda file, _choices: read(file, _SOURCE)),
    Format("CSV of posts", _fits, lambda file, _choices: read(file, _SOURCE)),
)
