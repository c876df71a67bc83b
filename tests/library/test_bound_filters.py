"""Lists go on while nodes are replaced: a filter is only written into a cursor if it is set."""

import pytest

from bowerbird.library.bookmarks import cursors
from bowerbird.library.bookmarks.cursors import Keyset, bound_fields
from bowerbird.library.bookmarks.list_request import bound_query, read_list
from bowerbird.requests.bookmarks import ListQuery
from bowerbird.requests.filters import filter_of

PLAIN = ListQuery()
BY_AUTHOR = ListQuery(author="ada,bob", sort_by="title")
LABELLED = ListQuery(tag="a,b", is_unread_only="false")
DATED = ListQuery(posted_from="2024-01-01", media_type="gif")

# Written by the code of 0.2.0, for account 7.
RELEASED = [
    (PLAIN, "cA1OvtaSZ7JSToWsBAg"),
    (BY_AUTHOR, "cU3j5lJgzihKToWulYmlyZHMC"),
    (LABELLED, "clQi0XF3l5V2ToWsBAg"),
    (DATED, "cIDQnt-D-lluToWsBAg"),
]


def bound(query: ListQuery) -> bytes:
    filter = filter_of(query, 0)
    return bound_query(7, read_list(query, filter), bound_fields(filter, query))


@pytest.mark.parametrize(("query", "released"), RELEASED)
def test_a_new_cursor_is_one_that_0_2_0_reads(query: ListQuery, released: str) -> None:
    end = cursors.read(released, bound(query))

    assert isinstance(end, Keyset)
    assert cursors.write(end, bound(query)) == released


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (ListQuery(q="ada"), ListQuery(q="bob")),
        (ListQuery(q="ada"), ListQuery()),
        (ListQuery(linked_site="a.example"), ListQuery(linked_site="b.example")),
        (ListQuery(is_gone="true"), ListQuery(is_gone="false")),
        (ListQuery(is_gone="false"), ListQuery()),
        (ListQuery(language="de"), ListQuery()),
    ],
)
def test_lists_that_differ_have_different_cursors(one: ListQuery, other: ListQuery) -> None:
    assert bound(one) != bound(other)
