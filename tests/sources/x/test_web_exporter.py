"""Files of twitter-web-exporter: JSON, CSV and its database."""

import io
import json
from typing import Any

import pytest
from msgspec import UNSET

from bowerbird.model.arrival import Completeness, OrderSource
from bowerbird.sources.found import Found, FoundPost, LeftOut, Reason
from bowerbird.sources.x.web_exporter import read_csv, read_database, read_json
from tests.sources.x.pages import NOW, POST_ID, POSTED_AT, SORT_INDEX, Json, tweet

_MEDIUM = {
    "type": "video",
    "url": "https://t.co/m",
    "thumbnail": "https://images.example.com/t.jpg",
    "original": "https://video.example.com/o.mp4",
    "ext_alt_text": "A bird",
}


def exporter_row(number: str = POST_ID, **fields: Any) -> Json:
    return {
        "id": number,
        "created_at": "2026/08/30",
        "full_text": 'Two lines:\n&lt;here&gt;, "and" https://t.co/m',
        "media": [_MEDIUM],
        "screen_name": "ada_b",
        "name": "Ada B.",
        "profile_image_url": "https://images.example.com/ada_normal.jpg",
        "user_id": "4242",
        "in_reply_to": None,
        "retweeted_status": None,
        "quoted_status": "9",
        "media_tags": [],
        "favorite_count": 5,
        "retweet_count": 1,
        "bookmarked": True,
        "url": f"https://twitter.com/ada_b/status/{number}",
        **fields,
    }


def exporter_csv(*rows: Json) -> bytes:
    def cell(value: Any) -> str:
        if isinstance(value, int):
            return json.dumps(value)
        text = value if isinstance(value, str) else json.dumps(value)
        return '"' + text.replace('"', '""').replace("\n", "\\n").replace("\r", "\\r") + '"'

    lines = [",".join(rows[0]), *(",".join(map(cell, row.values())) for row in rows)]
    return b"\xef\xbb\xbf" + "".join(line + "\n" for line in lines).encode()


def _from_json(*rows: Any) -> list[Found]:
    return list(read_json(io.BytesIO(json.dumps(list(rows), indent=2).encode())))


def _from_csv(*rows: Json) -> list[Found]:
    return list(read_csv(io.BytesIO(exporter_csv(*rows))))


@pytest.mark.parametrize("read", [_from_json, _from_csv])
def test_a_record_is_read_from_both_files(read: Any) -> None:
    (found,) = read(exporter_row())

    record, details = found.record, found.record.tweet_details
    assert (record.post_id, record.author_id, record.author_username) == (POST_ID, "4242", "ada_b")
    assert record.author_details.profile_image == "https://images.example.com/ada.jpg"
    assert details.text == 'Two lines:\n<here>, "and"'
    # Not the date of the file, which is in a time zone that nobody knows.
    assert details.posted_at == POSTED_AT
    assert details.attachments == [
        {
            "type": "video",
            "url": "https://video.example.com/o.mp4",
            "preview_image": "https://images.example.com/t.jpg",
            "alt_text": "A bird",
        }
    ]
    assert details.quoted_tweet == {"post_id": "9", "link": "https://x.com/i/status/9"}
    assert details.meta.non_real_time_engagement_metrics.favorite_count == 5
    assert details.meta.tweet_reply_to_tweet_id is None
    assert found.order_source is OrderSource.FILE_POSITION


@pytest.mark.parametrize("read", [_from_json, _from_csv])
def test_the_data_of_x_in_a_record_is_preferred(read: Any) -> None:
    raw = tweet(text="From X\nitself &amp; whole", bookmark_count=3)

    (found,) = read(exporter_row(metadata=raw))

    assert found.record.tweet_details.text == "From X\nitself & whole"
    assert found.record.tweet_details.meta.non_real_time_engagement_metrics.bookmark_count == 3


@pytest.mark.parametrize("read", [_from_json, _from_csv])
def test_a_repost_is_stored_under_the_id_of_the_post(read: Any) -> None:
    (found,) = read(exporter_row(full_text="RT @bela: The beginn…", retweeted_status="9"))

    assert (found.record.post_id, found.via_repost) == ("9", POST_ID)
    assert (found.record.author_username, found.record.author_id) == ("bela", "")
    assert found.record.tweet_details.text == "The beginn…"
    assert found.completeness is Completeness.PREVIEW


@pytest.mark.parametrize("read", [_from_json, _from_csv])
def test_a_cut_text_is_a_preview(read: Any) -> None:
    (found,) = read(exporter_row(full_text="The first words… https://t.co/AbC123"))

    assert found.completeness is Completeness.PREVIEW


def test_an_id_without_a_date_takes_the_date_of_the_file() -> None:
    (found,) = _from_json(exporter_row("20", created_at="2006-03-21 21:50:14 +01:00"))

    assert isinstance(found, FoundPost)
    assert found.record.tweet_details.posted_at == "2006-03-21T20:50:14+00:00"


def test_broken_records_of_json_are_reported_and_the_others_survive() -> None:
    first, *broken, last = _from_json(
        exporter_row("1"), 5, {}, {"id": "x"}, exporter_row("2", media=5, name=7)
    )

    assert [each.record.post_id for each in (first, last) if isinstance(each, FoundPost)] == [
        "1",
        "2",
    ]
    assert [each.reason for each in broken if isinstance(each, LeftOut)] == [Reason.INVALID] * 3


def test_broken_lines_of_csv_are_reported_and_the_others_survive() -> None:
    good = exporter_csv(exporter_row("1"), exporter_row("2"))
    header, one, two = good.splitlines(keepends=True)
    data = header + one + b'"broken,\r\n' + b"\r\n" + b"7\n" + b"a,b\n" + b"\xff\xfe\n" + two

    found = list(read_csv(io.BytesIO(data)))

    posts = [each.record.post_id for each in found if isinstance(each, FoundPost)]
    broken = [each.line for each in found if isinstance(each, LeftOut)]
    assert posts == ["1", "7", "2"]
    assert broken == [3, 6, 7]


def test_a_large_cell_of_csv_is_read() -> None:
    raw = tweet(text="From X", unknown="x" * 300_000)

    (found,) = _from_csv(exporter_row(metadata=raw))

    assert isinstance(found, FoundPost)
    assert found.record.tweet_details.text == "From X"


def _capture(number: str, sort_index: Any, module: str = "BookmarksModule") -> Json:
    return {
        "id": f"{module}-{number}",
        "extension": module,
        "type": "tweet",
        "data_key": number,
        "created_at": 1_788_200_000_000,
        "sort_index": sort_index,
    }


def exporter_database_file(tweets: list[Any], captures: list[Any], **data: Any) -> bytes:
    tables = [
        {"tableName": "users", "inbound": True, "rows": []},
        {"tableName": "tweets", "inbound": True, "rows": tweets},
        {"tableName": "captures", "inbound": True, "rows": captures},
    ]
    inner = {"databaseName": "twitter-web-exporter", "tables": [], "data": tables, **data}
    return json.dumps({"formatName": "dexie", "formatVersion": 1, "data": inner}).encode()


def test_saved_posts_of_a_database_have_their_index() -> None:
    captures = [
        _capture("2094000000000000001", str(SORT_INDEX)),
        _capture("2094000000000000002", None),
        _capture("2094000000000000004", "5"),
        _capture("2094000000000000003", str(SORT_INDEX), "LikesModule"),
    ]
    tweets = [
        tweet("2094000000000000001"),
        {"$": ["key", tweet("2094000000000000002")]},
        tweet("2094000000000000003"),
        tweet("2094000000000000005", bookmarked=True),
    ]

    found = list(read_database(io.BytesIO(exporter_database_file(tweets, captures)), NOW))

    posts = [each for each in found if isinstance(each, FoundPost)]
    assert [post.record.post_id[-1] for post in posts] == ["1", "2", "5"]
    assert (posts[0].record.sort_index, posts[0].order_source) == (SORT_INDEX, OrderSource.X)
    assert (posts[1].record.sort_index, posts[1].order_source) == (UNSET, OrderSource.IMPORT)
    left_out = [each for each in found if isinstance(each, LeftOut)]
    assert [(each.post_id[-1], each.reason) for each in left_out] == [
        ("3", Reason.NOT_SAVED),
        ("4", Reason.UNAVAILABLE),
    ]
    assert left_out[1].sort_index == 5


def test_broken_rows_of_a_database_are_reported_and_the_others_survive() -> None:
    tweets = [5, {}, {"$": [1]}, tweet("7", bookmarked=True)]

    found = list(
        read_database(io.BytesIO(exporter_database_file(tweets, [5, {}, {"data_key": []}])), NOW)
    )

    assert [each.record.post_id for each in found if isinstance(each, FoundPost)] == ["7"]
    assert [each.reason for each in found if isinstance(each, LeftOut)] == [Reason.INVALID] * 3


@pytest.mark.parametrize(
    "data", [b"", b"{}", b"[]", b'{"data":5}', b'{"data":{"data":[{"tableName":"users"}]}}']
)
def test_a_file_that_is_no_database_is_reported(data: bytes) -> None:
    (left_out,) = read_database(io.BytesIO(data), NOW)

    assert isinstance(left_out, LeftOut)
    assert left_out.reason is Reason.INVALID


def test_an_incomplete_database_is_reported() -> None:
    data = exporter_database_file([tweet("7", bookmarked=True)], [])

    (left_out,) = read_database(io.BytesIO(data[:-20]), NOW)

    assert isinstance(left_out, LeftOut)
    assert left_out.sentence == "The file is not a complete export of the database."
