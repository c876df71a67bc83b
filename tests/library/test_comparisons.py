"""A bookmark that an upsert wrote never looks damaged, whatever its contents and length."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bowerbird.library.bookmarks.writing.bookmark_row import row_of, words_of
from bowerbird.library.upkeep.checks import Comparison
from bowerbird.model.arrival import Placement
from bowerbird.model.posts.bookmarks import tags_json
from bowerbird.sources import own_json
from bowerbird.storage.checks import StoredBookmark
from tests.support import make, writing
from tests.support.service import Member

pytestmark = pytest.mark.anyio

INSTANTS = st.integers(0, 2**52)
# Databases store everything but surrogates. Imports remove U+0000.
TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
OPEN = st.dictionaries(
    TEXTS.filter(lambda name: name not in ("type", "url", "title", "description", "width")),
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | TEXTS | st.floats(allow_nan=False),
)


def stored(text: str, more: dict[str, Any], standing: Placement, tags: list[str]) -> StoredBookmark:
    record = make.post(text=text, attachments=[{**more, "type": "photo"}], quoted={"text": text})
    incoming = own_json.read(msgspec.json.encode(record)).incoming
    row = row_of(incoming, standing, 3, words_of(incoming.record), tags_json(tags))
    del row["words"]
    return StoredBookmark(row, row.pop("word_form"), has_words=True, label_names=tags)


@given(TEXTS, OPEN, INSTANTS)
def test_an_upserted_bookmark_is_the_same(text: str, more: dict[str, Any], instant: int) -> None:
    standing = Placement(-5, instant, instant // 2, is_read=bool(instant % 2), is_archived=True)
    assert Comparison(stored(text, more, standing, ["a", "b"])).differences() == []


def test_tags_are_expected_in_the_order_of_their_folded_names() -> None:
    standing = Placement(1, 1, 1, is_read=False, is_archived=False)
    intact = stored("x", {}, standing, ["Alpha", "beta", "Gamma"])
    reordered = msgspec.structs.replace(intact, label_names=["Gamma", "beta", "Alpha"])
    assert Comparison(reordered).differences() == []
    wrong = msgspec.structs.replace(intact, columns={**intact.columns, "tags": b'["beta"]'})
    assert [finding.what for finding in Comparison(wrong).differences()] == [
        f"tags of post {intact.columns['post_id']}"
    ]


def test_a_post_with_an_invalid_id_is_reported_but_not_fixable() -> None:
    standing = Placement(1, 1, 1, is_read=False, is_archived=False)
    intact = stored("x", {}, standing, [])
    columns = {**intact.columns, "post_id": "no id"}
    comparison = Comparison(msgspec.structs.replace(intact, columns=columns))
    assert not comparison.is_fixable
    assert [finding.is_fixable for finding in comparison.differences()] == [False]


# Around the lengths at which SQLite stores the count of words in one more byte.
@pytest.mark.parametrize("words", [100, 200, 15_000, 15_999])
async def test_a_long_post_without_damage_is_not_reported(alice: Member, words: int) -> None:
    post = make.post(post_id="1")
    # A token for each word, and one for the number in it.
    text = " ".join(f"word{number % 1_000}" for number in range(words))
    post["tweet_details"]["article"] = {"title": "t", "plain_text": text}
    await alice.save_all([post])

    assert await writing.recount(alice) == []
