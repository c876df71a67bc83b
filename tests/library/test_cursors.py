"""Cursors: a query accepts only the cursors that it created."""

import base64
import hashlib

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bowerbird.errors import Refusal
from bowerbird.library.bookmarks import cursors
from bowerbird.library.bookmarks.cursors import Keyset, Named, Ranked
from bowerbird.model.posts.filters import Sort

numbers = st.integers(0, 2**40 - 1)
keysets = st.builds(
    Keyset,
    value=st.integers(-(2**63), 2**63 - 1)
    | st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=128),
    number=numbers,
)
rankings = st.sets(numbers, max_size=100).map(cursors.ranked)
ends = keysets | rankings
queries = st.binary(max_size=60)


@given(ends, queries)
def test_a_written_cursor_is_read_back(end: Keyset | Ranked, query: bytes) -> None:
    text = cursors.write(end, query)

    assert text[0] == "c"
    assert cursors.read(text, query) == end
    # Earlier releases wrote no letter.
    assert cursors.read(text[1:], query) == end


@given(ends, st.data())
def test_a_cursor_with_a_flipped_bit_is_refused(end: Keyset | Ranked, data: st.DataObject) -> None:
    text = cursors.write(end, b"query")
    at = data.draw(st.integers(0, len(text) - 1))
    bit = data.draw(st.integers(0, 6))
    flipped = text[:at] + chr(ord(text[at]) ^ (1 << bit)) + text[at + 1 :]

    with pytest.raises(Refusal, match="cursor: "):
        cursors.read(flipped, b"query")


@given(
    st.text(max_size=200)
    | st.text(alphabet="ABCDabcd0123-_=+/", max_size=200)
    | st.binary(max_size=80).map(lambda raw: raw.hex())
)
def test_any_other_text_is_refused(text: str) -> None:
    try:
        end = cursors.read(text, b"query")
    except Refusal as refused:
        assert refused.sentence.startswith("cursor: ")  # noqa: PT017 - both outcomes are correct
    else:
        assert text in (cursors.write(end, b"query"), cursors.write(end, b"query")[1:])


@given(st.sets(numbers, max_size=1000))
@settings(max_examples=30)
def test_a_ranked_cursor_contains_all_seen_numbers(seen: set[int]) -> None:
    assert cursors.seen(cursors.ranked(seen)) == seen


def test_a_ranked_cursor_of_an_earlier_release_does_not_say_how_wide_its_list_is() -> None:
    body = msgspec.msgpack.encode(["r", [3, 4], False])
    seal = hashlib.blake2b(body + b"query", digest_size=8).digest()
    text = "c" + base64.urlsafe_b64encode(seal + body).rstrip(b"=").decode()

    assert cursors.read(text, b"query") == Ranked([3, 4], is_relaxed=False, is_wide=None)


def test_a_cursor_can_hold_a_complete_ranked_list_of_the_largest_library() -> None:
    seen = {number * 4_000_000_000 for number in range(1000)}

    text = cursors.write(cursors.ranked(seen), b"query")

    end = cursors.read(text, b"query")
    assert isinstance(end, Ranked)
    assert cursors.seen(end) == seen


def test_a_text_longer_than_any_cursor_is_refused() -> None:
    with pytest.raises(Refusal) as refused:
        cursors.read("A" * 10_000_000, b"query")

    assert len(refused.value.sentence) < 300


def test_a_cursor_needs_no_escaping_in_a_url() -> None:
    texts = {cursors.write(Keyset("\u00ff" * n, n), b"") for n in range(100)}

    assert all(set(text) <= set(_URL_SAFE) for text in texts)


_URL_SAFE = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


@pytest.mark.parametrize(
    ("end", "sort"),
    [
        (cursors.ranked({1, 2}), Sort("title")),
        (Named("birds"), Sort("title")),
        (Keyset(7, 1), Sort("title")),
        (Keyset("birds", 1), Sort("sort_index")),
        # The seal is not secret, so anyone can write a cursor that PostgreSQL would refuse.
        (Keyset("a\x00b", 1), Sort("title")),
    ],
)
def test_a_cursor_of_another_kind_is_refused(end: Keyset | Ranked | Named, sort: Sort) -> None:
    text = cursors.write(end, b"q")

    with pytest.raises(Refusal, match="cursor: "):
        cursors.read_after(text, b"q", sort)
    if isinstance(end, Keyset):
        for kind in (Ranked, Named):
            with pytest.raises(Refusal, match="cursor: "):
                cursors.read_as(kind, text, b"q")
