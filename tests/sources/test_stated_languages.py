"""The language that a source gives a post is kept, unless it says that there is none."""

import json

import pytest
from msgspec import UNSET

from bowerbird.model.languages import code_of
from bowerbird.sources.found import FoundPost
from bowerbird.sources.x import api2
from tests.sources.test_bluesky_json import answer, bookmark, view
from tests.sources.test_mastodon_json import status
from tests.sources.x.pages import read_post, tweet
from tests.support.posts.source_files import report


@pytest.mark.parametrize(
    ("tag", "code"),
    [
        ("en", "en"),
        ("pt-BR", "pt"),
        ("ZH_hant", "zh"),
        ("iw", "he"),
        ("in", "id"),
        ("und", ""),
        ("zxx", ""),
        ("qme", ""),
        ("english", None),
        ("e", None),
        ("", None),
        ("en-" + "x" * 40, None),
    ],
)
def test_a_tag_has_the_code_of_its_language(tag: str, code: str | None) -> None:
    assert code_of(tag) == code


def _of_x(tag: object) -> FoundPost:
    post = tweet()
    return read_post({**post, "legacy": {**post["legacy"], "lang": tag}})


def _of_x_api(tag: object) -> FoundPost:
    post = {"id": "2094000000000000000", "text": "A post.", "lang": tag}
    (found,) = api2.read_page(json.dumps({"data": [post], "meta": {}}).encode()).posts
    assert isinstance(found, FoundPost)
    return found


def _of_mastodon(tag: object) -> FoundPost:
    return report(json.dumps([status(language=tag)])).post


def _of_bluesky(tag: object) -> FoundPost:
    record = {**view()["record"], "langs": [7, "und", tag]}
    return report(answer(bookmark(view(record=record)))).post


@pytest.mark.parametrize("read", [_of_x, _of_x_api, _of_mastodon, _of_bluesky])
def test_every_network_gives_the_language_of_a_post(read: object) -> None:
    assert callable(read)
    for tag, kept in (("pt-BR", "pt-BR"), ("und", UNSET), (None, UNSET), ({}, UNSET)):
        assert read(tag).record.tweet_details.meta.language == kept
