"""The SQL of each filter of a bookmark list, and of the parts of a query that are no words.

A fragment is part of a statement or absent; never "(:x IS NULL OR col = :x)", which hides the
index. The fragments that differ between the databases are in their SQL files.
"""

from collections.abc import Callable, Mapping, Sequence
from string import ascii_lowercase
from typing import Any, Final

from bowerbird.model.accounts import Account
from bowerbird.model.instants import UNKNOWN, without_offset
from bowerbird.model.languages import code_of
from bowerbird.model.posts import media, networks, traits
from bowerbird.model.posts.filters import BookmarkFilter
from bowerbird.model.words import (
    ALL,
    DUPLICATE,
    GONE,
    HIGHLIGHT,
    MEDIA,
    NOTE,
    REPLY,
    STARRED,
    TRASH,
    Condition,
    Either,
    Field,
    Part,
    Term,
    WordQuery,
)
from bowerbird.storage.database import Database, place_values

_STATES: Final = {
    "read": "b.is_read",
    "unread": "NOT b.is_read",
    "archived": "b.is_archived",
    ALL: "TRUE",
    REPLY: f"b.media & {traits.REPLY} <> 0",
    # The library replaces it by a label.
    STARRED: "FALSE",
    TRASH: "FALSE",
    GONE: f"b.media & {traits.GONE} <> 0",
}
# Filters that are also states of a query.
_STATE_FILTERS: Final = {"is_gone": GONE, "is_reply": REPLY, "is_duplicate": DUPLICATE}
_LENGTH: Final = f"(b.media >> {traits.WORDS_SHIFT})"
_KINDS: Final = {**media.BITS, MEDIA: media.PICTURES}
# By an address in its text, too. Not a parameter: both databases compare it with that of an index.
_LINKED: Final = f"(b.media & {media.BITS['link']} <> 0 OR b.link_print IS NOT NULL)"
# The statements that select the posts with what a person added.
_ADDED: Final = {NOTE: "posts_with_notes", HIGHLIGHT: "posts_with_highlights"}
# A union, because neither database uses both indexes for an OR.
BY_AUTHOR: Final = (
    "SELECT a.number FROM bookmark AS a WHERE a.account_id = :account_id AND a.author_key = {}"
    " UNION SELECT a.number FROM bookmark AS a"
    " WHERE a.account_id = :account_id AND a.author_name_key = {}"
)
_WITH_ID: Final = (
    "SELECT a.number FROM bookmark AS a WHERE a.account_id = :account_id AND a.post_id = {}"
)
# The names of the parameters that are queries for the word index.
WORDS_PREFIX: Final = "part_words_"
LABELLED: Final = (
    "SELECT bl.number FROM bookmark_label AS bl"
    " JOIN label AS l ON l.account_id = bl.account_id AND l.label_id = bl.label_id"
    " WHERE bl.account_id = :account_id AND l.account_id = :account_id AND l.name_key = {}"
)


def handle_of(author: str) -> str:
    # A lone "@" is kept, because an empty handle would match posts without an author.
    return author.removeprefix("@") or author


class QueryConditions:
    """Writes conditions on `b`, a bookmark. The values of their parameters are in `values`."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._sql = database.queries("bookmarks")
        self.values: dict[str, Any] = {}

    def every(self, parts: Sequence[Part], indexed: Sequence[Part] = ()) -> list[str]:
        """The conditions that a post must meet to match all parts.

        `indexed`: parts that another condition has the word index look for.
        """
        match = self._database.match(WordQuery(tuple(parts)))
        found = []
        if match.wanted is not None:
            found.append(f"b.number IN ({self._words(match.wanted)})")
        if match.unwanted is not None:
            found.append(f"b.number NOT IN ({self._words(match.unwanted)})")
        # SQLite writes only so many words for the prefixes of a query, each time they occur.
        repeated = [
            part for part in (*indexed, *parts) if part not in match.rest and not _has_prefix(part)
        ]
        return [*found, *(self._one(part, repeated) for part in match.rest)]

    def _one(self, part: Part, repeated: Sequence[Part]) -> str:
        posts = self._term(part, repeated) if isinstance(part, Term) else self._posts(part)
        if posts is not None:
            return f"b.number {'NOT ' if part.is_excluded else ''}IN ({posts})"
        assert not isinstance(part, Term)
        if isinstance(part, Condition):
            condition = self._property(part)
        else:
            branches = [" AND ".join(self.every(branch)) for branch in part.branches]
            condition = " OR ".join(f"({branch})" for branch in branches)
        return f"NOT ({condition})" if part.is_excluded else f"({condition})"

    def _posts(self, part: Part) -> str | None:
        """A statement that selects the posts of a part; None if it is a property of each post."""
        if isinstance(part, Term):
            return self._term(part)
        if isinstance(part, Condition):
            return self._listed(part)
        # Parameters are written only if every branch can be selected.
        writers = [self._branch(branch) for branch in part.branches]
        known = [write for write in writers if write is not None]
        if len(known) < len(writers):
            return None
        return " UNION ".join(write() for write in known)

    def _branch(self, branch: Sequence[Part]) -> Callable[[], str] | None:
        match = self._database.match(WordQuery((Either((tuple(branch),)),)))
        if (wanted := match.wanted) is not None:
            return lambda: self._words(wanted)
        [first, *others] = branch
        if others or first.is_excluded or not _is_listed(first):
            return None
        return lambda: self._posts(first) or ""

    def _term(self, term: Term, repeated: Sequence[Part] = ()) -> str:
        plain = Term(term.tokens, is_prefix=term.is_prefix, forms=term.forms)
        # Few of the posts with a common word have the other words too.
        wanted = self._database.match(WordQuery((*repeated, plain))).wanted
        assert wanted is not None
        found = [self._words(wanted)]
        if term.label_ids:
            labels = self._named(term.label_ids, "labels")
            found.append(self._sql["posts_with_labels"].format(labels=labels))
        if term.post_id:
            found.append(_WITH_ID.format(self._named(term.post_id)))
        return " UNION ".join(found)

    def _words(self, expression: str) -> str:
        return self._sql["posts_with_words"].format(words=self._named(expression, "words"))

    def _listed(self, condition: Condition) -> str | None:
        value = condition.value
        match condition.field:
            case Field.AUTHOR:
                return BY_AUTHOR.format(self._named(handle_of(value)), self._named(value))
            case Field.LABEL:
                return LABELLED.format(self._named(value))
            case Field.HAS if value in _ADDED:
                return self._sql[_ADDED[value]]
            case Field.IS if value == DUPLICATE:
                return self._sql["posts_with_copies"]
        return None

    def _has_media(self, kind: str) -> str:
        return f"b.media & {self._named(_KINDS[kind])} <> 0"

    def _property(self, condition: Condition) -> str:
        if condition.field is Field.IS:
            return _STATES[condition.value]
        if condition.field is Field.HAS:
            return _LINKED if condition.value == "link" else self._has_media(condition.value)
        if condition.field is Field.LANGUAGE:
            # Not NULL for posts whose language nothing has looked for, so that NOT includes them.
            code = self._named(code_of(condition.value))
            return f"b.language = {code} AND b.language IS NOT NULL"
        if condition.field is Field.SITE:
            bits = networks.bits_of(condition.value)
            return f"b.media & {networks.BITS} = {self._named(bits)}"
        if condition.field in (Field.WORDS, Field.LIKES):
            return self._counted(condition)
        return self._dated(condition)

    def _counted(self, condition: Condition) -> str:
        if condition.field is Field.LIKES:
            return f"b.favorite_count >= {self._named(int(condition.value))}"
        least, most = condition.bounds
        # A post that nothing has looked at has an unknown length.
        found = [f"b.media & {traits.KNOWN} <> 0"]
        found += [] if least is None else [f"{_LENGTH} >= {self._named(least)}"]
        found += [] if most is None else [f"{_LENGTH} <= {self._named(most)}"]
        return " AND ".join(found)

    def _dated(self, condition: Condition) -> str:
        if condition.instant is None:
            return "FALSE"
        instant = self._named(condition.instant)
        if condition.field is Field.AFTER:
            return f"b.posted_at >= {instant}"
        return f"b.posted_at < {instant} AND b.posted_at <> {self._named(UNKNOWN)}"

    def _named(self, value: Any, kind: str = "value") -> str:
        """The name of a new parameter. Names have no digits."""
        high, low = divmod(len(self.values), len(ascii_lowercase))
        name = f"part_{kind}_{ascii_lowercase[high]}{ascii_lowercase[low]}"
        self.values[name] = value
        return f":{name}"


def _has_prefix(part: Part) -> bool:
    if isinstance(part, Either):
        return any(_has_prefix(one) for branch in part.branches for one in branch)
    return isinstance(part, Term) and (part.is_prefix or part.address.endswith("*"))


def _is_listed(part: Part) -> bool:
    """Whether a statement can select the posts of a part."""
    if isinstance(part, Condition):
        is_added = part.field is Field.HAS and part.value in _ADDED
        is_copy = part.field is Field.IS and part.value == DUPLICATE
        return is_added or is_copy or part.field in (Field.AUTHOR, Field.LABEL)
    if isinstance(part, Either):
        return all(_is_branch_listed(branch) for branch in part.branches)
    return True


def _is_branch_listed(branch: Sequence[Part]) -> bool:
    [first, *others] = branch
    return not others and not first.is_excluded and _is_listed(first)


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
    "language": "b.language = :language",
    "network_bits": f"b.media & {networks.BITS} = :network_bits",
    "unlabelled": f"NOT EXISTS ({_LABELS})",
    "posted_from": "b.posted_at > :posted_from",
    "posted_to": "b.posted_at < :posted_to AND b.posted_at <> :unknown",
    "bookmarked_from": "b.bookmarked_at > :bookmarked_from",
    "bookmarked_to": "b.bookmarked_at < :bookmarked_to",
    "updated_since": "b.updated_at >= :updated_since",
    "import_run": (
        "b.number IN (SELECT c.number FROM import_run AS r"
        " JOIN import_change AS c ON c.account_id = r.account_id AND c.run = r.number"
        " WHERE r.account_id = :account_id AND c.account_id = :account_id"
        " AND r.run_id = :import_run)"
    ),
}


_WORDS: Final = ("wanted", "unwanted")
_DATES: Final = ("posted_from", "posted_to", "bookmarked_from", "bookmarked_to", "updated_since")
# SQLite does not start with an index of the dates here: a plus sign hides the column.
FRAGMENTS.update({f"walked_{name}": FRAGMENTS[name].replace("b.", "+b.") for name in _DATES})
# A text has no plus sign on PostgreSQL, where a test reads this too.
FRAGMENTS["walked_updated_since"] = "b.updated_at || '' >= :updated_since"
_OTHER_TEXTS: Final = {
    *("author", "rare_media", "language"),
    *(f"walked_{name}" for name in _DATES),
}


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
    values: dict[str, Any] = dict(place_values(account))
    for name in fragments:
        values[name] = getattr(filter, name)
    values["unknown"] = UNKNOWN
    if filter.updated_since is not None:
        values["updated_since"] = without_offset(filter.updated_since)
    for name, more in _names(filter).items():
        fragments.append(name)
        values |= more
    fragments += _states(database, filter)
    if filter.post_ids is not None:
        fragments.append("these")
        values["post_ids"] = filter.post_ids
    conditions = QueryConditions(database)
    fragments += conditions.every(_parts(filter))
    values |= conditions.values
    if filter.words is not None:
        match = database.match(filter.words)
        # SQLite begins with the first set of posts, and those of a field are usually fewer.
        fields = [part for part in match.rest if isinstance(part, Condition)]
        fragments += conditions.every(fields)
        for name in _WORDS:
            if (text := getattr(match, name)) is not None:
                fragments.append(name)
                values[name] = text
        others = [part for part in match.rest if part not in fields]
        indexed = [part for part in filter.words.parts if part not in match.rest]
        fragments += conditions.every(others, indexed)
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


def _names(filter: BookmarkFilter) -> dict[str, dict[str, Any]]:
    """The fragments of authors, languages and labels, each with the values of its parameters."""
    found: dict[str, dict[str, Any]] = {}
    if isinstance(filter.author, str):
        found["author"] = {"author": filter.author, "author_handle": handle_of(filter.author)}
    elif filter.author is not None:
        names = filter.author.either
        found["authors"] = {"author": names, "author_handle": [handle_of(name) for name in names]}
    if filter.languages is not None and len(filter.languages) == 1:
        found["language"] = {"language": filter.languages[0]}
    elif filter.languages is not None:
        found["languages"] = {"languages": filter.languages}
    if filter.labels is not None:
        names = filter.labels.parts if filter.all_labels else filter.labels.either
        found["labels"] = {"labels": names, "labels_needed": len(names) if filter.all_labels else 1}
    return found


def _parts(filter: BookmarkFilter) -> list[Part]:
    """The filters that are fields of a query too, as parts of one."""
    parts: list[Part] = [Condition(Field.HAS, kind) for kind in filter.has or ()]
    for name, state in _STATE_FILTERS.items():
        if (is_on := getattr(filter, name)) is not None:
            parts.append(Condition(Field.IS, state, is_excluded=not is_on))
    if filter.is_thread is not None:
        parts.append(Condition(Field.HAS, "thread", is_excluded=not filter.is_thread))
    if filter.min_words is not None:
        parts.append(Condition(Field.WORDS, f"{filter.min_words}.."))
    if filter.max_words is not None:
        parts.append(Condition(Field.WORDS, f"..{filter.max_words}"))
    if filter.min_likes is not None:
        parts.append(Condition(Field.LIKES, str(filter.min_likes)))
    return [*parts, *(filter.linked.parts if filter.linked else ())]


def _states(database: Database, filter: BookmarkFilter) -> list[str]:
    """The fragments of filters whose false is a condition too."""
    found = []
    if filter.unlabelled is False:
        found.append(f"EXISTS ({_LABELS})")
    if filter.has_note is not None:
        posts = database.queries("bookmarks")["posts_with_notes"]
        found.append(f"b.number {'IN' if filter.has_note else 'NOT IN'} ({posts})")
    if filter.annotated is not None:
        kinds = ("notes", "highlights") if filter.annotated == "both" else (filter.annotated,)
        queries = database.queries("bookmarks")
        posts = " UNION ".join(queries[f"posts_with_{kind}"] for kind in kinds)
        found.append(f"b.number IN ({posts})")
    return found
