"""What pages call filters, orders and lists, and filters that somebody types: `from:ada`."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple
from urllib.parse import urlencode

from bowerbird.library.bookmarks.list_request import BookmarkList
from bowerbird.model import instants
from bowerbird.model.accounts import Account
from bowerbird.model.posts import media
from bowerbird.model.posts.filters import RELEVANCE
from bowerbird.model.posts.media import BITS
from bowerbird.model.words import DUPLICATE, GONE, HIGHLIGHT, NOTE, REPLY, TRASH, Condition, Field
from bowerbird.requests.bookmarks import ListQuery
from bowerbird.requests.filters import MEANING, BookmarkQuery, flags_of, readers
from bowerbird.requests.limits import RANKED_MAX
from bowerbird.search.queries import query_fields, query_language
from bowerbird.search.queries.query_pieces import Kind, Piece, pieces
from bowerbird.web.library.addresses import Address


class FilterNames(NamedTuple):
    # In the form of a Smart View.
    name: str
    # Above a list; "" if it has no chip of this name.
    chip: str = ""
    # In the form of exports, where that differs from the name.
    exported: str = ""


# Chips are in this order.
_NAMES: Final = {
    "media_type": FilterNames("Type", "type"),
    "author": FilterNames("Author", "author"),
    "tag": FilterNames("Label", "label"),
    "label": FilterNames("Labels", "labels", "Several labels, with commas"),
    "language": FilterNames("Language", "language", "Language, such as en"),
    "network": FilterNames("Network", "network"),
    "unlabelled": FilterNames("Without labels", "without a label", "Without a label"),
    "has_note": FilterNames("With a note", "with a note"),
    "has": FilterNames("With", "with", "With, such as highlight"),
    "is_gone": FilterNames("Gone", "gone from its network", "Gone from its network"),
    "is_reply": FilterNames("Replies", "a reply", "Replies only"),
    "is_thread": FilterNames("Threads", "of a thread", "Threads only"),
    "is_duplicate": FilterNames("Duplicates", "with a copy", "Duplicates only"),
    "min_words": FilterNames("Words, at least", "words, at least"),
    "max_words": FilterNames("Words, at most", "words, at most"),
    "min_likes": FilterNames("Likes, at least", "likes, at least"),
    "linked_site": FilterNames("With a link to", "with a link to"),
    "posted_from": FilterNames("Posted from", "posted after"),
    "posted_to": FilterNames("Posted until", "posted before"),
    "bookmarked_from": FilterNames("Saved from", "saved after"),
    "bookmarked_to": FilterNames("Saved until", "saved before"),
    "updated_since": FilterNames("Changed since", "changed since"),
    "q": FilterNames("Words"),
    "vector_search_term": FilterNames("Near in meaning to"),
    "label_match": FilterNames("Labels: all or any", exported="Labels needed"),
    "is_unread_only": FilterNames("Read and unread", exported="Unread posts only"),
    "hide_archived": FilterNames("Archived posts", exported="Without archived posts"),
    "is_archived_only": FilterNames("Archived only", exported="Archived posts only"),
}
# A filter without words of its own is called by its name.
NAMES: Final = {
    **_NAMES,
    **{
        name: FilterNames(name.replace("_", " ").capitalize(), name.replace("_", " "))
        for name in readers(BookmarkQuery)
        if name not in _NAMES
    },
}
CHIPS: Final = {name: words.chip for name, words in NAMES.items() if words.chip}


_NAMED: Final = {Field.AUTHOR: "author", Field.LABEL: "tag"}
_VALUES: Final = {Field.LANGUAGE: "language", Field.SITE: "network", Field.LIKES: "min_likes"}
_FLAGS: Final = {
    NOTE: "has_note",
    GONE: "is_gone",
    REPLY: "is_reply",
    DUPLICATE: "is_duplicate",
}
_MIDNIGHT: Final = "T00:00:00.000000+00:00"


def taken(text: str) -> tuple[str, dict[str, str]]:
    """The search without the fields that are filters of a list, and these filters.

    Fields that are excluded, in parentheses or beside an OR remain, and a second of the same kind.
    """
    text = query_language.straight(text)
    filters: dict[str, str] = {}
    rest, end = "", 0
    for piece, start, stop in _fields(text):
        name, value = _filter(piece)
        if value and name not in filters:
            filters[name] = value
            rest, end = rest + text[end:start], stop
    return " ".join((rest + text[end:]).split()) if filters else text, filters


def without_state(text: str) -> str:
    """The search without the states that it asks for, such as is:read."""
    rest = _without(text, lambda found: found.is_flag)
    return text if rest is None else rest


def in_trash(text: str) -> str | None:
    """The rest of a search for posts in the trash; None if it is no such search."""
    return _without(text, lambda found: (found.field, found.value) == (Field.IS, TRASH))


def _without(text: str, is_left_out: Callable[[Condition], bool]) -> str | None:
    """The search without some fields; None if it has none of them."""
    rest, end = "", 0
    for piece, start, stop in _fields(text := query_language.straight(text)):
        assert piece.field is not None
        found = query_fields.condition(piece.field, piece.text, None)
        if found is not None and is_left_out(found):
            rest, end = rest + text[end:start], stop
    return " ".join((rest + text[end:]).split()) if end else None


def state(text: str) -> str:
    """The state that a search asks for; "" if it asks for none."""
    found = (one for one in query_language.parse(text).conditions if one.is_flag)
    return next((one.value for one in found if not one.is_excluded), "")


def _fields(text: str) -> Iterator[tuple[Piece, int, int]]:
    """The fields that every post has to match, with their place in the text."""
    found, depth = list(pieces(text)), 0
    for index, piece in enumerate(found):
        depth += (piece.kind is Kind.OPEN) - (piece.kind is Kind.CLOSE)
        beside = found[max(index - 1, 0) : index + 2]
        is_either = any(each.kind is Kind.OR for each in beside)
        if piece.kind is Kind.FIELD and not (depth or piece.is_excluded or is_either):
            value = piece.written.index(":") + 1
            start = piece.span[0] - value - (piece.written[value : value + 1] == '"')
            yield piece, start, start + len(piece.written)


def _filter(piece: Piece) -> tuple[str, str]:
    """The parameter of a list and its value; "" if it has none for this field."""
    assert piece.field is not None
    found = query_fields.condition(piece.field, piece.text, None)
    name, value = "", ""
    # A list has no filter for the posts of a site and links to it, nor for a label and a hashtag.
    is_either = query_fields.address(piece.field, piece.text) or query_fields.hashtag(piece.written)
    if found is None or is_either:
        pass
    elif found.field in _VALUES:
        name, value = _VALUES[found.field], found.value
    elif found.field in _NAMED:
        name, value = _NAMED[found.field], " ".join(piece.text.split())
    elif found.field is Field.WORDS:
        name, value = _length(found)
    elif found.field in (Field.HAS, Field.IS):
        name, value = _kind(found.value)
    elif found.field is Field.AFTER:
        name, value = "posted_from", _day(found.instant, found.value, 0)
    elif found.field is Field.BEFORE:
        # The day itself is not before it.
        name, value = "posted_to", _day(found.instant, found.value, -1)
    return name, value


def _kind(value: str) -> tuple[str, str]:
    # The media type is a card of a link, without addresses in the text.
    if value in (HIGHLIGHT, "link"):
        return "has", value
    if value in media.BITS:
        return "media_type", value
    return _FLAGS.get(value, ""), "true" if value in _FLAGS else ""


def _length(condition: Condition) -> tuple[str, str]:
    """The bound of a length. One with both bounds stays in the search."""
    least, most = condition.bounds
    if least is not None and most is not None:
        return "", ""
    return ("min_words", str(least)) if least is not None else ("max_words", str(most))


def _day(instant: int | None, written: str, moved: int) -> str:
    if instant is None and instants.is_day(written):
        return instants.beside(written, moved) or ""
    if instant is None:
        # A list has no filter for last month.
        return written if instants.is_relative(written) else ""
    moment = instants.with_offset(instant)
    if not moment.endswith(_MIDNIGHT):
        return moment
    return (instants.beside(moment[:10], moved) if moved else None) or moment[:10]


def hidden_list(address: Address) -> Address:
    """The list of the posts that have the words but are read or archived.

    Not by meaning: that finds others too.
    """
    meaning = None if address.values.get("q") else address.values.get(MEANING)
    flags = {"is_unread_only": "false", "hide_archived": "false"}
    return address.changed(**flags, **{MEANING: meaning})


# A filter that no form offers, only a link.
_IMPORT: Final = "import_run"
# (sort_by, sort_order) -> name in the menu, and at the count.
_ORDERS: Final = {
    ("", ""): ("Newest saved first", "newest saved first"),
    ("sort_index", "asc"): ("Oldest saved first", "oldest saved first"),
    ("posted_at", "desc"): ("Newest posted first", "newest posted first"),
    ("posted_at", "asc"): ("Oldest posted first", "oldest posted first"),
    ("author", "asc"): ("Author, A to Z", "by author"),
    ("favorite_count", "desc"): ("Most liked first", "most liked first"),
}
BEST_FIRST: Final = "best first"
_BEST: Final = ("Best match first", BEST_FIRST)
MEDIA_TYPES: Final = tuple(BITS)
# The parameters of a list that a Smart View keeps.
SAVED: Final = (*readers(ListQuery), "sort_by", "sort_order")
_YES: Final = ("true", "1")


def is_unread_only(query: ListQuery) -> bool:
    return flags_of(query).get("is_unread_only", is_on(query.is_unread_only))


def hides_archived(query: ListQuery) -> bool:
    return flags_of(query).get("hide_archived", is_on(query.hide_archived))


def is_on(value: bool | str | None) -> bool:  # noqa: FBT001 - a value of the query
    """Whether a flag is on that was sent."""
    return value in (None, "", True) or str(value).strip().lower() in _YES


def hints(query: ListQuery) -> Sequence[str]:
    """What was not understood in the search."""
    return query_language.parse(query.q).hints if query.q else ()


def has_filters(query: ListQuery) -> bool:
    """Whether more than the two flags selects the posts."""
    return any(getattr(query, name) for name in (*CHIPS, _IMPORT, "q", MEANING))


def is_archive(query: ListQuery) -> bool:
    return bool(query.is_archived_only) and is_on(query.is_archived_only)


def state_name(query: ListQuery) -> str:
    if is_archive(query):
        return "Unread in the archive" if is_unread_only(query) else "Archive"
    if is_unread_only(query):
        return "Unread" if hides_archived(query) else "Unread, with archived"
    return "Not archived" if hides_archived(query) else "All posts"


def search_words(query: ListQuery, account: Account) -> str:
    """What the search box says: it searches the list that is shown."""
    if any(getattr(query, name) for name in (*CHIPS, _IMPORT)):
        return "Search these posts"
    unread, archive, hides = is_unread_only(query), is_archive(query), hides_archived(query)
    count = account.visible(unread_only=unread, hide_archived=hides, archived_only=archive)
    kind = f"{'unread ' if unread else ''}{'archived ' if archive else ''}"
    rest = " that are not archived" if hides and not unread else ""
    return f"Search {count:,} {kind}{'post' if count == 1 else 'posts'}{rest}"


def title(query: ListQuery) -> str:
    search = query.q or query.vector_search_term
    if search:
        return f"Search: {search}"
    return query.tag or query.author or state_name(query)


def is_cut_off(query: ListQuery, found: BookmarkList) -> bool:
    """Whether the list has as many of the best posts as a ranked list can have."""
    is_ranked = bool(query.vector_search_term) or query.sort_by == RELEVANCE or found.is_relaxed
    return is_ranked and found.total_count >= RANKED_MAX


def count_line(query: ListQuery, found: BookmarkList, name: str = "") -> str:
    """The heading of a list, such as "312 unread"."""
    total = found.total_count
    if is_cut_off(query, found):
        return f"The best {total:,} posts"
    if is_archive(query) and not has_filters(query):
        return f"{total:,} archived"
    if not total and not name:
        return "0 unread" if is_unread_only(query) and not has_filters(query) else "No posts"
    if is_unread_only(query) and not has_filters(query) and not name:
        return f"{total:,} unread"
    return f"{total:,} post" if total == 1 else f"{total:,} posts"


def order_words(query: ListQuery) -> str:
    by, order = query.sort_by or "", query.sort_order or ""
    if by == RELEVANCE or (not by and query.vector_search_term):
        return _BEST[1] if order != "asc" else "best last"
    key = ("sort_index", "asc") if order == "asc" and by in ("", "sort_index") else (by, order)
    for (sort, direction), (_, words) in _ORDERS.items():
        if key == (sort, direction) or (sort == by and not order and direction != "asc"):
            return words
    words = by.replace("_", " ") or "saved"
    return f"by {words}, {'ascending' if order == 'asc' else 'descending'}"


def order_choices() -> list[tuple[str, str]]:
    """The orders of a Smart View: the field and the direction, and what to call them."""
    listed = [(" ".join(key).strip(), text) for key, (text, _) in _ORDERS.items()]
    return [*listed, (RELEVANCE, _BEST[0])]


def orders(query: ListQuery, address: Address) -> list[dict[str, Any]]:
    """The entries of the menu that sorts a list."""
    chosen = order_words(query)
    choices = [(("", ""), _ORDERS["", ""]), *list(_ORDERS.items())[1:]]
    if query.vector_search_term:
        # Relevance is the default then, so the order by date needs its name.
        choices[0] = (("sort_index", "desc"), _ORDERS["", ""])
    if query.q or query.vector_search_term:
        choices.insert(0, ((RELEVANCE, ""), _BEST))
    return [
        {
            "text": text,
            "url": address.changed(sort_by=by, sort_order=order).url(),
            "is_chosen": words == chosen,
        }
        for (by, order), (text, words) in choices
    ]


def save_url(query: ListQuery, address: Address) -> str:
    """The page that saves a list as a Smart View, which shows read posts by default."""
    if not has_filters(query):
        return ""
    kept = [(name, value) for name, value in address.fields("limit") if name in SAVED]
    flags = [(n, v) for n, v in kept if n != "is_unread_only"]
    unread = [("is_unread_only", "true")] if is_unread_only(query) else []
    return f"/views/new?{urlencode([*flags, *unread])}"


def without_vector(count: int) -> str:
    """About posts that only a search by words finds, "" if there are none."""
    if not count:
        return ""
    posts, them = ("1 post", "it") if count == 1 else (f"{count:,} posts", "them")
    return f"Search by meaning cannot find {posts} yet. Search by words finds {them}."


def meaning_state(count: int | None) -> dict[str, Any]:
    """The sentence of `without_vector` for the script that updates it until no post is missing.

    None while there are no vectors at all: nothing can be said then.
    """
    if count is None:
        return {"mark": "open", "jobs": []}
    text = without_vector(count) or "Search by meaning finds all your posts now."
    job = {"id": "meaning", "done": 0, "total": count, "text": text}
    return {"mark": "open" if count else "ready", "jobs": [job]}
