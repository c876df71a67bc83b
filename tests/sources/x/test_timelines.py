"""Pages: instructions, cursors, the end of a list, and entries that are not ordinary posts."""

import json
from typing import Any

import pytest

from bowerbird.model.arrival import Completeness, OrderSource
from bowerbird.sources.found import FoundPost, LeftOut, Reason
from bowerbird.sources.x import graphql
from bowerbird.sources.x.pages import Operation, PageRequest
from tests.sources.x.pages import (
    NOW,
    POST_ID,
    SORT_INDEX,
    Json,
    add_entries,
    cursor,
    document,
    entry,
    found_ids,
    item,
    page_of,
    read,
    read_left_out,
    read_post,
    terminated,
    tweet,
)

_IDS = ["2094000000000000001", "2094000000000000002", "2094000000000000003"]


def _entries() -> list[Json]:
    return [entry(tweet(n), SORT_INDEX - place) for place, n in enumerate(_IDS)]


def test_entries_are_sorted_by_their_indexes_as_whole_numbers() -> None:
    first, second, third = _entries()

    page = read(document(add_entries(third, cursor(), first), add_entries(second)))

    assert found_ids(page) == _IDS
    assert [found.line for found in page.posts] == [1, 2, 3]


def test_an_entry_that_comes_twice_is_one_post() -> None:
    cut = {**tweet(_IDS[0], text="The"), "note_tweet": {}}

    (found,) = read(page_of(entry(cut, SORT_INDEX + 1), entry(tweet(_IDS[0])))).posts

    assert isinstance(found, FoundPost)
    assert found.completeness is Completeness.FULL


_REPLACED = {"type": "TimelineReplaceEntry", "entry_id_to_replace": "cursor-bottom-0"}
_INNER = {"itemContent": {"cursorType": "Bottom", "value": "c"}}


@pytest.mark.parametrize(
    "bottom",
    [
        add_entries(cursor("c")),
        add_entries({"entryId": "cursor-bottom-1", "content": {"value": "c"}}),
        add_entries({"entryId": "cursor-bottom-1", "content": _INNER}),
        {**_REPLACED, "entry": cursor("c")},
    ],
)
def test_the_cursor_is_found_in_each_of_its_places(bottom: Json) -> None:
    page = read(document(add_entries(*_entries(), cursor("t", "Top")), bottom))

    assert (page.cursor_out, page.proves_end) == ("c", False)
    assert len(page.posts) == 3


@pytest.mark.parametrize(
    ("instructions", "cursor_in"),
    [
        ([add_entries(*_entries())], ""),
        ([add_entries(*_entries(), cursor("same"))], "same"),
        ([add_entries(*_entries(), cursor()), terminated()], ""),
        ([add_entries(cursor()), terminated("TopAndBottom")], ""),
        ([add_entries(cursor("t", "Top"), cursor(stopOnEmptyResponse=True))], ""),
    ],
)
def test_the_end_of_a_list_is_proved(instructions: list[Json], cursor_in: str) -> None:
    assert read(document(*instructions), cursor=cursor_in).proves_end


@pytest.mark.parametrize(
    "instructions",
    [
        [add_entries(cursor())],
        [add_entries(*_entries(), cursor(stopOnEmptyResponse=True))],
        [add_entries(cursor()), terminated("Top")],
        # A page of deleted posts only.
        [add_entries(entry(None), cursor(stopOnEmptyResponse=True))],
        [add_entries(cursor(None))],
        [add_entries(5)],
        [{"type": "TimelineAddEntries", "entries": None}],
        [{"entries": None}],
        [],
    ],
)
def test_other_pages_do_not_prove_the_end(instructions: list[Json]) -> None:
    assert not read(document(*instructions)).proves_end


def test_a_search_lists_some_saved_posts_and_never_proves_the_end() -> None:
    timeline = {"timeline": {"instructions": [add_entries(*_entries())]}}
    page = {"data": {"search_by_raw_query": {"bookmarks_search_timeline": timeline}}}

    read_page = read(page, Operation.SEARCH)

    assert found_ids(read_page) == _IDS
    assert read_page.lists_saved_posts
    assert not read_page.proves_end
    for found in read_page.posts:
        assert isinstance(found, FoundPost)
        assert found.order_source is OrderSource.IMPORT
        assert not found.record.sort_index


def test_a_folder_names_its_posts() -> None:
    page = document(add_entries(*_entries()), head="bookmark_collection_timeline")
    request = PageRequest(operation=Operation.FOLDER, folder_id="77")

    found = graphql.read_page(request, json.dumps(page).encode(), NOW, "  Nests ")

    assert (found.folder_id, found.proves_end) == ("77", True)
    assert [each.record.tags for each in found.posts if isinstance(each, FoundPost)] == [
        ["Nests"]
    ] * 3


_NO_LIST = "The page has no list of posts."


@pytest.mark.parametrize(
    ("page", "error"),
    [
        ({"errors": [{"message": "Over capacity"}]}, "X reports an error: Over capacity."),
        (
            {"errors": [{"message": "Timeout."}], "data": {"bookmark_timeline_v2": {}}},
            "X reports an error: Timeout.",
        ),
        ({"data": {}}, _NO_LIST),
        ({"data": {"bookmark_timeline_v2": {"timeline": {}}}}, _NO_LIST),
        ([], _NO_LIST),
        # The answer of another list must not prove the end of this one.
        (document(add_entries(), head="bookmark_collection_timeline"), _NO_LIST),
    ],
)
def test_an_answer_without_a_list_is_an_error_and_not_an_empty_page(page: Any, error: str) -> None:
    found = read(page)

    assert found.errors == (error,)
    assert (found.posts, found.proves_end) == ((), False)


@pytest.mark.parametrize(
    ("payload", "error"),
    [
        (b"Rate limit exceeded\n", "The document is not complete, valid JSON."),
        (b"", "The document is not complete, valid JSON."),
        (b'{"data":' * 5000, "The JSON is nested too deeply."),
        (b"[" * 100_000, "The JSON is nested too deeply."),
    ],
)
def test_an_answer_that_is_not_json_is_an_error(payload: bytes, error: str) -> None:
    found = graphql.read_page(PageRequest(operation=Operation.BOOKMARKS), payload, NOW)

    assert found.errors == (error,)


def test_errors_next_to_posts_keep_the_posts_and_prove_no_end() -> None:
    found = read({**document(add_entries(*_entries())), "errors": [{"message": "Partly"}]})

    assert found_ids(found) == _IDS
    assert found.errors == ("X reports an error: Partly.",)
    assert not found.proves_end


def test_posts_in_modules_are_found() -> None:
    items = [
        {"entryId": f"bookmarks-1-tweet-{n}", "item": {"itemContent": item(tweet(n))}}
        for n in _IDS[:2]
    ]
    module = {"entryId": "bookmarks-1", "sortIndex": str(SORT_INDEX), "content": {"items": items}}
    more = {"entryId": "m-tweet-3", "item": {"itemContent": item(tweet(_IDS[2]))}}
    added = {"type": "TimelineAddToModule", "moduleItems": [more]}

    assert found_ids(read(document(add_entries(module, cursor()), added))) == _IDS


@pytest.mark.parametrize("reason", ["limitedActionResults", "tweetInterstitial"])
def test_a_post_in_a_visibility_wrapper_is_found(reason: str) -> None:
    inner = tweet()
    del inner["__typename"]

    wrapper = {"__typename": "TweetWithVisibilityResults", reason: {}, "tweet": inner}
    found = read_post(wrapper, number=POST_ID)

    assert (found.record.post_id, found.completeness) == (POST_ID, Completeness.FULL)
    assert found.record.author_username == "ada_b"


def test_a_post_of_which_x_shows_the_beginning_is_a_preview() -> None:
    found = read_post({"__typename": "TweetPreviewDisplay", "tweet": tweet()}, number=POST_ID)

    assert found.completeness is Completeness.PREVIEW


@pytest.mark.parametrize(
    ("result", "sentence", "reason"),
    [
        (None, f"Post {POST_ID} has no content.", ""),
        ({}, f"Post {POST_ID} has no content.", ""),
        (
            {"__typename": "TweetUnavailable", "reason": "Suspended"},
            f"Post {POST_ID} is not available on X: Suspended.",
            "Suspended",
        ),
        (
            {"__typename": "TweetTombstone", "tombstone": {"text": {"text": "Deleted."}}},
            f"Post {POST_ID} is not available on X: Deleted.",
            "Deleted",
        ),
    ],
)
def test_a_post_that_is_gone_keeps_its_id_and_place(
    result: Any, sentence: str, reason: str
) -> None:
    assert read_left_out(entry(result)) == LeftOut(
        line=1,
        reason=Reason.UNAVAILABLE,
        sentence=sentence,
        post_id=POST_ID,
        sort_index=SORT_INDEX,
        source_reason=reason,
    )


def test_a_tombstone_entry_is_a_post_that_is_gone() -> None:
    content = {"itemType": "TimelineTombstone", "tombstoneInfo": {"text": "From a closed account"}}

    left_out = read_left_out({"entryId": "tombstone-9", "content": {"itemContent": content}})

    assert (left_out.post_id, left_out.reason) == ("9", Reason.UNAVAILABLE)
    assert left_out.sentence == "Post 9 is not available on X: From a closed account."


def test_an_advertisement_is_left_out() -> None:
    left_out = read_left_out(entry(tweet(), promotedMetadata={"advertiser_results": {}}))

    assert (left_out.reason, left_out.post_id) == (Reason.ADVERTISEMENT, POST_ID)


def test_a_pinned_entry_is_not_saved() -> None:
    pinned = {"type": "TimelinePinEntry", "entry": entry(tweet("7"))}
    others = [{"type": "TimelineClearCache"}, {"type": "TimelineShowAlert", "usersResults": []}]

    assert found_ids(read(document(pinned, *others, add_entries(*_entries())))) == _IDS


def test_suggested_accounts_are_not_posts() -> None:
    content = {"itemContent": {"itemType": "TimelineUser", "user_results": {}}}

    assert read(page_of({"entryId": "user-5", "content": content})).posts == ()


@pytest.mark.parametrize(
    "broken",
    [
        5,
        None,
        {},
        {"entryId": "tweet-9", "content": 5},
        {"entryId": "tweet-9", "content": {"itemContent": []}},
        {"entryId": "tweet-9", "content": {"itemContent": {"tweet_results": 5}}},
        {"entryId": "tweet-9", "content": {"itemContent": {"tweet_results": {"result": "x"}}}},
        {"content": {"itemContent": item({"legacy": {"full_text": "no id"}})}},
    ],
)
def test_a_broken_entry_is_reported_and_the_others_survive(broken: Any) -> None:
    page = read(page_of(*_entries(), broken))

    assert found_ids(page) == _IDS
    (left_out,) = [each for each in page.posts if isinstance(each, LeftOut)]
    assert left_out.reason is Reason.INVALID
    assert left_out.sentence.endswith(".")


def test_a_repost_is_stored_as_the_post_itself() -> None:
    inner = tweet(text="The whole text")
    reposted = {"result": {"__typename": "TweetWithVisibilityResults", "tweet": inner}}

    found = read_post(tweet("2095000000000000000", "RT…", retweeted_status_result=reposted))

    assert (found.record.post_id, found.via_repost) == (POST_ID, "2095000000000000000")
    assert found.record.tweet_details.text == "The whole text"


def test_a_repost_of_a_post_that_is_gone_keeps_what_is_left() -> None:
    found = read_post(tweet(text="RT @b: The wh…", retweeted_status_result={}))

    assert found.record.tweet_details.text == "RT @b: The wh…"
    assert found.completeness is Completeness.PREVIEW


def test_a_post_without_any_text_field_is_a_stub() -> None:
    post = tweet()
    del post["legacy"]["full_text"]

    assert read_post(post).completeness is Completeness.STUB


def test_the_page_of_a_post_updates_posts_but_saves_none() -> None:
    reply = {
        "entryId": f"conversationthread-1-tweet-{_IDS[1]}",
        "item": {"itemContent": item(tweet(_IDS[1]))},
    }
    thread = {"entryId": "conversationthread-1", "sortIndex": "5", "content": {"items": [reply]}}
    instructions = [add_entries(entry(tweet(_IDS[0]), 9), thread, cursor())]
    page = {"data": {"threaded_conversation_with_injections_v2": {"instructions": instructions}}}

    found = read(page, Operation.POST_PAGE)

    assert found_ids(found) == _IDS[:2]
    assert not found.lists_saved_posts
    assert not found.proves_end
    assert all(not each.record.sort_index for each in found.posts if isinstance(each, FoundPost))


def test_a_single_post_is_read() -> None:
    found = read({"data": {"tweetResult": {"result": tweet()}}}, Operation.POST)
    gone = read({"data": {"tweetResult": {}}}, Operation.POST, post_id="9")
    failed = read({"errors": [{"message": "No"}]}, Operation.POST)

    assert found_ids(found) == [POST_ID]
    assert not found.lists_saved_posts
    assert [each.post_id for each in gone.posts if isinstance(each, LeftOut)] == ["9"]
    assert failed.errors == ("X reports an error: No.",)


def test_a_page_with_too_many_entries_is_an_error() -> None:
    page = read(page_of(*[{}] * 1_001))

    assert page.errors == ("The page has more than 1,000 entries.",)
    assert (page.posts, page.proves_end) == ((), False)


def test_a_text_longer_than_any_on_x_is_cut_and_a_preview() -> None:
    found = read_post(tweet(text="x" * 200_000))

    assert len(found.record.tweet_details.text) == 100_000
    assert found.completeness is Completeness.PREVIEW
