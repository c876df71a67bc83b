"""The SQL of each filter of a bookmark list.

A fragment is part of a statement or absent; never "(:x IS NULL OR col = :x)", which hides the
index. The fragments that differ between the databases are in their SQL files.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from bowerbird.model import media
from bowerbird.model.accounts import Account
from bowerbird.model.filters import BookmarkFilter
from bowerbird.model.instants import UNKNOWN
from bowerbird.model.words import Condition
from bowerbird.storage.bookmarks.query_conditions import (
    BY_AUTHOR,
    LABELLED,
    WORDS_PREFIX,
    QueryConditions,
    handle_of,
)
from bowerbird.storage.database import Database
from bowerbird.storage.places import place_values

_LABELS: Final = (
    "SELECT 1 FROM bookmark_label AS bl WHERE bl.account_id = :account_id AND bl.number = b.number"
)
# The first condition of the media is that of the index. As a list, because SQLite prefers a larger
# index that has the flags too.
_RARE_MEDIA: Final = (
    "SELECT r.number FROM bookmark AS r"
    " WHERE r.account_id = :account_id AND r.media & {} <> 0 AND r.media & :media_bit <> 0"
)
# By the field of a BookmarkFilter, except "rare_media".
FRAGMENTS: Final[dict[str, str]] = {
    "unread_only": "NOT b.is_read",
    "hide_archived": "NOT b.is_archived",
    "archived_only": "b.is_archived",
    "media_bit": "b.media & :media_bit <> 0",
    "rare_media": f"b.number IN ({_RARE_MEDIA.format(media.RARE)})",
    "author": f"b.number IN ({BY_AUTHOR.format(':author_handle', ':author')})",
    "tag": f"b.number IN ({LABELLED.format(':tag')})",
    "unlabelled": f"NOT EXISTS ({_LABELS})",
    "posted_from": "b.posted_at > :posted_from",
    "posted_to": "b.posted_at < :posted_to AND b.posted_at <> :unknown",
    "bookmarked_from": "b.bookmarked_at > :bookmarked_from",
    "bookmarked_to": "b.bookmarked_at < :bookmarked_to",
    "import_run": (
        "b.number IN (SELECT c.number FROM import_run AS r"
        " JOIN import_change AS c ON c.account_id = r.account_id AND c.run = r.number"
        " WHERE r.account_id = :account_id AND c.account_id = :account_id"
        " AND r.run_id = :import_run)"
    ),
}


_WORDS: Final = ("wanted", "unwanted")
_DATES: Final = ("posted_from", "posted_to", "bookmarked_from", "bookmarked_to")
# The same, but SQLite does not start with an index of the dates: a plus sign hides the column.
FRAGMENTS.update({f"walked_{name}": FRAGMENTS[name].replace("b.", "+b.") for name in _DATES})
_OTHER_TEXTS: Final = {"author", "rare_media", *(f"walked_{name}" for name in _DATES)}


def narrowing(
    database: Database, account: Account, filter: BookmarkFilter
) -> tuple[list[str], dict[str, Any]]:
    """The fragments that a filter needs, and the values of their parameters.

    A fragment is a name, or the text of a condition that only this query has.
    """
    # By identity: the instant 0 is a bound like any other.
    fragments = [
        name
        for name in FRAGMENTS
        if name not in _OTHER_TEXTS
        and (value := getattr(filter, name)) is not None
        and value is not False
    ]
    values: dict[str, Any] = {"account_id": account.account_id, **place_values(account)}
    for name in fragments:
        values[name] = getattr(filter, name)
    values["unknown"] = UNKNOWN
    for name, more in _names(database, filter).items():
        fragments.append(name)
        values |= more
    fragments += _states(database, filter)
    if filter.post_ids is not None:
        fragments.append("these")
        values["post_ids"] = database.text_list(filter.post_ids)
    if filter.words is not None:
        match = database.match(filter.words)
        conditions = QueryConditions(database)
        # SQLite begins with the first set of posts, and those of a field are usually fewer.
        fields = [part for part in match.rest if isinstance(part, Condition)]
        fragments += conditions.every(fields)
        for name in _WORDS:
            if (text := getattr(match, name)) is not None:
                fragments.append(name)
                values[name] = text
        fragments += conditions.every([part for part in match.rest if part not in fields])
        values |= conditions.values
    return fragments, values


def starting_with_matches(filter: BookmarkFilter, fragments: Sequence[str]) -> list[str]:
    """Adapts fragments to a statement that reads every match instead of the library in order."""
    if not filter.has_rare_media:
        return list(fragments)
    return ["rare_media" if name == "media_bit" else name for name in fragments]


def walking_past_dates(fragments: Sequence[str]) -> list[str]:
    """Adapts fragments to a statement that reads the library in order, whatever its dates are."""
    return [f"walked_{name}" if name in _DATES else name for name in fragments]


def of_many(fragments: Sequence[str]) -> list[str]:
    """Adapts fragments to a statement that reads the library, if many posts have the words."""
    return ["wanted_of_many" if name == "wanted" else name for name in fragments]


def queries_in(values: Mapping[str, Any]) -> list[str]:
    """The names of the values that are queries for the word index."""
    return [name for name in values if name in _WORDS or name.startswith(WORDS_PREFIX)]


def _names(database: Database, filter: BookmarkFilter) -> dict[str, dict[str, Any]]:
    """The fragments of authors and labels, each with the values of its parameters."""
    found: dict[str, dict[str, Any]] = {}
    if isinstance(filter.author, str):
        found["author"] = {"author": filter.author, "author_handle": handle_of(filter.author)}
    elif filter.author is not None:
        names = filter.author.either
        found["authors"] = {
            "author": database.text_list(names),
            "author_handle": database.text_list([handle_of(name) for name in names]),
        }
    if filter.labels is not None:
        names = filter.labels.parts if filter.all_labels else filter.labels.either
        found["labels"] = {
            "labels": database.text_list(names),
            "labels_needed": len(names) if filter.all_labels else 1,
        }
    return found


def _states(database: Database, filter: BookmarkFilter) -> list[str]:
    """The fragments of filters whose false is a condition too."""
    found = []
    if filter.unlabelled is False:
        found.append(f"EXISTS ({_LABELS})")
    if filter.has_note is not None:
        posts = database.queries("bookmarks")["posts_with_notes"]
        found.append(f"b.number {'IN' if filter.has_note else 'NOT IN'} ({posts})")
    return found
