"""Where a report says that a record is."""

import pytest

from tests.support.posts.source_files import report

OWN = '{"post_id": "1", "tweet_details": {"text": "a"}}'
OTHER = '{"url": "https://x.com/ada/status/1"}'
BROKEN = '{"post_id": 7}'
STATUS = (
    '{"account": {"acct": "ada"}, "content": "a", "uri": "https://a.example/users/ada/statuses/1"}'
)
BLUESKY = '{"uri": "at://did:plc:abcdefghijklmnopqrstuvwx/app.bsky.feed.post/3kab2cde3fg2h"}'


@pytest.mark.parametrize(
    ("text", "where"),
    [
        (f"[{OWN}, {OWN}, {BROKEN}]", "Line 1: Record 3: "),
        (f'{{"bookmarks": [{OWN}, {BROKEN}]}}', "Line 1: Record 2: "),
        (f"[\n{OWN},\n{BROKEN}]", "Line 3: Record 2: "),
        (f'{{"saved": [{OTHER}, {OTHER}], "later": [{OTHER}, 7]}}', "Line 1: Record 2: "),
        (f'[{STATUS}, {{"content": "b"}}]', "Line 1: Record 2: "),
        (f'[{BLUESKY}, {{"uri": "at://b"}}]', "Line 1: Record 2: "),
        ('window.YTD.bookmark.part0 = [{"tweetId": "20"}, {}]', "Line 1: Record 2: "),
        # One record per line needs no other number.
        (f"{OWN}\n{BROKEN}\n", "Line 2: "),
    ],
    ids=[
        *("one line", "object", "lines", "two lists", "Mastodon", "Bluesky", "X archive"),
        "one per line",
    ],
)
def test_an_invalid_record_is_named_by_its_place_in_the_list(text: str, where: str) -> None:
    [left_out] = report(text).left_out

    assert left_out.sentence.startswith(where)
    assert left_out.sentence.count("Record") == where.count("Record")
