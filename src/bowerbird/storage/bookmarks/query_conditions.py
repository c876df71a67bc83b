"""The SQL of the parts of a query that no search engine can express: fields, and what has them."""

from collections.abc import Callable, Sequence
from string import ascii_lowercase
from typing import Any, Final

from bowerbird.model import media
from bowerbird.model.instants import UNKNOWN
from bowerbird.model.words import NOTE, Condition, Either, Field, Part, Term, WordQuery
from bowerbird.storage.database import Database

_STATES: Final = {"read": "b.is_read", "unread": "NOT b.is_read", "archived": "b.is_archived"}
# A union, because neither database uses both indexes for an OR.
BY_AUTHOR: Final = (
    "SELECT a.number FROM bookmark AS a WHERE a.account_id = :account_id AND a.author_key = {}"
    " UNION SELECT a.number FROM bookmark AS a"
    " WHERE a.account_id = :account_id AND a.author_name_key = {}"
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

    def every(self, parts: Sequence[Part]) -> list[str]:
        """The conditions that a post must meet to match all parts."""
        match = self._database.match(WordQuery(tuple(parts)))
        found = []
        if match.wanted is not None:
            found.append(f"b.number IN ({self._words(match.wanted)})")
        if match.unwanted is not None:
            found.append(f"b.number NOT IN ({self._words(match.unwanted)})")
        return [*found, *map(self._one, match.rest)]

    def _one(self, part: Part) -> str:
        posts = self._posts(part)
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

    def _term(self, term: Term) -> str:
        plain = Term(term.tokens, is_prefix=term.is_prefix, forms=term.forms)
        wanted = self._database.match(WordQuery((plain,))).wanted
        assert wanted is not None
        labels = self._named(self._database.number_list(term.label_ids), "labels")
        return f"{self._words(wanted)} UNION {self._sql['posts_with_labels'].format(labels=labels)}"

    def _words(self, expression: str) -> str:
        return self._sql["posts_with_words"].format(words=self._named(expression, "words"))

    def _listed(self, condition: Condition) -> str | None:
        value = condition.value
        match condition.field:
            case Field.AUTHOR:
                return BY_AUTHOR.format(self._named(handle_of(value)), self._named(value))
            case Field.LABEL:
                return LABELLED.format(self._named(value))
            case Field.HAS if value == NOTE:
                return self._sql["posts_with_notes"]
        return None

    def _property(self, condition: Condition) -> str:
        if condition.field is Field.IS:
            return _STATES[condition.value]
        if condition.field is Field.HAS:
            return f"b.media & {self._named(media.BITS[condition.value])} <> 0"
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


def _is_listed(part: Part) -> bool:
    """Whether a statement can select the posts of a part."""
    if isinstance(part, Condition):
        is_note = part.field is Field.HAS and part.value == NOTE
        return is_note or part.field in (Field.AUTHOR, Field.LABEL)
    if isinstance(part, Either):
        return all(_is_branch_listed(branch) for branch in part.branches)
    return True


def _is_branch_listed(branch: Sequence[Part]) -> bool:
    [first, *others] = branch
    return not others and not first.is_excluded and _is_listed(first)
