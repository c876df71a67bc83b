"""Queries that an account sends again and again, with another cursor for each page."""

import pytest

from bowerbird.wire.repeated_queries import RepeatedQueries, without_cursor


@pytest.mark.parametrize(
    ("sent", "query", "cursor"),
    [
        (b"", b"", None),
        (b"limit=100", b"limit=100", None),
        (b"limit=100&cursor=cA_-9", b"limit=100", "cA_-9"),
        (b"cursor=cA&limit=100", b"&limit=100", "cA"),
        (b"limit=100&cursor=cA&sort_by=title", b"limit=100&sort_by=title", "cA"),
    ],
)
def test_the_cursor_is_split_from_its_query(sent: bytes, query: bytes, cursor: str | None) -> None:
    assert without_cursor(sent) == (query, cursor)


@pytest.mark.parametrize(
    "sent",
    [
        b"cursor=cA&cursor=cB",
        b"limit=1&cursor=cA&limit=2&cursor=cB",
        b"cursor=&cursor=cA",
        b"%63ursor=cA&cursor=cB",
        b"sort_cursor=4&limit=100",
        b"limit=100&cursor=c%41",
        b"limit=100&cursor=c+A",
        b"limit=100&x=" + b"x" * 300,
    ],
)
def test_a_query_that_needs_to_be_read_first_is_not_split(sent: bytes) -> None:
    assert without_cursor(sent) is None


def test_an_account_displaces_only_its_own_queries() -> None:
    repeated: RepeatedQueries[str] = RepeatedQueries()
    repeated.put(1, b"limit=100", "a page of 100")

    for number in range(1_000):
        repeated.put(2, b"limit=%d" % number, "another page")

    assert repeated.get(1, b"limit=100") == "a page of 100"
    assert sum(repeated.get(2, b"limit=%d" % number) is not None for number in range(1_000)) <= 4


def test_the_accounts_that_called_longest_ago_are_forgotten() -> None:
    repeated: RepeatedQueries[str] = RepeatedQueries()
    repeated.put(0, b"", "first")

    for account_id in range(1, 2_000):
        repeated.put(account_id, b"", "later")
        repeated.get(0, b"")

    kept = [number for number in range(2_000) if repeated.get(number, b"") is not None]
    assert kept[0] == 0
    assert len(kept) <= 512
