"""A suggestion for an unknown name never has the opposite meaning."""

from itertools import product

import pytest
from msgspec import Struct

import bowerbird.app  # noqa: F401 - imports every request
from bowerbird.requests import schemas
from bowerbird.requests.bookmarks import ListQuery
from bowerbird.requests.sentences import meant
from bowerbird.toolserver.assembly import TOOLS

OPPOSITES = [
    *product(("from", "after", "since"), ("to", "before", "until")),
    ("min", "max"),
    ("add", "remove"),
    ("include", "exclude"),
    ("show", "hide"),
    ("include", "hide"),
    ("with", "without"),
    ("has", "no"),
    ("read", "unread"),
    ("archive", "unarchive"),
    ("archived", "unarchived"),
    ("labelled", "unlabelled"),
    ("pinned", "unpinned"),
    ("asc", "desc"),
    ("enable", "disable"),
]
WORDS = [*OPPOSITES, *((b, a) for a, b in OPPOSITES)]


def requests_in(kind: type[Struct]) -> set[type[Struct]]:
    here = {kind} if kind.__module__.startswith(("bowerbird.requests", "bowerbird.tool")) else set()
    return here.union(*map(requests_in, kind.__subclasses__()))


NAMES = sorted(
    {name for kind in requests_in(Struct) for name in kind.__struct_encode_fields__}
    | {name for tool in TOOLS for name in tool.arguments}
)


def opposite_names(name: str) -> set[str]:
    """The name with a word replaced by its opposite, and without a word that negates."""
    parts = name.split("_")
    found = {
        "_".join([*parts[:place], other, *parts[place + 1 :]])
        for place, part in enumerate(parts)
        for word, other in WORDS
        if part == word
    }
    return found | {f"not_{name}", f"exclude_{name}", f"without_{name}", f"no_{name}"}


def with_a_typo(name: str) -> set[str]:
    """The name with one letter missing, or two of its letters exchanged."""
    dropped = {name[:place] + name[place + 1 :] for place in range(len(name))}
    swapped = {
        name[:place] + name[place + 1] + name[place] + name[place + 2 :]
        for place in range(len(name) - 1)
    }
    return {name, *dropped, *swapped}


def test_the_names_are_those_of_every_tool_and_request() -> None:
    assert {"bookmarked_from", "is_unread_only", "max_chars", "expected_count", "from"} <= {*NAMES}
    assert len(NAMES) > 100


def test_no_suggestion_has_the_opposite_meaning() -> None:
    wrong = [
        (sent, name)
        for name in NAMES
        for opposite in opposite_names(name)
        for sent in (opposite, f"is_{opposite}", f"{opposite}_only")
        if meant(sent, [name]) == name
    ]

    assert wrong == []


def test_no_misspelt_bound_is_taken_for_the_opposite_one() -> None:
    bounds = ["posted_from", "posted_to", "bookmarked_from", "bookmarked_to"]
    ends = {"to", "before", "until"}
    wrong = []
    for what, word in product(("posted", "bookmarked"), ("before", "after", "since", "until")):
        for sent in with_a_typo(f"{what}_{word}"):
            found = meant(sent, bounds)
            if found and (found.rpartition("_")[2] in ends) is not (word in ends):
                wrong.append((sent, found))

    assert wrong == []


def test_no_two_names_that_are_accepted_are_suggested_for_their_opposites() -> None:
    taken = {name: opposite_names(name) & {*NAMES} for name in NAMES}
    assert taken["bookmarked_from"] >= {"bookmarked_to", "bookmarked_before"}

    for name, opposites in taken.items():
        assert meant(name, sorted(opposites)) is None, name


@pytest.mark.parametrize(
    ("sent", "name"),
    [
        ("bookmarkedTo", "bookmarked_to"),
        ("bookmarkedfrom", "bookmarked_from"),
        ("bokmarked_from", "bookmarked_from"),
        ("bookmarked_untill", "bookmarked_until"),
        # Before a day excludes it, and to a day includes it.
        ("posted_befor", "posted_before"),
        ("postedBefore", "posted_before"),
        ("bookmarked_aftr", "bookmarked_after"),
        ("posted_sinc", "posted_since"),
        ("is_unread", "is_unread_only"),
        ("unread_only", "is_unread_only"),
        ("hide_archive", "hide_archived"),
        ("lables", "label"),
        ("sort_oder", "sort_order"),
        ("medai_type", "media_type"),
    ],
)
def test_a_name_with_the_same_meaning_is_still_suggested(sent: str, name: str) -> None:
    assert meant(sent, list(schemas.inline(ListQuery)["properties"])) == name


@pytest.mark.parametrize("sent", ["bookmarked", "bookmarked_at", "archived_to", "x" * 500])
def test_a_name_that_could_be_either_bound_gets_no_bound(sent: str) -> None:
    assert meant(sent, ["bookmarked_from", "bookmarked_to"]) is None
