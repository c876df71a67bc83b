"""Files of X's pages: which of them are recognised, and what is read from them."""

import base64
import io
import json
import tracemalloc
from typing import Any

import pytest
from msgspec import UNSET

from bowerbird.model.arrival import OrderSource
from bowerbird.sources.found import Choices, FoundPost
from bowerbird.sources.reading import read
from tests.sources.x.pages import (
    HEADS,
    NOW,
    SORT_INDEX,
    Json,
    add_entries,
    document,
    entry,
    page_of,
    tweet,
)
from tests.sources.x.test_web_exporter import exporter_csv, exporter_database_file, exporter_row
from tests.support.posts.source_files import report

_GRAPHQL = "https://x.com/i/api/graphql/abc"


def _page(*numbers: str, sort_index: int = SORT_INDEX) -> Json:
    return page_of(*(entry(tweet(number), sort_index) for number in numbers))


@pytest.mark.parametrize("indent", [None, 2])
def test_a_saved_page_of_bookmarks_is_read(indent: int | None) -> None:
    found = report(json.dumps(_page("7"), indent=indent))

    assert found.name == "saved pages of X's bookmarks"
    assert found.ids == ["7"]
    assert found.post.order_source is OrderSource.X
    assert found.post.record.sort_index == SORT_INDEX


@pytest.mark.parametrize("together", ["%s\n%s", "[%s,%s]", "[\n%s\n,\n%s\n]\n", "%s%s"])
def test_several_saved_pages_in_one_file_are_read_in_order(together: str) -> None:
    first, second = json.dumps(_page("7", "8")), json.dumps(_page("9"), indent=1)
    found = report(together % (first, second))

    assert found.ids == ["8", "7", "9"]
    assert [post.line for post in found.posts] == [1, 2, 3]


_NAMELESS = (
    "The file has a page of a bookmark folder, which does not say the name of the folder. Its "
    "posts get no label; --label NAME adds one."
)


def test_pages_of_folders_and_searches_are_recognised() -> None:
    folder = document(add_entries(entry(tweet("7"))), head="bookmark_collection_timeline")
    timeline = document(add_entries(entry(tweet("8"))))["data"]["bookmark_timeline_v2"]
    search = {"data": {"search_by_raw_query": {"bookmarks_search_timeline": timeline}}}

    read = report(json.dumps(folder))
    assert (read.ids, read.notices) == (["7"], [_NAMELESS])
    assert report(json.dumps([folder, folder])).notices == [_NAMELESS]
    assert report(json.dumps(search)).notices == []
    assert report(json.dumps(search)).ids == ["8"]
    assert report(json.dumps([folder, search])).ids == ["7", "8"]


def test_a_date_of_saving_after_the_import_is_not_one() -> None:
    raw = json.dumps(_page("7")).encode()
    (found,) = read(io.BytesIO(raw), Choices(now=NOW - 10**12)).found

    assert isinstance(found, FoundPost)
    assert found.order_source is OrderSource.FILE_POSITION


def test_a_cut_page_is_reported_and_those_before_it_are_read() -> None:
    found = report(json.dumps(_page("7")) + json.dumps(_page("8"))[:-9])

    assert found.ids == ["7"]
    assert found.reasons == {"invalid": 1}


def test_an_answer_with_only_an_error_is_reported() -> None:
    error = {"errors": [{"message": "Rate limit"}], "data": {"bookmark_timeline_v2": {}}}

    assert report(json.dumps(error)).left_out[0].sentence == (
        "Line 1: X reports an error: Rate limit."
    )


def _recorded(url: str, answer: Any, *, is_base64: bool = False) -> Json:
    text = json.dumps(answer)
    content = {"text": base64.b64encode(text.encode()).decode(), "encoding": "base64"}
    return {
        "request": {"url": url, "headers": [{"name": "cookie", "value": "secret"}]},
        "response": {"content": content if is_base64 else {"text": text}},
    }


def test_a_recording_of_a_browser_is_read_with_the_names_of_folders() -> None:
    folders = {"items": [{"id": "5", "name": "Birds"}]}
    viewer = {"user_results": {"result": {"bookmark_collections_slice": folders}}}
    head = HEADS[next(key for key in HEADS if "Folder" in key)]
    folder_url = f'{_GRAPHQL}/BookmarkFolderTimeline?variables={{"bookmark_collection_id":"5"}}'
    entries = [
        _recorded("https://x.com/home", {"other": 1}),
        _recorded(f"{_GRAPHQL}/BookmarkFoldersSlice", {"data": {"viewer": viewer}}),
        _recorded(f"{_GRAPHQL}/Bookmarks", _page("7"), is_base64=True),
        _recorded(folder_url, document(add_entries(entry(tweet("8"))), head=head)),
        _recorded("https://evil.example.com/i/api/graphql/a/Bookmarks", _page("9")),
    ]
    found = report(json.dumps({"log": {"version": "1.2", "entries": entries}}))

    assert found.name == "recording of a browser (HAR)"
    assert found.ids == ["7", "8"]
    assert found.posts[1].record.tags == ["Birds"]


def test_the_names_of_folders_may_be_recorded_after_their_pages() -> None:
    folders = {"items": [{"id": "5", "name": "Birds"}]}
    viewer = {"user_results": {"result": {"bookmark_collections_slice": folders}}}
    head = HEADS[next(key for key in HEADS if "Folder" in key)]
    url = f"{_GRAPHQL}/BookmarkFolderTimeline?variables="
    entries = [
        _recorded(
            f'{url}{{"bookmark_collection_id":"{folder}"}}',
            document(add_entries(entry(tweet(post_id))), head=head),
        )
        for folder, post_id in (("5", "7"), ("6", "8"), ("6", "9"))
    ]
    listed = _recorded(f"{_GRAPHQL}/BookmarkFoldersSlice", {"data": {"viewer": viewer}})

    found = report(json.dumps({"log": {"version": "1.2", "entries": [*entries, listed]}}))
    named = report(json.dumps({"log": {"version": "1.2", "entries": [entries[0], listed]}}))

    assert [post.record.tags for post in found.posts] == [["Birds"], UNSET, UNSET]
    assert (found.notices, named.notices) == ([_NAMELESS], [])


def test_pages_of_the_api_are_read_in_their_order() -> None:
    def page(number: str) -> Json:
        post = {"id": number, "text": "A post.", "author_id": "4", "edit_history_tweet_ids": []}
        user = {"id": "4", "username": "ada_b", "name": "Ada"}
        return {"data": [post], "includes": {"users": [user]}, "meta": {"result_count": 1}}

    found = report(json.dumps(page("8")) + "\n" + json.dumps(page("7"), indent=2))

    assert found.name == "pages of X's API"
    assert found.ids == ["8", "7"]
    assert [post.record.author_username for post in found.posts] == ["ada_b", "ada_b"]
    assert [post.line for post in found.posts] == [1, 2]


def test_the_files_of_twitter_web_exporter_are_recognised() -> None:
    captures = [{"extension": "BookmarksModule", "data_key": "7", "sort_index": str(SORT_INDEX)}]
    files = {
        "JSON": json.dumps([exporter_row("7")], indent=2).encode(),
        "CSV": exporter_csv(exporter_row("7")),
        "database": exporter_database_file([tweet("7")], captures),
    }

    for kind, data in files.items():
        found = report(data)
        assert (found.name, found.ids) == (f"twitter-web-exporter {kind}", ["7"])
        assert found.left_out == []


def test_the_tables_of_a_database_may_come_before_their_names() -> None:
    table = {"rows": [tweet("7", bookmarked=True)], "tableName": "tweets"}
    database = {"formatName": "dexie", "formatVersion": 1, "data": {"data": [table]}}

    assert report(json.dumps(database)).ids == ["7"]


def test_a_large_database_is_read_in_little_memory() -> None:
    tweets = [tweet(str(number), text="x" * 20_000, bookmarked=True) for number in range(1, 801)]
    file = io.BytesIO(exporter_database_file(tweets, []))
    del tweets
    size = len(file.getbuffer())

    tracemalloc.start()
    count = sum(isinstance(found, FoundPost) for found in read(file).found)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert count == 800
    assert peak < size / 2
