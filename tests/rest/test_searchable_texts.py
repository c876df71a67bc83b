"""Everything that is in a post is found by its words, and marked where it is."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bowerbird.library.vectors.sweeps import embedding_text
from bowerbird.model.posts.bookmarks import Post
from bowerbird.model.posts.media import attached_texts
from tests.search.test_index_tokens import LONG_WORDS
from tests.support import make
from tests.support.in_turn import in_turn
from tests.support.service import Member

pytestmark = [pytest.mark.anyio, pytest.mark.both]

LINK = {
    "type": "link",
    "url": "https://www.example.org/a",
    "title": "Bowers of the satin bird",
    "description": "A field guide to ultramarine",
    "domain": "ornithology.example",
}
PICTURE = {"type": "image", "url": "https://img.example/1.jpg", "alt_text": "Heron on a jetty"}
POLL = {"type": "poll", "choices": ["Magpies", {"label": "Jackdaws", "votes": 3}]}
POST = make.post(
    text="Look",
    attachments=[LINK, PICTURE, POLL, {"type": "link", "url": "https://www.corvids.example/x"}],
    article={"title": "Essay", "preview_text": "Feathers at dawn"},
    quoted={
        "text": "Quoted",
        "author_username": "quill_pen",
        "author_details": {"name": "Quilla"},
        "attachments": [{"type": "image", "url": "u", "alt_text": "Kingfisher"}],
    },
)


@in_turn(
    ("q", "field"),
    [
        ("satin", "attachments.title"),
        ("ultramarine", "attachments.description"),
        ("ornithology.example", "attachments.domain"),
        ("corvids", "attachments.domain"),
        ("jetty", "attachments.alt_text"),
        ("magpies", "attachments.choices"),
        ("jackdaws", "attachments.choices"),
        ("kingfisher", "quoted_tweet.attachments.alt_text"),
        ("feathers", "article.preview_text"),
        ("quill_pen", "quoted_tweet.author_username"),
        ("quilla", "quoted_tweet.author_details.name"),
    ],
)
async def test_a_word_anywhere_in_a_post_finds_it(alice: Member, q: str, field: str) -> None:
    await alice.save_all([POST, make.post(post_id="5", text="Another post")])

    found = await alice.listed(q=q, highlight="true")

    assert [post["post_id"] for post in found["data"]] == [POST["post_id"]]
    assert found["data"][0]["highlight"]["field"] == field


@in_turn("word", LONG_WORDS)
async def test_a_word_of_thousands_of_letters_is_found(alice: Member, word: str) -> None:
    await alice.save(post_id="1", text=f"Look {word}")

    assert len((await alice.listed(q=f"look {word}"))["data"]) == 1


def test_the_embedded_text_has_the_texts_of_attachments() -> None:
    text = embedding_text(msgspec.convert(POST, Post))

    parts = ("satin", "ultramarine", "Heron on a jetty", "Magpies", "Jackdaws", "Kingfisher")
    assert [part for part in parts if part not in text] == []


_JSON: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "url", "title", "alt_text", "choices", "domain", "label"]),
            inner,
        )
    ),
)


@given(_JSON)
def test_attachments_may_have_any_fields(attachments: Any) -> None:
    assert all(name and text for name, text in attached_texts(attachments))
