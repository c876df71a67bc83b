"""X changes its answers without notice: what cannot be read is never taken for deleted or empty."""

import json
from typing import Any

import pytest

from bowerbird.sources.found import LeftOut, Reason
from bowerbird.sources.x import graphql
from bowerbird.sources.x.pages import Operation, Page
from tests.sources.x.pages import (
    HEADS,
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
    terminated,
    tweet,
)

TOMBSTONE = {"__typename": "TweetTombstone", "tombstone": {"text": {"text": "Deleted."}}}
# Each is a change of names that X could make: (old, new) pairs.
CHANGES: dict[str, list[tuple[str, str]]] = {
    "tweet_results": [("tweet_results", "post_results")],
    "result": [("result", "post")],
    "itemContent": [("itemContent", "item_content")],
    "content": [("content", "body")],
    "legacy": [("legacy", "details")],
    "legacy and core": [("legacy", "details"), ("core", "base")],
    "full_text": [("full_text", "text")],
    "entries": [("entries", "items")],
    "instructions": [("instructions", "commands")],
    "timeline": [("timeline", "list")],
    "top level": [("bookmark_timeline_v2", "saved"), ("bookmark_collection_timeline", "folder")],
    "data": [("data", "answer")],
    "every name of a post": [
        ("tweet-", "post-"), ("TimelineTweet", "TimelinePost"), ("tweet_results", "post_results"),
    ],
    "names of entries and items": [("tweet-", "post-"), ("itemContent", "item_content")],
    "kind of instruction": [("TimelineAddEntries", "TimelineInsertEntries")],
}  # fmt: skip


def ids(count: int) -> list[str]:
    return [str(2_094_000_000_000_000_001 + number) for number in range(count)]


def listed(*results: Any) -> list[Json]:
    return [
        entry(result, SORT_INDEX - place, number)
        for place, (number, result) in enumerate(zip(ids(len(results)), results, strict=True))
    ]


def shown(count: int) -> list[Json]:
    return [tweet(number) for number in ids(count)]


def renamed(page: Any, change: list[tuple[str, str]]) -> Any:
    text = json.dumps(page)
    for old, new in change:
        text = text.replace(f'"{old}', f'"{new}')
    return json.loads(text)


def reasons(page: Page) -> list[Reason]:
    return [one.reason for one in page.posts if isinstance(one, LeftOut)]


def assert_says_nothing(page: Page) -> None:
    assert page.is_unknown_form
    assert page.errors
    assert not page.proves_end
    assert Reason.UNAVAILABLE not in reasons(page)
    assert found_ids(page) == []


@pytest.mark.parametrize("operation", HEADS)
@pytest.mark.parametrize(
    ("change", "count"),
    # One post without a text is only a post without a text.
    [(one, n) for one in CHANGES for n in (1, 3, 20) if (one, n) != ("full_text", 1)],
)
def test_a_page_in_an_unknown_form_says_nothing_about_its_posts(
    change: str, operation: Operation, count: int
) -> None:
    for ending in ([], [cursor()], [cursor(stopOnEmptyResponse=True)]):
        for last in ([], [terminated()]):
            entries = add_entries(*listed(*shown(count)), *ending)
            page = document(entries, *last, head=HEADS[operation])
            assert found_ids(read(page, operation)) == ids(count)

            assert_says_nothing(read(renamed(page, CHANGES[change]), operation))


@pytest.mark.parametrize("operation", [Operation.POST_PAGE, Operation.POST])
@pytest.mark.parametrize("change", ["tweet_results", "tweetResult", "result", "legacy", "data"])
def test_the_page_of_a_post_in_an_unknown_form_does_not_say_that_it_is_gone(
    operation: Operation, change: str
) -> None:
    instructions = [add_entries(*listed(*shown(1)))]
    page: Json = {
        "data": {"threaded_conversation_with_injections_v2": {"instructions": instructions}}
    }
    if operation is Operation.POST:
        page = {"data": {"tweetResult": {"result": tweet(ids(1)[0])}}}
    changed = renamed(page, [(change, f"new_{change}")])
    if changed == page:
        return

    assert_says_nothing(read(changed, operation, post_id=ids(1)[0]))


def test_an_unknown_form_with_errors_of_x_is_what_x_says() -> None:
    page = read({"errors": [{"message": "Timeout"}], "data": {}})

    assert page.errors == ("X reports an error: Timeout.",)
    assert not page.is_unknown_form


@pytest.mark.parametrize(
    ("results", "is_unknown"),
    [
        ([None] * 11 + shown(20)[11:], True),
        ([None] * 10 + shown(20)[10:], False),
        ([{}] * 3, True),
        ([None, None], False),
        ([None], False),
        # X says of these that they are not available.
        ([TOMBSTONE] * 20, False),
        ([TOMBSTONE] * 19 + [None], False),
        ([TOMBSTONE] * 17 + [None] * 3, True),
        ([{"__typename": "TweetUnavailable"}] * 5, False),
        ([{"__typename": "TweetWithheld"}, *shown(20)[1:]], False),
        ([{"__typename": "TweetWithheld"}], True),
    ],
)
def test_a_page_is_unknown_if_most_of_its_posts_have_no_content_and_x_says_nothing_of_them(
    results: list[Any], *, is_unknown: bool
) -> None:
    page = read(page_of(*listed(*results)))

    assert page.is_unknown_form == is_unknown
    assert bool(page.errors) == is_unknown
    numbered = zip(ids(20), results, strict=False)
    assert found_ids(page) == [number for number, one in numbered if one and "legacy" in one]
    gone = [one and one["__typename"] in ("TweetTombstone", "TweetUnavailable") for one in results]
    empty = 0 if is_unknown else sum(not one for one in results)
    assert reasons(page).count(Reason.UNAVAILABLE) == gone.count(True) + empty


def test_every_post_of_an_unknown_page_keeps_its_id_and_place() -> None:
    page = read(page_of(*listed(*[None] * 4)))

    found = [(one.post_id, one.sort_index) for one in page.posts if isinstance(one, LeftOut)]
    assert found == [(number, SORT_INDEX - place) for place, number in enumerate(ids(4))]


def test_one_post_in_an_unknown_form_is_not_a_deleted_one() -> None:
    page = read(page_of(*listed({"__typename": "Tweet", "details": {}}, *shown(3)[1:])))

    assert reasons(page) == [Reason.INVALID]
    assert not page.is_unknown_form


@pytest.mark.parametrize(
    "bottom",
    [
        {**cursor(), "entryId": "pointer-1", "content": {"kind": "Bottom", "value": "c"}},
        {**cursor(kind="Down"), "entryId": "cursor-1"},
        {**cursor(), "content": {"cursorType": "Bottom", "cursor": "c"}},
    ],
)
def test_a_cursor_in_an_unknown_form_does_not_prove_the_end(bottom: Json) -> None:
    page = read(document(add_entries(*listed(*shown(3)), bottom)))

    assert found_ids(page) == ids(3)
    assert not page.proves_end


def test_an_unknown_instruction_with_content_hides_posts_even_at_the_end() -> None:
    unknown = {"type": "TimelineAddPosts", "posts": listed(*shown(2))}

    page = read(document(add_entries(*listed(*shown(3))), unknown, terminated()))

    assert found_ids(page) == ids(3)
    assert (bool(page.errors), page.proves_end) == (True, False)


def test_other_things_of_x_in_an_empty_list_are_no_unknown_form() -> None:
    prompt = {
        "entryId": "messageprompt-1",
        "content": {"itemContent": {"itemType": "TimelineMessagePrompt", "content": {}}},
    }

    page = read(document(add_entries(prompt), terminated()))

    assert (page.errors, page.proves_end, page.is_unknown_form) == ((), True, False)


def test_a_new_kind_of_entry_between_posts_changes_nothing() -> None:
    new = {"entryId": "new-1", "content": {"itemContent": {"itemType": "TimelineNew"}}}

    page = read(page_of(*listed(*shown(3)), new))

    assert (found_ids(page), page.errors) == (ids(3), ())


@pytest.mark.parametrize("old", ["id", "name", "items", "viewer"])
def test_folders_in_an_unknown_form_are_an_error(old: str) -> None:
    items = [{"id": "7", "name": "Birds"}, {"id": "8", "name": "Owls"}]
    page = {"data": {"viewer": {"bookmark_collections_slice": {"items": items}}}}

    found = graphql.read_folders(json.dumps(renamed(page, [(old, f"new_{old}")])).encode())

    assert found.is_unknown_form
    assert found.errors


def test_an_entry_of_a_module_is_read_as_before() -> None:
    items = [{"entryId": f"m-tweet-{n}", "item": {"itemContent": item(tweet(n))}} for n in ids(3)]
    module = {"entryId": "m", "sortIndex": "5", "content": {"items": items}}

    assert found_ids(read(page_of(module))) == ids(3)
    assert_says_nothing(read(page_of({**module, "content": {"parts": items}})))
