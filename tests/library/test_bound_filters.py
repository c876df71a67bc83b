"""Lists go on while nodes are replaced: releases read each other's cursors."""

import msgspec
import pytest

from bowerbird.library.bookmarks import cursors
from bowerbird.library.bookmarks.cursors import Keyset, forms
from bowerbird.library.bookmarks.list_request import bound_query, read_list
from bowerbird.requests.bookmarks import ListQuery
from bowerbird.requests.filters import filter_of

PLAIN = ListQuery()
BY_AUTHOR = ListQuery(author="ada,bob", sort_by="title")
LABELLED = ListQuery(tag="a,b", is_unread_only="false")
DATED = ListQuery(posted_from="2024-01-01", media_type="gif")

# Written by the code of each release, for account 7: 0.2.0 (and 0.3.0, 0.4.0), 0.5.0 and 0.6.0.
RELEASED = [
    (PLAIN, ["cA1OvtaSZ7JSToWsBAg", "cfF0V1qbldEiToWsBAg", "csa9sWxSyGYeToWsBAg"]),
    (
        BY_AUTHOR,
        [
            "cU3j5lJgzihKToWulYmlyZHMC",
            "cP5fN0WxczSGToWulYmlyZHMC",
            "c3TOaqVFTJcqToWulYmlyZHMC",
        ],
    ),
    (LABELLED, ["clQi0XF3l5V2ToWsBAg", "cbQMctua-kV2ToWsBAg", "cyYJ_NZhjVf6ToWsBAg"]),
    (DATED, ["cIDQnt-D-lluToWsBAg", "cSnE2W_jTbJCToWsBAg", "cvG_Atz79BrqToWsBAg"]),
]


def bound(query: ListQuery, cursor: str | None = None) -> bytes:
    filter = filter_of(query, 0)
    request = read_list(msgspec.structs.replace(query, cursor=cursor), filter)
    return bound_query(7, request, forms(filter, query))


@pytest.mark.parametrize(("query", "released"), RELEASED)
def test_a_cursor_of_an_earlier_release_is_read_and_the_next_one_is_like_it(
    query: ListQuery, released: list[str]
) -> None:
    for cursor in released:
        query_of_it = bound(query, cursor)
        end = cursors.read(cursor, query_of_it)

        assert isinstance(end, Keyset)
        assert cursors.write(end, query_of_it) == cursor


@pytest.mark.parametrize(("query", "released"), RELEASED)
def test_a_new_cursor_is_one_that_0_2_0_reads(query: ListQuery, released: list[str]) -> None:
    end = cursors.read(released[0], bound(query, released[0]))

    assert cursors.write(end, bound(query)) == released[0]


# Written by the code of 0.6.0, for account 7.
WORDS = [
    (ListQuery(q="author:ada"), "ckxpYYwISJl6ToWsBAg"),
    (ListQuery(q="birds"), "cX2SFmA50dd6ToWsBAg"),
    (ListQuery(q='birds -red (nest* OR "blue cap") author:ada'), "cLBqiO-t3kqWToWsBAg"),
    (ListQuery(q="machinelearning C++ example.com"), "cgFshovJnGI2ToWsBAg"),
    (ListQuery(q="url:example.com title:nests"), "co8zkj8YBWa-ToWsBAg"),
    (ListQuery(q="birds", author="ada"), "cl2CDmHLLbzSToWsBAg"),
    (ListQuery(linked_site="example.com"), "cW5cJ4OoBaSCToWsBAg"),
    (ListQuery(vector_search_term="birds"), "czy8IPgTBF4-ToWsBAg"),
]


@pytest.mark.parametrize(("query", "cursor"), WORDS)
def test_a_search_that_0_6_0_began_goes_on_at_it_and_here(query: ListQuery, cursor: str) -> None:
    query_of_it = bound(query, cursor)

    assert cursors.write(cursors.read(cursor, query_of_it), query_of_it) == cursor


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
