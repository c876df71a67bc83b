"""A bookmark that the intake wrote never looks damaged, whatever was in it."""

from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from bowerbird.library.bookmarks.bookmark_row import row_of, words_of
from bowerbird.library.upkeep.comparisons import Reading
from bowerbird.model.rendering import tags_json
from bowerbird.model.upsert import Placement
from bowerbird.sources import own_json
from bowerbird.storage.checks import StoredBookmark
from tests.support import make

INSTANTS = st.integers(0, 2**52)
# What databases hold: everything but surrogates, and U+0000, which the reader leaves out.
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
    return StoredBookmark(row, has_words=True, label_names=tags)


@given(TEXTS, OPEN, INSTANTS)
def test_what_was_written_is_as_it_must_be(text: str, more: dict[str, Any], instant: int) -> None:
    standing = Placement(-5, instant, instant // 2, is_read=bool(instant % 2), is_archived=True)
    assert Reading(stored(text, more, standing, ["a", "b"])).differences() == []


def test_tags_stand_in_the_order_of_their_folded_names() -> None:
    standing = Placement(1, 1, 1, is_read=False, is_archived=False)
    well = stored("x", {}, standing, ["Alpha", "beta", "Gamma"])
    turned = msgspec.structs.replace(well, label_names=["Gamma", "beta", "Alpha"])
    assert Reading(turned).differences() == []
    wrong = msgspec.structs.replace(well, columns={**well.columns, "tags": b'["beta"]'})
    assert [finding.what for finding in Reading(wrong).differences()] == [
        f"tags of post {well.columns['post_id']}"
    ]


def test_a_post_without_a_usable_id_is_told_and_not_mended() -> None:
    standing = Placement(1, 1, 1, is_read=False, is_archived=False)
    well = stored("x", {}, standing, [])
    columns = {**well.columns, "post_id": "no id"}
    reading = Reading(msgspec.structs.replace(well, columns=columns))
    assert not reading.is_mendable
    assert [finding.is_mendable for finding in reading.differences()] == [False]
