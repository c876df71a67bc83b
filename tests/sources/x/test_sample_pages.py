"""Real pages, if a folder of them exists: BOWERBIRD_X_SAMPLES, or `../shared/samples`."""

import os
from pathlib import Path

import msgspec
import pytest

from bowerbird.sources import own_json
from bowerbird.sources.found import FoundPost
from bowerbird.sources.x import graphql
from bowerbird.sources.x.pages import Operation, PageRequest

_ROOT = Path(__file__).parents[3]
_FOLDER = Path(os.environ.get("BOWERBIRD_X_SAMPLES", _ROOT.parent / "shared" / "samples"))
# 2027: after every page.
_NOW = 1_800_000_000_000_000


@pytest.mark.skipif(not _FOLDER.is_dir(), reason="no folder of sample pages")
def test_every_post_of_the_samples_is_complete() -> None:
    texts = []
    for file in sorted(_FOLDER.glob("*.json")):
        operation = Operation.FOLDER if "folder" in file.name else Operation.BOOKMARKS
        page = graphql.read_page(PageRequest(operation=operation), file.read_bytes(), _NOW)
        assert page.errors == (), file
        for found in page.posts:
            assert isinstance(found, FoundPost), found
            record = found.record
            own_json.read(msgspec.json.encode(record))
            details = record.tweet_details
            assert record.author_id
            assert record.author_username
            assert record.author_details.profile_image
            assert details.posted_at
            assert record.bookmarked_at
            texts += [details.text, (details.quoted_tweet or {}).get("text", "")]
    assert not [text for text in texts if "//t.co/" in text]
